"""One finding in full: measured, of the description, or a reason why something is not judged."""

from collections.abc import Sequence

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.name_sets import fold_names
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import find_key
from benchconsole.console.tui.queries.finding_remarks import FindingRemarks
from benchconsole.console.tui.queries.static_findings import AlikeFindings, describe_element, find_place
from benchconsole.console.tui.queries.unjudged_reasons import UnjudgedReason, describe_reason
from benchconsole.console.tui.queries.view_queries import find_link, format_names
from benchconsole.console.tui.rows import link_glyphs, severity
from benchconsole.console.tui.rows.text_rows import BLANK, CellLine, CellText, Row, plain_text, value_tone, wrap_under
from benchconsole.console.tui.rows.themes import MUTED, STRONG, TEXT, TRACK
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.tui.widgets.findings_list import Choice
from benchconsole.console.view.run_view import (
    DetectableFaults,
    NotJudged,
    RunView,
    State,
    Undecided,
    state_of_level,
)
from benchconsole.console.view.session_verdict import SessionVerdict
from benchconsole.console.view.severity_signs import SEVERITIES
from benchconsole.console.view.wording import format_quantity, format_share
from benchconsole.probes.model.judgement import Finding
from benchconsole.topology.model.fabric import LinkId
from benchconsole.topology.units import Shown, Unit

GUTTER = 13
_LONGEST = 400
_MOST = 3
"""Rows of a section at most where not all have room."""
_URGENT = {"cannot tell": 0, "do": 1, "means": 2}
"""Sections that are whole before others, the first one first."""
_NO_VERDICT = "the description alone; no verdict, count or exit code rests on it"


def _static_rows(alike: AlikeFindings, view: RunView, where: str, width: int, height: int) -> list[Row]:
    """``where`` says which of how many. The sentence goes before all else; then the place in the file."""
    rule: list[Row] = [CellLine(width).put("─" * width, TRACK).row()] if height >= 8 else []
    head = [*rule, *_static_title(alike, where, width)]
    named = _name_static_parts(alike, view)
    room = max(height - len(head) - 1, 1)
    shows = wrap_under("shows", [alike.first.text[: _LONGEST * width]], width, GUTTER, room)
    others = [wrap_under(name, [text[: _LONGEST * width]], width, GUTTER, 3) for name, text in named]
    if len(head) + len(shows) + sum(len(each) + 1 for each in others) + 1 <= height:
        return [*head, BLANK, *shows, *(row for each in others for row in (BLANK, *each))]
    return [*head, *shows, *(each[0] for each in others if each)]


def _static_title(alike: AlikeFindings, where: str, width: int) -> list[Row]:
    first = alike.first
    word = SEVERITIES[first.severity].word
    line = CellLine(width).to(1)
    line.put(clip_text(sanitize(first.where), max(width - measure_width(where) - len(word) - 8, 8)), STRONG).put(", ")
    return [line.put(word, severity.tone(first.severity)._replace(bold=True)).right((CellText(where, MUTED),)).row()]


def _name_static_parts(alike: AlikeFindings, view: RunView) -> list[tuple[str, str]]:
    """Names and words of what follows the sentence, most needed first."""
    first, fabric = alike.first, view.fabric
    found = find_place(fabric, first.where)
    at = f"{found.file}:{found.line}" if found is not None else "no single line: it follows from the whole file"
    made = [("in the file", at), ("about", describe_element(fabric, first.where))]
    if len(alike.findings) > 1:
        names = format_names([each.where for each in alike.findings[1:]], 12)
        made.append(("alike", f"{names}; {find_key('fold')} shows each"))
    return [*made, ("rests on", _NO_VERDICT), ("code", first.code)]


