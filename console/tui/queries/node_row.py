"""A row of the node table, and the base of its columns: what each says of a node. Pure.

Another kind of column is a subclass of ``NodeColumn`` in a file of its own, and a source in ``column_reader``.
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from benchconsole.console.text.cells import measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries import view_queries
from benchconsole.console.tui.rows.scales import Scale
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, sign, word_tone
from benchconsole.console.tui.rows.themes import MUTED, STRONG, TEXT
from benchconsole.console.view.blame import Blame
from benchconsole.console.view.run_view import NodeView, State
from benchconsole.console.view.wording import format_measured, name_state
from benchconsole.probes.model.judgement import Finding, Level, Verdict, Yardstick
from benchconsole.probes.model.kept_readings import list_values
from benchconsole.topology.natural_order import make_natural_key

WORD_COLUMNS = ("state", "node", "under", "role", "limit", "why")

ColumnId = tuple[str, str]
"""Metric and stage: a flow alone and the same flow in company are two different things."""

_LEAST_WIDTH = 7


class Choice(NamedTuple):
    """A column that can be chosen: a metric of a stage, a fact, or another ``kind`` of column."""

    kind: str
    name: str = ""
    stage: str = ""


DEFAULT = Choice("default", "default")
"""The judged metrics that a table has until somebody chooses."""


def expand_default(choices: Iterable[Choice], default: Sequence[Choice]) -> tuple[Choice, ...]:
    """``choices`` with the ``default`` metrics in place of ``DEFAULT``, each once."""
    every = (each for choice in choices for each in (default if choice == DEFAULT else (choice,)))
    return tuple(dict.fromkeys(every))


class NodeColumn(ABC):
    """A column of the node table. A filter and ``:sort`` call it ``key``; ``bound`` is what was expected of all rows.

    ``scale`` is that of its numbers, None where it holds words. ``parts`` are columns that stand inside its cells: a
    filter knows them, copies and ``show`` have them apart.
    """

    choice: Choice
    key: str
    heading: str
    bound: str = ""
    scale: Scale | None = None
    parts: Sequence["NodeColumn"] = ()

    @property
    def symbol(self) -> str:
        """The unit below the heading."""
        return self.scale.symbol if self.scale is not None else ""

    @property
    def title(self) -> str:
        """The heading where it stands alone: in copies and in what ``show`` prints."""
        return f"{self.heading} {self.symbol}".rstrip()

    @property
    def is_right(self) -> bool:
        """Whether heading and cells end at the right edge."""
        return self.scale is not None

    @property
    def width(self) -> int:
        """Cells that it needs, a mark of the sort included."""
        return max(measure_width(self.heading) + 1, measure_width(self.symbol), _LEAST_WIDTH)

    def prepare(  # noqa: B027 - most columns have nothing to prepare
        self, rows: Collection["NodeRow"], beside: Sequence["NodeColumn"]
    ) -> None:
        """Work out what takes every row, or the columns ``beside`` it; done away from the screen."""

    @abstractmethod
    def words(self, row: "NodeRow") -> str:
        """The safe text that a filter looks at, and that is copied."""

    def number(self, row: "NodeRow") -> float | None:
        """The number of the row in base units; None where it has none."""
        return None

    def sort_key(self, row: "NodeRow") -> tuple[object, ...]:
        """Numbers by size, those that are not there last; words so that n2 comes before n10."""
        if self.scale is None:
            return make_natural_key(self.words(row))
        found = self.number(row)
        return (1, 0.0) if found is None or math.isnan(found) else (0, found)

    def draw(self, line: CellLine, row: "NodeRow", wide: int, *, quiet: bool) -> None:
        """Put the row's cell into ``line``, ``wide`` cells or less; ``quiet``: the row needs no attention."""
        line.put(self.words(row), MUTED if quiet else TEXT, wide, ">" if self.is_right else "<")

    def record(self, row: "NodeRow") -> object:
        """The value for machines, in base units."""
        return self.words(row)

    def tell(self, row: "NodeRow") -> str:
        """More words on the row; empty where its cell says all."""
        return ""

    def deviates(self, row: "NodeRow") -> bool:
        """Whether the row's cell asks for attention, so that the column should be among those that fit."""
        return False


