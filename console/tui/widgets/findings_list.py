"""The list of findings: measured ones, what could not be judged, then those of the description under their heading."""

from collections.abc import Sequence

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.finding_remarks import FindingRemarks
from benchconsole.console.tui.queries.static_findings import AlikeFindings
from benchconsole.console.tui.queries.unjudged_reasons import UnjudgedReason, describe_reason
from benchconsole.console.tui.queries.view_queries import format_names
from benchconsole.console.tui.rows import severity
from benchconsole.console.tui.rows.text_rows import BLANK, REMARKED, CellLine, CellText, Row, sign
from benchconsole.console.tui.rows.themes import MUTED, STRONG, TEXT
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.view.run_view import DetectableFaults, NotJudged, State, Undecided, state_of_level
from benchconsole.console.view.severity_signs import SEVERITIES
from benchconsole.probes.model.judgement import Finding, Suspect
from benchconsole.topology.analysis.static_finding import Severity

_SUSPECTS = {
    Suspect.NIC: "NIC", Suspect.LAG: "LAG", Suspect.LEG: "leg", Suspect.MEMBER: "member", Suspect.MLAG: "MLAG",
    Suspect.VLAN: "VLAN", Suspect.SYSTEM: "storage", Suspect.SET: "nodes",
}  # fmt: skip

_ACCEPTED = "  accepted"
_LEAST_WHAT, _WIDEST_NAME = 8, 24
"""Cells that what was found keeps beside the name of who accepts it, and cells of that name at most."""

Choice = Finding | UnjudgedReason | AlikeFindings | DetectableFaults
Entry = Choice | Row
"""A row of words cannot be chosen."""


class FindingsList(Listing[Entry]):
    """One row a finding. ``nothing`` stands above what the description shows where nothing was found by measuring.

    ``state`` is the sign of ``nothing``. ``reasons`` say what is not judged. ``sight`` says how small a fault could
    have been found at all, in a row of its own below the findings. ``said`` is what people said of them.
    """

    sight: DetectableFaults | None = None
    state: State | None = None
    said: FindingRemarks | None = None
    faults: Sequence[Finding] = ()
    reasons: Sequence[UnjudgedReason] = ()
    static: Sequence[AlikeFindings] = ()
    title: Row = ()
    nothing = ""
    is_moved = False
    """Whether somebody has put the cursor somewhere."""
    _longest = (6, 8)

    def show(
        self,
        faults: Sequence[Finding],
        nothing: str,
        reasons: Sequence[UnjudgedReason] = (),
        static: Sequence[AlikeFindings] = (),
        title: Row = (),
        sight: DetectableFaults | None = None,
        state: State | None = None,
        said: FindingRemarks | None = None,
    ) -> None:
        """Other findings; the cursor stays on its element.

        While nobody has moved it, it leaves what the description shows for what was measured: that comes later.
        """
        here = self.chosen
        if isinstance(here, AlikeFindings) and not self.is_moved:
            here, self.cursor = None, 0
        self.faults, self.static, self.title, self.nothing = faults, static, title, nothing
        self.state, self.reasons, self.said = state, reasons, said
        self.sight = sight if sight is not None and sight.kinds else None
        above: list[Entry] = [*faults, *reasons, *([self.sight] if self.sight is not None else [])]
        above += [BLANK] if above and title else []
        self.items = [*above, *([title] if title else []), *static]
        self._longest = (
            max([6, *(measure_width(sanitize(each.where)) for each in faults), *map(_measure_names, reasons)]),
            max([8, *(measure_width(sanitize(each.what) + _tell_accepted(said, each)) for each in faults)]),
        )
        self.cursor = self._index_of(here)
        self.redraw()

    def _index_of(self, here: Choice | None) -> int:
        """Where ``here`` stands now; else the nearest row to the cursor that can be chosen."""
        key = _key(here)
        found = next((i for i, each in enumerate(self.items) if key is not None and _key(each) == key), self.cursor)
        return self._choosable(min(found, max(self.count - 1, 0)), 1)

    def _choosable(self, index: int, step: int) -> int:
        """``index``, or the next row that can be chosen, in the direction of ``step`` first."""
        for ways in (range(index, self.count), range(index, -1, -1))[:: 1 if step > 0 else -1]:
            found = next((place for place in ways if not isinstance(self.items[place], tuple)), None)
            if found is not None:
                return found
        return 0

    @property
    def chosen(self) -> Choice | None:
        entry = self.items[self.cursor] if self.cursor < len(self.items) else None
        return None if isinstance(entry, tuple) else entry

    @property
    def places(self) -> list[int]:
        """Rows that can be chosen."""
        return [index for index, each in enumerate(self.items) if not isinstance(each, tuple)]

    def go(self, index: int) -> None:
        """Put the cursor on a finding; words are passed over."""
        if self.places:
            self.is_moved = True
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
        if self.static and self.top > self.items.index(self.static[0]) - 1:
            return [self._fitted(self.title, width)]
        if not self.faults:
            line = CellLine(width).to(1)
            if self.state is not None:
                line.extend((sign(self.state), CellText(" ")))
            return [line.put(clip_text(sanitize(self.nothing), max(line.room - 1, 0)), TEXT).row()]
        where, what, wide = self._columns(width)
        line = CellLine(width).to(3).put("suspect", MUTED, 9).put("where", MUTED, where + 2).put("what", MUTED, what)
        line.put("  ").put("nodes", MUTED, 6, ">")
        if width >= 70:
            line.put("  ").put("confidence", MUTED, 10)
        if wide:
            line.put("  ").put("tests", MUTED, 6, ">")
        return [line.row()]

    def row(self, index: int, width: int) -> Row:
        entry = self.items[index]
        if isinstance(entry, tuple):
            return self._fitted(entry, width)
        if isinstance(entry, DetectableFaults):
            return _draw_sight(entry, width)
        if isinstance(entry, NotJudged | Undecided):
            return _draw_reason(entry, self._columns(width)[0], width)
        return self._measured(entry, width) if isinstance(entry, Finding) else self._described(entry, width)

    def _fitted(self, row: Row, width: int) -> Row:
        return CellLine(width).to(1).extend(row).row()

    def _measured(self, finding: Finding, width: int) -> Row:
        where, what, wide = self._columns(width)
        state = state_of_level(finding.level)
        suspect = _SUSPECTS.get(finding.suspect, finding.suspect.value)
        has_remarks = self.said is not None and bool(self.said.list_remarks(finding))
        line = CellLine(width).put(REMARKED if has_remarks else " ", MUTED)
        line.extend((sign(state), CellText(" "))).put(suspect, MUTED, 9)
        line.put(clip_text(sanitize(finding.where), where), STRONG if state is State.FAIL else TEXT, where + 2)
        accepted = _tell_accepted(self.said, finding)
        if what - measure_width(accepted) < _LEAST_WHAT:
            accepted = accepted and _ACCEPTED
        told = clip_text(sanitize(finding.what), max(what - measure_width(accepted), 0))
        line.put(told, TEXT).put(accepted, MUTED, what - measure_width(told)).put("  ")
        line.put(f"{len(finding.nodes):,}", TEXT, 6, ">")
        if width >= 70:
            line.put("  ").put(finding.confidence.value, MUTED, 10)
        if wide:
            line.put("  ").put(f"{len(finding.tests):,}", TEXT, 6, ">")
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
        where = min(self._longest[0], 20 if wide else 15)
        room = width - 23 - where - (12 if width >= 70 else 0) - (8 if wide else 0)
        return where, min(self._longest[1], max(room, 8)), wide