class FindingDetail(CellWidget):
    """A rule, a title, then named sections. Where it is tight each section keeps one line, in this order."""

    finding: Finding | None = None
    alike: AlikeFindings | None = None
    sight: DetectableFaults | None = None
    reason: UnjudgedReason | None = None
    place = ""
    may_run = True
    view: RunView | None = None
    said: FindingRemarks | None = None

    def show(
        self, view: RunView, chosen: Choice | None, place: str, *, may_run: bool, said: FindingRemarks | None = None
    ) -> None:
        """Another finding; ``place`` says which of how many, ``may_run`` whether keys that run tests are taken.

        ``said`` is what people said of the findings.
        """
        self.may_run, self.said = may_run, said
        self.finding = chosen if isinstance(chosen, Finding) else None
        self.alike = chosen if isinstance(chosen, AlikeFindings) else None
        self.sight = chosen if isinstance(chosen, DetectableFaults) else None
        self.reason = chosen if isinstance(chosen, NotJudged | Undecided) else None
        self.view, self.place = view, place
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        """As much of it as there is room for."""
        if self.alike is not None and self.view is not None and height >= 2:
            return _static_rows(self.alike, self.view, self.place, width, height)
        if self.sight is not None and height >= 2:
            return _draw_sight(self.sight, width, height)
        if self.reason is not None and height >= 2:
            return _draw_reason(self.reason, self.place, width, height, may_run=self.may_run)
        if self.finding is None or self.view is None or height < 2:
            return []
        rule: list[Row] = [CellLine(width).put("─" * width, TRACK).row()]
        title = self._title(self.finding, width)
        for most, blanks in ((9, True), (3, True), (3, False)):
            rows = rule + title
            for section in _sections(self.view, self.finding, self.said, width, most):
                rows += ([BLANK] if blanks else []) + _cut(section, most)
            if len(rows) <= height:
                return rows
        head = title if height < 8 else rule + title
        return head + self._fill(self.view, self.finding, width, height - len(head))

    def _fill(self, view: RunView, finding: Finding, width: int, room: int) -> list[Row]:
        """A row for each section; what is left goes first to those that say what is not known and what to do."""
        named = [(name, texts) for name, texts in _name_parts(finding, self.said) if any(texts)]
        measured = _measured(view, finding, width)
        spare = room - len(named) - bool(measured)
        most = dict.fromkeys((name for name, _ in named), 1)
        for name, texts in sorted(named, key=lambda each: _URGENT.get(each[0], len(_URGENT))):
            more = min(len(wrap_under(name, texts, width, GUTTER, _MOST)) - 1, spare, _MOST - 1)
            most[name] += max(more, 0)
            spare -= max(more, 0)
        rows = _cut(measured, 1) if measured else []
        return rows + [
            row for name, texts in named for row in wrap_under(name, texts, width, GUTTER, most[name])[: most[name]]
        ]

    def _title(self, finding: Finding, width: int) -> list[Row]:
        aside = f"{self.place}, {finding.confidence.value}"
        line = CellLine(width).to(1).put(clip_text(sanitize(finding.where), width - len(aside) - 6), STRONG)
        room = width - line.at - len(aside) - 4
        first = sanitize(finding.what).split(": ")[0].split("; ")[0]
        if room > 10:
            line.put(", ").put(clip_text(first, room), STRONG)
        return [line.right((CellText(aside, MUTED),)).row()]


def _draw_sight(sight: DetectableFaults, width: int, height: int) -> list[Row]:
    """A rule, a title, then what would have been seen and what not, as much as there is room for."""
    rows: list[Row] = [CellLine(width).put("─" * width, TRACK).row()]
    rows.append(CellLine(width).to(1).put("how small a fault these tests could have shown", STRONG).row())
    for name, texts in _split_sight(sight):
        rows += wrap_under(name, texts, width, GUTTER, 6)
    if len(rows) > height:
        words = f"{find_key('in_full')} shows the rest"
        rows = [*rows[: height - 1], CellLine(width).to(GUTTER).put(words, MUTED).row()]
    return rows


def _draw_reason(reason: UnjudgedReason, where: str, width: int, height: int, *, may_run: bool) -> list[Row]:
    """A rule, a title, then why, whom it is about, and what to do; where it is tight each in one row."""
    said = describe_reason(reason)
    rule: list[Row] = [CellLine(width).put("─" * width, TRACK).row()] if height >= 6 else []
    line = CellLine(width).to(1).put(clip_text(f"{said.kind}: {said.counted}", max(width - len(where) - 6, 8)), STRONG)
    head = [*rule, line.right((CellText(where, MUTED),)).row()]
    named = said.list_sections(may_run=may_run)
    for most, blank in ((6, [BLANK]), (3, []), (1, [])):
        sections = [wrap_under(name, texts, width, GUTTER, most) for name, texts in named]
        rows = [*head, *(row for section in sections for row in (*blank, *section))]
        if len(rows) <= height:
            break
    return rows[:height]


def _split_sight(sight: DetectableFaults) -> list[tuple[str, Sequence[str]]]:
    at = 1 if sight.seen else 0
    return [("seen", sight.sentences[:at]), ("not seen", sight.sentences[at:])]


