"""Owns what every report says before a format says it: title, verdict in a sentence, coverage, findings.

All text given out is ``plain``: safe for a terminal, not yet escaped for any format. Refuses to
judge and to know a format.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from types import MappingProxyType
from typing import Protocol

from console import view as picture
from console.view import Coverage, RunView, State
from console.wording import NOT_MEASURED, count, plain, quantity
from probes.checklist import CheckedList
from probes.judging.verdict import Finding, Level
from probes.planning import uncrossed
from topology.elements import link_name
from topology.model import Fabric, Link
from topology.selection import NAME, fold
from topology.units import Shown, duration

NAMES_SHOWN = 40
"""Names that cannot be folded are listed up to here; the rest is counted, never dropped silently."""
CELL = 400
"""Characters of one cell for people; files for machines carry all of it."""


class Noted(Protocol):
    """What was decided or happened at a time (UTC seconds) while a session ran."""

    @property
    def kind(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def at(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Told:
    """What is kept of a session besides its plan and results.

    ``options`` are those that it was started with; ``notes`` in the order in which they were made;
    ``uncovered`` says what the plan leaves out; ``checklists`` are those of the session as they stand.
    """

    options: Mapping[str, str | int | float] = field(default_factory=lambda: MappingProxyType({}))
    notes: Sequence[Noted] = ()
    uncovered: tuple[str, ...] = ()
    checklists: tuple[CheckedList, ...] = ()


@dataclass(frozen=True, slots=True)
class Options:
    """What a report needs and a view does not know, and how it is to be written.

    ``operator`` and ``version`` go into the title block; ``ascii`` and ``width`` concern the text
    report; ``raw_csv`` drops the guard against spreadsheet formulas, for machines.
    """

    operator: str = ""
    version: str = ""
    ascii: bool = False
    width: int = 80
    raw_csv: bool = False
    told: Told = Told()


DEFAULTS = Options()


def moment(at: float | None) -> str:
    """A moment in UTC to the second, or the sign for nothing."""
    if not at:
        return NOT_MEASURED
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def when(view: RunView) -> str:
    """From when to when the session ran, in words."""
    if not view.started:
        return "not started"
    return f"{moment(view.started)} to {moment(view.ended)}" if view.ended else f"{moment(view.started)}, still running"


def shortened(text: str, limit: int = CELL) -> str:
    """``text`` made plain and cut at ``limit`` characters; a cut says how long it was."""
    if len(text) <= limit:
        return plain(text)
    return f"{plain(text[:limit])} … (cut, {len(text):,} characters)"


@cache
def _fold(names: tuple[str, ...]) -> str:
    return fold(names)


def folded(names: Iterable[str]) -> str:
    """Node names as a short set; names that no set can hold are listed as they are, made plain."""
    known = tuple(dict.fromkeys(names))
    # ClusterShell would read brackets, commas and @ in a name as syntax.
    sound = tuple(name for name in known if NAME.fullmatch(name))
    odd = [shortened(name, 80) for name in known if not NAME.fullmatch(name)]
    parts = [_fold(sound)] if sound else []
    parts += odd[:NAMES_SHOWN]
    if len(odd) > NAMES_SHOWN:
        parts.append(f"and {len(odd) - NAMES_SHOWN:,} more")
    return ",".join(parts)


def topology_sha256(view: RunView) -> str:
    """The checksum that ties a report to the file it was run from."""
    return hashlib.sha256(view.fabric.text.encode("utf-8", "surrogatepass")).hexdigest()


def program_version(options: Options) -> str:
    """The version that wrote the report."""
    if options.version:
        return plain(options.version)
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("benchconsole")
    except PackageNotFoundError:
        return "not installed"


def name_of(view: RunView) -> str:
    """The session as people call it: its label, or its id."""
    return plain(view.label or view.session or "no session")


def title(view: RunView, options: Options) -> tuple[tuple[str, str], ...]:
    """The title block as pairs of a heading and its text."""
    fabric = view.fabric
    ended = moment(view.ended) if view.ended else ("still running" if view.started else NOT_MEASURED)
    took = duration(view.ended - view.started) if view.ended and view.ended > view.started else NOT_MEASURED
    return (
        ("fabric", plain(fabric.name)),
        ("described", ", ".join(described(view))),
        ("session", plain(view.session) or NOT_MEASURED),
        ("label", plain(view.label) or NOT_MEASURED),
        ("suite", plain(view.suite) or NOT_MEASURED),
        ("started", moment(view.started)),
        ("ended", ended),
        ("wall time", took),
        ("operator", plain(options.operator) or "not recorded"),
        ("program", f"benchconsole {program_version(options)}"),
        ("topology sha256", topology_sha256(view)),
    )


def described(view: RunView) -> tuple[str, ...]:
    """What the fabric is made of, counted."""
    fabric = view.fabric
    cables = sum(link.count for link in fabric.links.values())
    lags = sum(link.is_lag for link in fabric.links.values())
    switches = len(fabric.switches)
    return (
        count(len(fabric.nodes), "node"),
        f"{switches:,} switch" if switches == 1 else f"{switches:,} switches",
        count(cables, "cable"),
        count(lags, "LAG"),
    )


@dataclass(frozen=True, slots=True)
class Summary:
    """The whole session in one sentence, with the state that colours it."""

    state: State
    sentence: str


def summary(view: RunView) -> Summary:
    """The verdict in one sentence. What was not tested is never counted as passed."""
    covered = picture.coverage(view)
    verdicts = [verdict for test in picture.superseding(view) for verdict in view.verdicts.get(test, ())]
    findings = {level: sum(finding.level is level for finding in view.findings) for level in Level}
    fails = findings[Level.FAIL] or sum(verdict.level is Level.FAIL for verdict in verdicts)
    unknown = sum(verdict.level is Level.UNKNOWN for verdict in verdicts)
    tested = f"{covered.tested:,} of {count(covered.planned, 'planned test')} gave a result"
    if fails:
        noun = "finding" if findings[Level.FAIL] else "result"
        text = f"Below its threshold: {count(fails, noun)}; {tested}."
        return Summary(State.FAIL, text)
    if not covered.tested:
        return Summary(State.SKIPPED, "No data: no test gave a result. This is neither passed nor failed.")
    if not covered.complete or unknown or not view.complete:
        judged = " Nothing that was judged is below its threshold." if verdicts else " Nothing was judged."
        rest = f" {count(unknown, 'result')} could not be judged." if unknown else ""
        return Summary(State.UNKNOWN, f"Not everything was tested: {tested}.{rest}{judged}")
    if findings[Level.WATCH]:
        watched = count(findings[Level.WATCH], "finding")
        return Summary(State.WATCH, f"Everything judged is above its threshold; {watched} to watch; {tested}.")
    return Summary(State.PASS, f"Everything judged passed: {tested}.")


@dataclass(frozen=True, slots=True)
class Counted:
    """One line of the coverage table."""

    name: str
    number: int
    meaning: str


def coverage_lines(view: RunView) -> tuple[Counted, ...]:
    """Coverage as lines; what was never started is named only where there is any."""
    covered = picture.coverage(view)
    lines: tuple[Counted, ...] = (
        Counted("planned", covered.planned, "tests in the plan of this session"),
        Counted("tested", covered.tested, "gave a result"),
        Counted("failed to run", covered.failed, "ran and gave no result"),
        Counted("unreachable", covered.unreachable, "the node could not be asked"),
        Counted("skipped", covered.skipped, "not started: tool missing, held back, in use, unsafe or stopped"),
        Counted("not applicable", covered.not_applicable, "means nothing on that node"),
    )
    left = not_run(covered)
    meaning = "still to come" if view.ended is None else "the session ended before them"
    if left:
        lines = (*lines, Counted("not run", left, meaning))
    idle = uncrossed(view.fabric, view.plan)
    return (*lines, Counted(IDLE, len(idle), f"no test sends over {idle_links(view.fabric, idle)}")) if idle else lines


IDLE = "links not crossed"
NAMED = 4
"""Links that no test crosses are named up to here, then counted."""


def idle_links(fabric: Fabric, links: Sequence[Link]) -> str:
    """``spine1 to spine2, spine1 to dmz``: the first by name, the rest counted."""
    named = ", ".join(plain(link_name(fabric, link)) for link in links[:NAMED])
    return named + (f" and {len(links) - NAMED:,} more" if len(links) > NAMED else "")


def not_run(covered: Coverage) -> int:
    """Planned tests of which nothing came at all."""
    known = covered.tested + covered.failed + covered.unreachable + covered.skipped + covered.not_applicable
    return max(covered.planned - known, 0)


UNTESTED = "What was not tested is not counted as passed."


def coverage_sentence(view: RunView) -> str:
    """Coverage in one line: what is zero is left out, except what was tested."""
    first, *rest = coverage_lines(view)
    parts = [f"{line.number:,} {line.name}" for line in rest if line.number or line.name == "tested"]
    return f"{first.number:,} planned: {', '.join(parts)}."


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Findings worst level first, otherwise in the order the judge gave."""
    return sorted(findings, key=lambda finding: -finding.level.severity)