class FollowingColumn(NodeColumn):
    """A column about another column of numbers, ``of``: on the screen the last one under the cursor."""

    of: NodeColumn | None = None

    def follow(self, of: NodeColumn | None) -> None:
        """Be about another column from now on."""
        self.of = of


class WordColumn(NodeColumn):
    """One of the columns of words that every table of nodes has."""

    def __init__(self, key: str, width: int) -> None:
        self.choice = Choice("words", key)
        self.key = self.heading = key
        self._width = width

    @property
    def width(self) -> int:
        return self._width

    def words(self, row: "NodeRow") -> str:
        return row.words(self.key)

    def draw(self, line: CellLine, row: "NodeRow", wide: int, *, quiet: bool) -> None:
        is_bad = row.state in (State.FAIL, State.WATCH, State.UNREACHABLE)
        strong = self.key in ("limit", "why") and is_bad
        line.put(self.words(row), TEXT if strong else MUTED, wide)


class StateColumn(WordColumn):
    """The state, with its sign."""

    def draw(self, line: CellLine, row: "NodeRow", wide: int, *, quiet: bool) -> None:
        line.extend((sign(row.state), CellText(" "))).put(self.words(row), word_tone(row.state), wide - 2)


class NameColumn(WordColumn):
    """The name of the node."""

    def draw(self, line: CellLine, row: "NodeRow", wide: int, *, quiet: bool) -> None:
        line.put(sanitize(self.words(row)), TEXT if quiet else STRONG, wide)


class ColumnSet:
    """The columns of a table from left to right: words, the ``chosen`` ones, and what limits and why."""

    def __init__(self, chosen: Sequence[NodeColumn] = ()) -> None:
        self.chosen = tuple(chosen)
        self.shown: tuple[NodeColumn, ...] = (*_LEFT, *self.chosen, *_RIGHT)

    @cached_property
    def by_key(self) -> Mapping[str, NodeColumn]:
        """Every column that is no word of every row, and its parts, by what a filter calls it."""
        found: dict[str, NodeColumn] = {}
        for column in self.chosen:
            for each in (column, *column.parts):
                found.setdefault(each.key, each)
        return found

    @cached_property
    def following(self) -> "FollowingColumn | None":
        """The column that follows the picked one."""
        return next((column for column in self.chosen if isinstance(column, FollowingColumn)), None)

    @cached_property
    def scales(self) -> dict[str, Scale | None]:
        """Every column that a filter may name, with its scale; None for words."""
        return {**dict.fromkeys(WORD_COLUMNS), **{key: column.scale for key, column in self.by_key.items()}}

    @cached_property
    def searched(self) -> tuple[NodeColumn, ...]:
        """Those in which a plain word is looked for, besides the words of every row."""
        return tuple(column for column in self.chosen if column.choice.kind == "fact")


_LEFT = (StateColumn("state", 10), NameColumn("node", 5), WordColumn("under", 6))
_RIGHT = (WordColumn("limit", 14), WordColumn("why", 16))
NO_COLUMNS = ColumnSet()


