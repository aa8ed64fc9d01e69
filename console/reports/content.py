"""The content that all report formats share: title, verdict in a sentence, coverage, findings.

All text is sanitized: safe for a terminal, not yet escaped for any format.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, Protocol

from benchconsole.console.reports.remark_section import ELEMENTS, list_accepting, list_beside
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.detectable_text import list_detectable_sentences
from benchconsole.console.view.run_view import Coverage, RunView
from benchconsole.console.view.session_verdict import SessionVerdict, decide
from benchconsole.console.view.wording import NOT_MEASURED, format_moment, format_quantity
from benchconsole.probes.model.detectable_loss import DetectableLoss
from benchconsole.probes.model.judgement import Finding, Level
from benchconsole.probes.model.remark import Remark
from benchconsole.probes.planning.plan_summary import list_uncrossed_links
from benchconsole.topology.element_names import link_name
from benchconsole.topology.units import Shown, duration
from benchconsole.topology.units import counted as count


class TimedNote(Protocol):
    """A decision or an event at a time (UTC seconds) while a session ran."""

    @property
    def kind(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def at(self) -> float: ...


@dataclass(frozen=True, slots=True)
class SessionDetails:
    """The facts that are kept of a session besides its plan and results.

    ``uncovered`` says what the plan leaves out, ``losses`` how small a loss the tests could have shown. ``verdict`` is
    that on the session, where it is known already. ``remarks`` are what people said of it, withdrawn ones as well.
    """

    options: Mapping[str, str | int | float] = field(default_factory=lambda: MappingProxyType({}))
    notes: Sequence[TimedNote] = ()
    uncovered: tuple[str, ...] = ()
    losses: tuple[DetectableLoss, ...] = ()
    verdict: SessionVerdict | None = None
    remarks: tuple[Remark, ...] = ()

    def decide(self, view: RunView) -> SessionVerdict:
        """The verdict on the session, which ``view`` shows."""
        return self.verdict or decide(view)


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """The facts that a report needs and a view does not know, and how it is to be written.

    ``ascii`` and ``width`` concern the text report; ``raw_csv`` drops the guard against spreadsheet formulas.
    """

    operator: str = ""
    version: str = ""
    ascii: bool = False
    width: int = 80
    raw_csv: bool = False
    details: SessionDetails = SessionDetails()


DEFAULTS = ReportOptions()


def format_period(view: RunView) -> str:
    """From when to when the session ran, in words."""
    if not view.started:
        return "not started"
    return format_moment(view.started) + (f" to {format_moment(view.ended)}" if view.ended else ", still running")


def hash_topology(view: RunView) -> str:
    """The checksum that ties a report to the file it was run from."""
    return hashlib.sha256(view.fabric.text.encode("utf-8", "surrogatepass")).hexdigest()


def find_version(options: ReportOptions) -> str:
    """The version that wrote the report."""
    if options.version:
        return sanitize(options.version)
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("benchconsole")
    except PackageNotFoundError:
        return "not installed"


def find_name(view: RunView) -> str:
    """The session as people call it: its label, or its id."""
    return sanitize(view.label or view.session or "no session")


NOT_RECORDED = "not recorded"
"""Stands for an operator that nobody named."""


def make_title(view: RunView, options: ReportOptions) -> tuple[tuple[str, str], ...]:
    """The title block as pairs of a heading and its text."""
    fabric = view.fabric
    ended = format_moment(view.ended) if view.ended else ("still running" if view.started else NOT_MEASURED)
    took = duration(view.ended - view.started) if view.ended and view.ended > view.started else NOT_MEASURED
    return (
        ("fabric", sanitize(fabric.name)),
        ("described", ", ".join(describe_fabric(view))),
        ("session", sanitize(view.session) or NOT_MEASURED),
        ("label", sanitize(view.label) or NOT_MEASURED),
        ("suite", sanitize(view.suite) or NOT_MEASURED),
        ("started", format_moment(view.started)),
        ("ended", ended),
        ("wall time", took),
        ("operator", sanitize(options.operator) or NOT_RECORDED),
        ("program", f"benchconsole {find_version(options)}"),
        ("topology sha256", hash_topology(view)),
    )


def describe_fabric(view: RunView) -> tuple[str, ...]:
    """The elements of the fabric, counted."""
    fabric = view.fabric
    switches = len(fabric.switches)
    return (
        count(len(fabric.nodes), "node"),
        f"{switches:,} switch" if switches == 1 else f"{switches:,} switches",
        count(sum(link.count for link in fabric.links.values()), "cable"),
        count(sum(link.is_lag for link in fabric.links.values()), "LAG"),
    )


class CoverageLine(NamedTuple):
    """One line of the coverage table."""

    name: str
    number: int
    meaning: str


def list_coverage(view: RunView, covered: Coverage) -> tuple[CoverageLine, ...]:
    """Coverage as lines; what was never started is named only where there is any."""
    lines = [
        CoverageLine("planned", covered.planned, "tests in the plan of this session"),
        CoverageLine("tested", covered.tested, "gave a result"),
        CoverageLine("failed to run", covered.failed, "ran and gave no result"),
        CoverageLine("unreachable", covered.unreachable, "the node could not be asked"),
        CoverageLine("skipped", covered.skipped, "not started: tool missing, held back, in use, unsafe or stopped"),
    ]
    left = count_not_run(covered)
    if left:
        meaning = "still to come" if view.ended is None else "the session ended before them"
        lines.append(CoverageLine("not run", left, meaning))
    idle = list_uncrossed_links(view.fabric, view.plan)
    if idle:
        named = ", ".join(sanitize(link_name(view.fabric, link)) for link in idle[:NAMED])
        more = f" and {len(idle) - NAMED:,} more" if len(idle) > NAMED else ""
        name = "link not crossed" if len(idle) == 1 else "links not crossed"
        lines.append(CoverageLine(name, len(idle), f"no test sends over {named}{more}"))
    return tuple(lines)


NAMED = 4
"""Links that no test crosses are named up to here, then counted."""


def count_not_run(covered: Coverage) -> int:
    """Planned tests of which nothing came at all."""
    known = covered.tested + covered.failed + covered.unreachable + covered.skipped
    return max(covered.planned - known, 0)


def list_detectable(view: RunView, details: SessionDetails) -> tuple[str, ...]:
    """The faults that the tests could have shown, in sentences; empty where nothing was held against links."""
    return tuple(list_detectable_sentences(view.fabric, details.losses, view.suite))


UNTESTED = "Untested parts are not counted as passed."


def format_coverage(view: RunView, covered: Coverage) -> str:
    """Coverage in one line: what is zero is left out, except what was tested."""
    first, *rest = list_coverage(view, covered)
    parts = [f"{line.number:,} {line.name}" for line in rest if line.number or line.name == "tested"]
    return f"{first.number:,} planned: {', '.join(parts)}."


def sort_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Findings worst level first, otherwise in the order the judge gave."""
    return sorted(findings, key=lambda finding: -finding.level.severity)


