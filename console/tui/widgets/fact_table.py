"""Owns the list of what a node told of itself: each fact with what it is of, its value, and what was declared."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from console.tui.drawing import BRIGHT, MUTED, TEXT, Line, Piece, Row, clip, sign, value_tone, width_of
from console.tui.filtering import EVERYTHING, Filter
from console.tui.quantities import expected
from console.tui.scales import Scale
from console.tui.widgets.listing import Listing
from console.view import NodeView, State, state_of
from console.wording import fact_value, plain
from probes.judging.verdict import Kind, Verdict
from probes.judging.yardsticks.hardware import words
from probes.model import Fact

COLUMNS: Mapping[str, Scale | None] = {"fact": None, "of": None, "value": None, "state": None}
"""What a filter may name."""

_LOW = 22


@dataclass(frozen=True, slots=True)
class FactRow:
    """One fact as text; ``verdict`` where something was declared for it."""

    fact: str
    of: str
    value: str
    verdict: Verdict | None = None

    @property
    def state(self) -> State | None:
        """How it was judged."""
        return None if self.verdict is None else state_of(self.verdict)

    @property
    def is_fault(self) -> bool:
        """Whether something was declared, and this is not it."""
        return self.state not in (None, State.PASS)

    def words(self, column: str) -> str:
        """The text of a column."""
        if column == "state":
            return self.state.value if self.state is not None else ""
        return {"fact": self.fact, "of": self.of, "value": self.value}[column]

    def number(self, column: str) -> float | None:
        """Facts of one column are of many units: none can be compared."""
        return None

    @property
    def everything(self) -> str:
        """All its text, lower case."""
        return f"{self.fact} {self.of} {self.value}".lower()


def fact_rows(node: NodeView) -> list[FactRow]:
    """What the last answer of each probe told, in its order. StoreError where that cannot be read."""
    last = {result.test.probe: result.facts for result in node.results if result.facts}
    judged = {each.metric: each for each in node.verdicts if each.kind is Kind.HARDWARE}
    return [
        FactRow(plain(fact.fact), _of(fact), fact_value(fact), _judged(fact, judged))
        for facts in last.values()
        for fact in facts
    ]


def _judged(fact: Fact, judged: Mapping[str, Verdict]) -> Verdict | None:
    """The verdict on the fact of this name, where it speaks of this value: of several ports only one may be judged."""
    found = judged.get(fact.fact)
    return found if found is not None and words(fact.fact, fact.value) in found.text.split(", ") else None


def _of(fact: Fact) -> str:
    return plain(" ".join(value for _, value in fact.labels))


class FactTable(Listing):
    """Rows that pass the filter."""

    def __init__(self) -> None:
        super().__init__()
        self.facts: Sequence[FactRow] = ()
        self.kept: Sequence[FactRow] = ()
        self.filter: Filter = EVERYTHING
        self.nothing = ""

    def show(self, rows: Iterable[FactRow], nothing: str) -> None:
        """Take ``rows``; ``nothing`` says why there are none."""
        self.facts, self.nothing = tuple(rows), nothing
        self.sift()

    def sift(self) -> None:
        """Apply the filter anew."""
        self.kept = [row for row in self.facts if self.filter.keeps(row)]
        self.redraw()

    @property
    def count(self) -> int:
        """Rows that pass the filter."""
        return len(self.kept)

    def empty(self, width: int) -> list[Row]:
        """Why nothing is shown."""
        why = self.nothing if not self.facts else "no fact passes the filter"
        return [Line(width).to(1).put(clip(why, width - 2), MUTED).row()]

    def heading(self, width: int) -> list[Row]:
        """The columns."""
        of, value = self._places(width)
        line = Line(width).to(3).put("fact", MUTED).to(of).put("of", MUTED).to(value).put("value", MUTED)
        return [line.row()]

    def row(self, index: int, width: int) -> Row:
        """One fact; where something else was declared, that stands behind the value."""
        each = self.kept[index]
        of, value = self._places(width)
        line = Line(width).to(1)
        if each.state is not None:
            line.extend((sign(each.state),))
        line.to(3).put(clip(each.fact, of - 4), BRIGHT).to(of).put(clip(each.of, value - of - 1), TEXT).to(value)
        declared = "" if each.verdict is None or each.state is State.PASS else f"   declared {expected(each.verdict)}"
        value_words = clip(each.value, max(line.room - width_of(declared) - 1, 8))
        tone = TEXT if each.state is None else value_tone(each.state)
        return line.extend((Piece(value_words, tone), Piece(declared, MUTED))).row()

    def _places(self, width: int) -> tuple[int, int]:
        """Where ``of`` and ``value`` begin: as the longest texts want, within a third of the width each."""
        third = max(width // 3, _LOW)
        fact = min(max((width_of(row.fact) for row in self.facts), default=0), third - 4)
        of = min(max((width_of(row.of) for row in self.facts), default=0), third - 2)
        return 5 + fact, 7 + fact + max(of, 2)

    def as_text(self, rows: Iterable[FactRow]) -> str:
        """``rows``, tab-separated."""
        lines = [("fact", "of", "value"), *((row.fact, row.of, row.value) for row in rows)]
        return "".join("\t".join(cells) + "\n" for cells in lines)