@dataclass(slots=True)
class NodeRow:
    """One node as the table and the filter see it; worked out when it is first looked at."""

    view: NodeView
    under: str
    columns: ColumnSet
    blame: Blame = field(default_factory=Blame)
    stages: Mapping[int, str] = field(default_factory=dict)
    _worst: dict[ColumnId, Verdict] | None = None
    _everything: str = field(default="")

    @property
    def state(self) -> State:
        """The state that stands in front."""
        return self.view.state

    @property
    def worst(self) -> Mapping[ColumnId, Verdict]:
        """Column to the verdict that says the worst of it, with this node's own part where many were summed."""
        if self._worst is None:
            found: dict[ColumnId, Verdict] = {}
            for verdict in self.view.verdicts:
                own = self._own_part(verdict) if view_queries.is_shared(verdict) else verdict
                if own is None:
                    continue
                key = (verdict.metric, self.stages.get(verdict.round, ""))
                known = found.get(key)
                if known is None or self._badness(own) < self._badness(known):
                    found[key] = own
            self._worst = found  # whole, for another thread may look, too
        return self._worst

    def _own_part(self, verdict: Verdict) -> Verdict | None:
        """The part of a sum that this node sent by all its flows, against as many equal parts; None for a receiver."""
        name = self.view.node.id
        own = [
            next((value for (metric, _, _), value in list_values(result) if metric == verdict.metric), None)
            for result in self.view.results
            if result.test.round == verdict.round
            and result.test.bundle == verdict.subject
            and result.test.target.node.id == name
        ]
        sent = [value for value in own if value is not None]
        if not sent:
            return None
        part = len(sent) / len(verdict.evidence)
        expected, required = (bound * part if bound else None for bound in (verdict.expected, verdict.required))
        return verdict._replace(value=sum(sent), expected=expected, required=required)

    def state_of(self, verdict: Verdict) -> State:
        """The state of this node by ``verdict``."""
        return self.blame.state(self.view.node.id, verdict)

    def _badness(self, verdict: Verdict) -> tuple[bool, int, float]:
        name, share = self.view.node.id, view_queries.find_share(verdict)
        return (not self.blame.concerns(name, verdict), self.state_of(verdict).rank, 1.0 if share is None else share)

    @property
    def deciding(self) -> Verdict | None:
        """The verdict that gives the node its state."""
        name = self.view.node.id
        found = [v for v in self.view.verdicts if v.level is not Level.PASS and self.blame.concerns(name, v)]
        return min(found, key=self._badness, default=None)

    @property
    def worst_of_all(self) -> Verdict | None:
        """The one of ``worst`` that says the worst of the node."""
        return min(self.worst.values(), key=self._badness, default=None)

    def words(self, column: str) -> str:
        """The text of a word column, or a number as it is shown."""
        if column == "state":
            return name_state(self.state, was_asked=self.view.was_asked)
        if column == "node":
            return self.view.node.id
        if column == "under":
            return self.under
        if column == "role":
            return self.view.node.role.value
        if column == "limit":
            return self._limit()
        if column == "why":
            return self._why()
        found = self.columns.by_key.get(column)
        return found.words(self) if found is not None else ""

    def number(self, column: str) -> float | None:
        """The number in a column, in its base unit: of a metric the worst value."""
        found = self.columns.by_key.get(column)
        return found.number(self) if found is not None else None

    @property
    def everything(self) -> str:
        """The text in which a plain word is looked for."""
        if not self._everything:
            view = self.view
            is_quiet = not (view.verdicts or view.finding or view.failures)
            said = ("", "") if is_quiet else (self._limit(), self._why())  # most of 100,000 rows have nothing to say
            told = [column.words(self) for column in self.columns.searched]
            words = (self.words("state"), view.node.id, self.under, view.node.role.value, *said, *told)
            self._everything = "\n".join(words).lower()
        return self._everything

    def _limit(self) -> str:
        verdict = self.deciding
        if verdict is None:
            return sanitize(self.view.finding.where) if self.view.finding else ""
        finding = self.blame.elsewhere(self.view.node.id, verdict)
        return sanitize(finding.where if finding else verdict.limiting)

    def _why(self) -> str:
        if self.state is State.UNREACHABLE:
            silent = next((each for each in self.view.failures if each.stage.means_unreachable), None)
            return sanitize(silent.detail or silent.stage.value) if silent else ""
        verdict = self.deciding
        if verdict is not None:
            finding = self.blame.elsewhere(self.view.node.id, verdict)
            if finding is None and verdict.kind is Yardstick.HARDWARE:  # no column holds what was found
                return sanitize(f"{verdict.metric} {format_measured(verdict)}, {verdict.because}")
            return sanitize(_tell_first(finding) if finding else verdict.because)
        if self.view.finding is not None:
            return sanitize(_tell_first(self.view.finding))
        failure = next(iter(self.view.failures), None)
        return sanitize(f"{failure.stage}: {failure.detail}") if failure else ""


def _tell_first(finding: Finding) -> str:
    """The first clause of what is wrong; where stands in a column of its own."""
    what = finding.what.removeprefix(f"{finding.where}: ")
    return re.split(r"[:;,.] ", what, maxsplit=1)[0]
