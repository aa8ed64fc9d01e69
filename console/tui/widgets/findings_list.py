"""The list of findings: measured ones, then those of the description, each kind under its heading."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.static_findings import AlikeFindings
from benchconsole.console.tui.queries.view_queries import Fault
from benchconsole.console.tui.rows import severity
from benchconsole.console.tui.rows.text_rows import MUTED, STRONG, TEXT, CellLine, CellText, Row, sign
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.view.run_view import State
from benchconsole.console.view.wording import SEVERITIES
from benchconsole.topology.analysis.static_finding import Severity


@dataclass(frozen=True, slots=True)
class WordsRow:
    """A row that cannot be chosen."""

    row: Row = ()


Entry = Fault | AlikeFindings | WordsRow


class FindingsList(Listing):
    """One row a finding. ``nothing`` stands above what the description shows where nothing was found by measuring."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: Sequence[Entry] = ()
        self.faults: Sequence[Fault] = ()
        self.static: Sequence[AlikeFindings] = ()
        self.title: Row = ()
        self.nothing = ""

    def show(
        self, faults: Sequence[Fault], nothing: str, static: Sequence[AlikeFindings] = (), title: Row = ()
    ) -> None:
        """Other findings; the cursor stays on its element."""
        here = self.chosen
        self.faults, self.static, self.title, self.nothing = faults, static, title, nothing
        above: list[Entry] = [*faults, WordsRow()] if faults and title else [*faults]
        self.entries = [*above, *([WordsRow(title)] if title else []), *static]
        self.cursor = self._index_of(here)
        self.redraw()

    def _index_of(self, here: Fault | AlikeFindings | None) -> int:
        """Where ``here`` stands now; else the nearest row to the cursor that can be chosen."""
        key = _key(here)
        found = next((i for i, each in enumerate(self.entries) if key is not None and _key(each) == key), self.cursor)
        return self._choosable(min(found, max(self.count - 1, 0)), 1)

    def _choosable(self, index: int, step: int) -> int:
        """``index``, or the next row that can be chosen, in the direction of ``step`` first."""
        for ways in (range(index, self.count), range(index, -1, -1))[:: 1 if step > 0 else -1]:
            found = next((place for place in ways if not isinstance(self.entries[place], WordsRow)), None)
            if found is not None:
                return found
        return 0

    @property
    def chosen(self) -> Fault | AlikeFindings | None:
        entry = self.entries[self.cursor] if self.cursor < len(self.entries) else None
        return None if isinstance(entry, WordsRow) else entry

    @property
    def places(self) -> list[int]:
        """Rows that can be chosen."""
        return [index for index, each in enumerate(self.entries) if not isinstance(each, WordsRow)]

    @property
    def count(self) -> int:
        """Rows under the first heading."""
        return len(self.entries)

    def go(self, index: int) -> None:
        """Put the cursor on a finding; words are passed over."""
        if self.places:
            inside = max(0, min(index, self.count - 1))
            super().go(self._choosable(inside, 1 if index >= self.cursor else -1))

    def draw(self, width: int, height: int) -> list[Row]:
        """The heading is that of the rows below it, so these come first."""
        self._keep_in_sight(max(height - 1, 0))
        return super().draw(width, height)

    def _keep_in_sight(self, page: int) -> None:
        super()._keep_in_sight(page)
        if self.places and self.cursor == self.places[0] and self.cursor < page:
            self.top = 0

    def heading(self, width: int) -> list[Row]:
        """Names of the columns, or what the rows below have in common; always one row."""
        if self.static and self.top > self.entries.index(self.static[0]) - 1:
            return [self._fitted(self.title, width)]
        if not self.faults:
            return [CellLine(width).to(1).put(sanitize(self.nothing), TEXT).row()]
        where, what, wide = self._columns(width)
        line = CellLine(width).to(3).put("suspect", MUTED, 9).put("where", MUTED, where + 2).put("what", MUTED, what)
        line.put("  ").put("nodes", MUTED, 6, ">")
        if width >= 70:
            line.put("  ").put("confidence", MUTED, 10)
        if wide:
            line.put("  ").put("tests", MUTED, 6, ">")
        return [line.row()]

    def row(self, index: int, width: int) -> Row:
        entry = self.entries[index]
        if isinstance(entry, WordsRow):
            return self._fitted(entry.row, width)
        return self._measured(entry, width) if isinstance(entry, Fault) else self._described(entry, width)

    def _fitted(self, row: Row, width: int) -> Row:
        return CellLine(width).to(1).extend(row).row()

    def _measured(self, fault: Fault, width: int) -> Row:
        finding = fault.finding
        where, what, wide = self._columns(width)
        strong = fault.state is State.FAIL
        suspect = "no answer" if finding is None else _suspect(finding.suspect.value)
        line = CellLine(width).to(1).extend((sign(fault.state), CellText(" "))).put(suspect, MUTED, 9)
        line.put(clip_text(fault.where, where), STRONG if strong else TEXT, where + 2)
        line.put(clip_text(fault.what, what), TEXT, what).put("  ")
        nodes = len(finding.nodes) if finding else len(fault.nodes)
        line.put(f"{nodes:,}", TEXT, 6, ">")
        if width >= 70:
            line.put("  ").put(finding.confidence.value if finding else "certain", MUTED, 10)
        if wide:
            line.put("  ").put(f"{len(finding.tests):,}" if finding else "–", TEXT, 6, ">")
        return line.row()

    def _described(self, alike: AlikeFindings, width: int) -> Row:
        """Sign, word, element, sentence; the sentence has the rest of the row."""
        first = alike.first
        most = 24 if width >= 100 else 15
        where = max([6, *(measure_width(_where(each, most)) for each in self.static)])
        line = CellLine(width).to(1).extend((severity.sign(first.severity), CellText(" ")))
        line.put(SEVERITIES[first.severity].word, severity.tone(first.severity), 9)
        line.put(_where(alike, where), STRONG if first.severity is Severity.ERROR else TEXT, where + 2)
        return line.put(clip_text(sanitize(first.text), max(line.room - 1, 0)), TEXT).row()

    def _columns(self, width: int) -> tuple[int, int, bool]:
        """Width of where and what, and whether there is room for the number of tests."""
        wide = width >= 100
        where = min(max([6, *(measure_width(each.where) for each in self.faults)]), 20 if wide else 15)
        longest = max([8, *(measure_width(each.what) for each in self.faults)])
        return where, min(longest, _room(width, where, wide=wide)), wide


def _key(entry: Entry | None) -> tuple[str, str] | None:
    """What makes an entry the same one in another list."""
    if isinstance(entry, Fault):
        return ("", entry.where)
    return (entry.first.code, entry.first.where) if isinstance(entry, AlikeFindings) else None


def _where(alike: AlikeFindings, width: int) -> str:
    """The element in at most ``width`` cells; behind the first of several how many more there are."""
    more = f" +{len(alike.findings) - 1:,}" if len(alike.findings) > 1 else ""
    return clip_text(sanitize(alike.first.where), max(width - len(more), 0)) + more


def _room(width: int, where: int, *, wide: bool) -> int:
    """What the other columns leave for what is wrong."""
    return max(width - 23 - where - (12 if width >= 70 else 0) - (8 if wide else 0), 8)


def _suspect(value: str) -> str:
    return {"nic": "NIC", "lag": "LAG"}.get(value, value)