def format_more_findings(left_out: Sequence[Finding]) -> str:
    """Findings that are not listed, counted by level: ``7 more findings: 2 fail, 5 watch``."""
    return f"{count(len(left_out), 'more finding')}: {format_levels(finding.level for finding in left_out)}"


def format_levels(levels: Iterable[Level] | Mapping[Level, int]) -> str:
    """``2 fail, 5 watch``: levels, or what counts them, worst first."""
    counts = Counter(levels)
    worst_first = sorted(counts, key=lambda level: -level.severity)
    return ", ".join(f"{counts[level]:,} {level}" for level in worst_first)


def _find_shown(view: RunView, finding: Finding) -> Shown:
    # A finding does not say whether its rate is bits or bytes; the verdicts it rests on do.
    for test in finding.tests:
        for verdict in view.verdicts.get(test, ()):
            if verdict.unit is finding.unit:
                return verdict.shown
    return Shown.PLAIN


def list_details(
    view: RunView, finding: Finding, remarks: Sequence[Remark] = ()
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The parts of a finding under its headline, in reading order; empty parts are left out."""
    numbers = ""
    if finding.value is not None or finding.expected is not None:
        unit, shown = finding.unit, _find_shown(view, finding)
        found, wanted = format_quantity(finding.value, unit, shown), format_quantity(finding.expected, unit, shown)
        numbers = f"{found} measured, {wanted} expected"
    parts: dict[str, tuple[str, ...]] = {
        "numbers": (numbers,),
        "because": finding.because,
        "rules out": finding.rules_out,
        "cannot tell": (finding.cannot_tell,),
        "means": (finding.means,),
        "do": (finding.do,),
        "accepted": list_accepting(remarks, finding),
        "remarks": list_beside(remarks, ELEMENTS, finding.element),
    }
    return tuple((name, tuple(map(sanitize, filter(None, texts)))) for name, texts in parts.items() if any(texts))