def list_verdict_sections(
    verdict: SessionVerdict, sight: DetectableFaults | None, said: FindingRemarks
) -> list[tuple[str, Sequence[str]]]:
    """The verdict with every gap, who accepts what, and how small a fault the tests could have shown."""
    gaps = verdict.missing if verdict.is_brief else ()
    accepted = [("accepted", [said.sentence]), ("earlier", said.list_earlier())] if said.sentence else []
    rest = _split_sight(sight) if sight is not None else []
    return [("verdict", [verdict.sentence]), ("missing", gaps), *accepted, *rest]


def list_static_sections(alike: AlikeFindings, view: RunView) -> list[tuple[str, Sequence[str]]]:
    """Everything that is said of what the description shows."""
    named = [(name, [text]) for name, text in _name_static_parts(alike, view)]
    return [("about", [alike.first.where]), ("shows", [each.text for each in alike.findings]), *named]


def list_sections(view: RunView, finding: Finding, said: FindingRemarks) -> list[tuple[str, Sequence[str]]]:
    """Everything that is said of a finding, by the judge and by people."""
    unit, shown = finding.unit or Unit.ONE, _find_shown(view, finding)
    numbers = []
    if finding.value is not None and finding.expected:
        found, wanted = (format_quantity(each, unit, shown) for each in (finding.value, finding.expected))
        numbers = [f"{found} of {wanted} expected, {format_share(finding.value / finding.expected)}"]
    named = _name_parts(finding, said)
    return [("finding", [f"{finding.where}: {finding.what}"]), ("measured", numbers), *named]


def _name_parts(finding: Finding, said: FindingRemarks | None) -> tuple[tuple[str, Sequence[str]], ...]:
    return (
        ("accepted", [said.tell_acceptance(finding)] if said is not None else []),
        ("because", finding.because),
        ("rules out", finding.rules_out),
        ("cannot tell", [finding.cannot_tell]),
        ("means", [finding.means]),
        ("do", [finding.do]),
        ("remarks", said.list_remarks(finding) if said is not None else []),
        ("nodes", [fold_names(finding.nodes)] if len(finding.nodes) > 1 else []),
    )


def _sections(view: RunView, finding: Finding, said: FindingRemarks | None, width: int, most: int) -> list[list[Row]]:
    named = _name_parts(finding, said)
    made = [wrap_under(name, texts, width, GUTTER, min(most, 3)) for name, texts in named]
    return [section for section in (_measured(view, finding, width), *made) if section]


def _measured(view: RunView, finding: Finding, width: int) -> list[Row]:
    """The two numbers as wires of one length, with slots where it is a LAG."""
    if finding.value is None or not finding.expected:
        return []
    share = finding.value / finding.expected
    link = view.fabric.links.get(LinkId(finding.element))
    seen = find_link(view, link.id) if link is not None else None
    up = seen.members_up if seen is not None and seen.members_up is not None else link.count if link else 0
    wire = min(24, max(width - GUTTER - 34, 6))
    tone = value_tone(state_of_level(finding.level))
    unit = finding.unit or Unit.ONE
    shown = _find_shown(view, finding)
    built_slots = link_glyphs.slots(link.count, link.count, State.PASS) if link is not None else ()
    now_slots = link_glyphs.slots(link.count, up, seen.state) if link is not None and seen is not None else ()
    built = _measure_line("expected" if link is None else "as built", built_slots, link_glyphs.wire(wire, 1.0), width)
    built.put("  ").put(format_quantity(finding.expected, unit, shown), TEXT)
    now = _measure_line("measured", now_slots, link_glyphs.wire(wire, share, lost=max(1 - share, 0.0)), width)
    now.put("  ").put(format_quantity(finding.value, unit, shown), tone).put(
        f"  {format_share(share)} of expected", MUTED
    )
    if link is not None and link.is_lag and up < link.count:
        now.put(f"   {up} of {link.count} members up", MUTED)
    return [built.row(), now.row()]


def _find_shown(view: RunView, finding: Finding) -> Shown:
    """How the numbers are written on which it rests."""
    own = frozenset(finding.evidence)
    verdicts = (verdict for test in finding.tests for verdict in view.verdicts.get(test, ()))
    return next((verdict.shown for verdict in verdicts if own.intersection(verdict.evidence)), Shown.PLAIN)


def _cut(section: list[Row], most: int) -> list[Row]:
    """The first rows; of built and measured the measured one."""
    first = section[0]
    if most == 1 and len(section) > 1 and plain_text(first).lstrip().startswith(("as built", "expected")):
        return section[1:2]
    return section[:most]


def _measure_line(name: str, slots: Row, wire: Row, width: int) -> CellLine:
    line = CellLine(width).to(1).put(name, MUTED).to(GUTTER)
    if slots:
        line.extend(slots).put(" ")
    return line.extend(wire)