def _tell_accepted(said: FindingRemarks | None, finding: Finding) -> str:
    """Who accepts a finding, to stand behind what it says; empty where nobody does."""
    name = "" if said is None else said.name_accepting(finding)
    return f"{_ACCEPTED} by {clip_text(name, _WIDEST_NAME)}" if name else ""


def _draw_reason(reason: UnjudgedReason, where: int, width: int) -> Row:
    """The columns of a finding, without a confidence: nobody is suspected."""
    said = describe_reason(reason)
    line = CellLine(width).to(1).extend((sign(said.state), CellText(" "))).put(said.kind, MUTED, 9)
    line.put(clip_text(_fold_subjects(reason), where), TEXT, where + 2)
    number = f"  {said.counted}"
    line.put(clip_text(sanitize(said.why), max(line.room - len(number) - 1, 8)), TEXT)
    return line.put(number, MUTED).row()


def _fold_subjects(reason: UnjudgedReason) -> str:
    return format_names(describe_reason(reason).names, 2)


def _measure_names(reason: UnjudgedReason) -> int:
    return measure_width(_fold_subjects(reason))


def _draw_sight(sight: DetectableFaults, width: int) -> Row:
    """How small a fault could have been found; never a verdict, so the sign of a pass is not on it."""
    missed = sight.kinds - sight.seen
    line = CellLine(width).to(1).extend((sign(State.UNKNOWN if missed else State.MEASURED), CellText(" ")))
    line.put("sight", MUTED, 9).put(f"{sight.brief}: ", TEXT)
    return line.put(
        clip_text(sight.sentences[-1] if missed else sight.sentences[0], max(line.room - 1, 0)), MUTED
    ).row()


def _key(entry: Entry | None) -> tuple[str, str] | None:
    """The key that makes an entry the same one in another list."""
    if isinstance(entry, Finding):
        return ("", entry.where)
    if isinstance(entry, DetectableFaults):
        return ("", "")
    if isinstance(entry, NotJudged | Undecided):
        said = describe_reason(entry)
        return (said.kind, said.why)
    return (entry.first.code, entry.first.where) if isinstance(entry, AlikeFindings) else None


def _where(alike: AlikeFindings, width: int) -> str:
    """The element in at most ``width`` cells; behind the first of several how many more there are."""
    more = f" +{len(alike.findings) - 1:,}" if len(alike.findings) > 1 else ""
    return clip_text(sanitize(alike.first.where), max(width - len(more), 0)) + more