def more_findings(left_out: Sequence[Finding]) -> str:
    """Findings that are not listed, counted by level: ``7 more findings: 2 fail, 5 watch``."""
    levels = sorted(Level, key=lambda level: -level.severity)
    counts = {level: sum(finding.level is level for finding in left_out) for level in levels}
    words = ", ".join(f"{counts[level]:,} {level}" for level in levels if counts[level])
    return f"{count(len(left_out), 'more finding')}: {words}"


def _shown(view: RunView, finding: Finding) -> Shown:
    # A finding does not say whether its rate is bits or bytes; the verdicts it rests on do.
    for test in finding.tests:
        for verdict in view.verdicts.get(test, ()):
            if verdict.unit is finding.unit:
                return verdict.shown
    return Shown.PLAIN


def finding_details(view: RunView, finding: Finding) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The parts of a finding under its headline, in reading order; empty parts are left out."""
    numbers = ""
    if finding.value is not None or finding.expected is not None:
        unit, shown = finding.unit, _shown(view, finding)
        found, wanted = quantity(finding.value, unit, shown), quantity(finding.expected, unit, shown)
        numbers = f"{found} measured, {wanted} expected"
    parts: tuple[tuple[str, tuple[str, ...]], ...] = (
        ("numbers", (numbers,)),
        ("because", finding.because),
        ("rules out", finding.rules_out),
        ("cannot tell", (finding.cannot_tell,)),
        ("means", (finding.means,)),
        ("do", (finding.do,)),
    )
    written = ((name, tuple(shortened(text) for text in texts if text)) for name, texts in parts)
    return tuple((name, texts) for name, texts in written if texts)
