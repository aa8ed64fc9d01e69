"""Result rows and their columns: the name of a column in files, its heading, its value in a row, how to sort by it.

Tables on screen and reports share these. ``value`` is for machines (base units, empty is None),
``shown`` for people. Escaping is left to the file formats.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import chain

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view import wording
from benchconsole.console.view.blame import Blame
from benchconsole.console.view.run_view import RunView, State, state_of, state_of_failure
from benchconsole.probes.model.alike_passes import list_tested
from benchconsole.probes.model.judgement import Finding, Level, Verdict
from benchconsole.probes.model.measuring import Failure, Labels, Reading, Result, Test
from benchconsole.topology.copying import replace
from benchconsole.topology.model.conditions import format_condition
from benchconsole.topology.units import Shown, Unit, percent

Cell = str | float | int | None
FAILED_TO_RUN = "✗ err"
SortKey = tuple[int, float, str]


class RowOutcome(StrEnum):
    """The outcome of the test behind a row: those of ``TestOutcome``, and of tests without a result that counts."""

    TESTED = "tested"
    FAILED = "failed"
    UNREACHABLE = "unreachable"
    SKIPPED = "skipped"
    REPEATED = "repeated later"
    WAITING = "not run"


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One verdict; or one number that was not judged by itself; or one test that gave no number.

    ``summed_in`` names the flows that ran at once and whose sum is judged in the place of this number.
    """

    state: State
    outcome: RowOutcome
    subject: str
    nodes: tuple[str, ...]
    stage: str
    round: int
    probe: str
    test: str
    because: str
    verdict: Verdict | None = None
    measurement: Reading | None = None
    shown: Shown = Shown.PLAIN
    affected_by: str = ""
    summed_in: str = ""


def make_verdict_row(verdict: Verdict, stage: str, blame: Blame, result: Result | None = None) -> ResultRow:
    """The row of one verdict; affected where a finding explains its low value by another element.

    A failed test may carry a verdict "unknown"; the row still says that nothing was measured.
    """
    affected_by = blame.affected_by(verdict)
    state = State.AFFECTED if affected_by else state_of(verdict)
    outcome, because = RowOutcome.TESTED, verdict.because
    if result is not None and result.failure is not None:
        outcome, state = RowOutcome(result.outcome), state_of_failure(result.failure.stage)
        because = because or format_failure(result.failure)
    return ResultRow(
        state=state,
        outcome=outcome,
        subject=verdict.subject,
        nodes=verdict.nodes,
        stage=stage,
        round=verdict.round,
        probe=verdict.probe,
        test=verdict.test,
        because=because,
        verdict=verdict,
        affected_by=affected_by,
    )


def list_rows(view: RunView) -> Iterator[ResultRow]:
    """Every row of a session in the order of its plan; each verdict once, no test left out.

    Those that the view has in columns (``RunView.passed``) have no row.
    A row that a later test repeats says so in its outcome: reports for people leave it out.
    """
    for row in _all_rows(view):
        yield replace(row, outcome=RowOutcome.REPEATED) if _is_repeated(view, row.test) else row


def _leave_none_out(_verdict: Verdict) -> bool:
    return False


def list_current_rows(view: RunView, is_left_out: Callable[[Verdict], bool] = _leave_none_out) -> Iterator[ResultRow]:
    """The rows that count: those of ``list_rows`` that no later test repeats.

    No row is made of a verdict that ``is_left_out``, which is asked of each that counts, once.
    """

    def leave_out(verdict: Verdict) -> bool:
        return _is_repeated(view, verdict.test) or is_left_out(verdict)

    return (row for row in _all_rows(view, leave_out) if not _is_repeated(view, row.test))


def list_current_verdicts(view: RunView) -> Iterator[Verdict]:
    """The verdicts of these rows, in their order."""
    strangers: set[Verdict] = set()
    planned = (test.id for each in view.plan for test in each.tests)
    for key in dict.fromkeys(chain(planned, view.verdicts)):
        for verdict in _list_once(view, key, strangers):
            if not _is_repeated(view, verdict.test):
                yield verdict


def _is_repeated(view: RunView, test: str) -> bool:
    return test in view.replaced and test in view.results


def _all_rows(view: RunView, is_left_out: Callable[[Verdict], bool] = _leave_none_out) -> Iterator[ResultRow]:
    stages = {each.number: each.stage for each in view.plan}
    shown = {(v.probe, v.unit): v.shown for verdicts in view.verdicts.values() for v in verdicts}
    in_columns = {result.test.id for result in list_tested(view.passed)}
    blame = Blame(view.findings)
    strangers: set[Verdict] = set()
    planned: set[str] = set()
    for each in view.plan:
        for test in each.tests:
            planned.add(test.id)
            verdicts = view.verdicts.get(test.id, ())
            for verdict in _list_once(view, test.id, strangers):
                if not is_left_out(verdict):
                    yield make_verdict_row(verdict, each.stage, blame, view.results.get(test.id))
            if not verdicts and test.id not in in_columns:
                yield from _unjudged(view, test, each.stage, shown)
    # A bundle may be judged under a name of its own, and an ingested result may have no plan.
    for key in view.verdicts:
        if key not in planned:
            for verdict in _list_once(view, key, strangers):
                if not is_left_out(verdict):
                    yield make_verdict_row(verdict, stages.get(verdict.round, ""), blame)


def _list_once(view: RunView, key: str, strangers: set[Verdict]) -> Iterable[Verdict]:
    """The verdicts that are filed under the test ``key``, each of the session once.

    ``strangers`` are those so far that are filed under another test than their own.
    """
    own = view.verdicts.get(key, ())
    # A verdict is long, and its hash dear: none is taken where a few of their values differ already.
    told = {(each.metric, each.labels, each.kind, each.because) for each in own if each.test == key}
    if len(told) == len(own):
        return own
    once = dict.fromkeys(own)
    new = [
        each
        for each in once
        if each.test == key or (each not in strangers and each not in view.verdicts.get(each.test, ()))
    ]
    strangers.update(each for each in new if each.test != key)
    return new


def list_finding_rows(view: RunView, finding: Finding) -> list[ResultRow]:
    """The rows of the tests that a finding rests on: its verdicts, worst first, then tests that were not judged.

    Of a test with several numbers those count that are its evidence; else the low ones, else all.
    """
    stages = {each.number: each.stage for each in view.plan}
    own, blame = frozenset(finding.evidence), Blame((finding,))
    judged: list[ResultRow] = []
    unjudged: list[Result] = []
    for test in finding.tests:
        result, every = view.results.get(test), view.verdicts.get(test, ())
        if result is not None and not every:
            unjudged.append(result)
        resting = [each for each in every if own.intersection(each.evidence)]
        resting = resting or [each for each in every if each.level in _LOW] or list(every)
        judged += (make_verdict_row(each, stages.get(each.round, ""), blame, result) for each in resting)
    shown = {(row.probe, row.verdict.unit): row.verdict.shown for row in judged if row.verdict is not None}
    others: list[ResultRow] = []
    for result in unjudged:
        rows = list(_unjudged(view, result.test, stages.get(result.test.round, ""), shown))
        others += [row for row in rows if row.measurement is not None and row.measurement.id in own] or rows
    return [*sorted(judged, key=_measure_badness), *others]


_LOW = (Level.FAIL, Level.WATCH)


def _measure_badness(row: ResultRow) -> tuple[int, float]:
    """The key that orders rows of a finding: the worst level, then the share farthest from what was expected."""
    share = None if row.verdict is None else row.verdict.share
    severity = 0 if row.verdict is None else row.verdict.level.severity
    return -severity, -abs(1.0 - share) if share is not None else 0.0


def format_failure(failure: Failure) -> str:
    """Where a test failed and what was seen, in one line."""
    return f"{failure.stage}: {failure.detail}" if failure.detail else failure.stage


def _unjudged(
    view: RunView, test: Test, stage: str, shown: Mapping[tuple[str, Unit | None], Shown]
) -> Iterator[ResultRow]:
    blank = ResultRow(
        state=State.SKIPPED,
        outcome=RowOutcome.WAITING,
        subject=test.target.key,
        nodes=tuple(node.id for node in test.target.nodes),
        stage=stage,
        round=test.round,
        probe=test.probe,
        test=test.id,
        because="not run yet" if view.ended is None else view.because or "not run",
    )
    result = view.results.get(test.id)
    if result is None:
        is_running = test.id in view.running
        yield replace(blank, state=State.RUNNING, because="still running") if is_running else blank
        return
    if result.failure is not None:
        state, because = state_of_failure(result.failure.stage), format_failure(result.failure)
    elif result.measurements:
        state, because = State.MEASURED, f"counted in the sum of {test.bundle}" if test.bundle else "no yardstick"
    else:
        state, because = State.MEASURED, "facts only" if result.facts else "gave nothing to measure"
    row = replace(blank, state=state, outcome=RowOutcome(result.outcome), because=because)
    if result.failure is not None or not result.measurements:
        yield row
        return
    for measurement in result.measurements:
        # A reading does not say whether its rate is bits or bytes; the verdicts of its probe do.
        how = shown.get((test.probe, measurement.unit), Shown.PLAIN)
        yield replace(row, measurement=measurement, shown=how, summed_in=test.bundle or "")


@lru_cache(maxsize=65_536)  # a session has as many subjects as nodes, each in the tables of all metrics
def _natural(text: str) -> str:
    return re.sub(r"[0-9]{1,12}", lambda number: number[0].zfill(12), text)


def sort_text(value: str) -> SortKey:
    """The place of a text that is not empty: n9 before n10."""
    return 0, 0.0, _natural(value)


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """``name`` is the key in files and never changes; ``heading`` is what people read.

    ``numeric`` columns are set to the right. ``shown`` is plain text that may come from a node
    and is already safe for a terminal; it is not escaped for any format.
    """

    name: str
    heading: str
    value: Callable[[ResultRow], Cell]
    shown: Callable[[ResultRow], str]
    numeric: bool = False
    rank: Callable[[ResultRow], float] | None = None

    def sort(self, row: ResultRow) -> SortKey:
        """Numbers by size, words by letters (n9 before n10), the worst state first, what is missing last."""
        if self.rank is not None:
            return (0, self.rank(row), "")
        value = self.value(row)
        if value is None or value == "":
            return (1, 0.0, "")
        return sort_text(value) if isinstance(value, str) else (0, float(value), "")


@lru_cache(maxsize=4096)  # a session has as many as sets of labels, each with the numbers of all nodes
def format_labels(labels: Labels) -> str:
    """``direction=out, size=8, nodes > 4``: the labels of a number, or conditions on them, in one cell."""
    return ", ".join(format_condition(name, value) for name, value in labels)


def _number(name: str) -> Callable[[ResultRow], float | None]:
    """A number of the verdict, or else of the measurement; None where there is none."""
    return lambda row: getattr(row.verdict or row.measurement, name, None)


def _text(name: str) -> Callable[[ResultRow], str]:
    """A text of the verdict, or else of the measurement; empty where there is none."""
    return lambda row: str(getattr(row.verdict or row.measurement, name, None) or "")


def _labels(row: ResultRow) -> str:
    about = row.verdict or row.measurement
    return format_labels(about.labels) if about else ""


def _measured(row: ResultRow) -> str:
    if row.outcome is RowOutcome.FAILED:
        return FAILED_TO_RUN
    if row.verdict:
        return wording.format_measured(row.verdict) or wording.NOT_MEASURED
    if row.measurement:
        return wording.format_quantity(row.measurement.value, row.measurement.unit, row.shown)
    return wording.NOT_MEASURED


def _expected(row: ResultRow) -> str:
    return wording.format_expected(row.verdict) if row.verdict else wording.NOT_MEASURED


def _share_shown(row: ResultRow) -> str:
    return percent(row.verdict.share) if row.verdict and row.verdict.share is not None else wording.NOT_MEASURED


def _from(row: ResultRow) -> str:
    """The clause where there is one: people look it up; the kind of yardstick otherwise."""
    return sanitize(row.verdict.source) if row.verdict and row.verdict.source else _kind(row)


def _required_shown(row: ResultRow) -> str:
    found = row.verdict
    return wording.format_quantity(found.required, found.unit, found.shown) if found else wording.NOT_MEASURED


def _least_shown(row: ResultRow) -> str:
    found = row.verdict
    if found is None or found.least is None:
        return wording.NOT_MEASURED
    return wording.format_quantity(found.least, found.unit, found.shown)


_kind = _text("kind")


def _words(name: str, heading: str, value: Callable[[ResultRow], str]) -> ResultColumn:
    return ResultColumn(name, heading, value, lambda row: sanitize(value(row)))


def _evidence(row: ResultRow) -> str:
    if row.verdict:
        return " ".join(row.verdict.evidence)
    return row.measurement.id if row.measurement else ""


def state_word(row: ResultRow) -> str:
    """The word of a state in tables; a test that ran and failed is not merely unknown."""
    return row.outcome if row.outcome is RowOutcome.FAILED else wording.SIGNS[row.state].word


COLUMNS: tuple[ResultColumn, ...] = (
    ResultColumn("state", "state", lambda row: row.state, state_word, rank=lambda row: row.state.rank),
    _words("outcome", "outcome", lambda row: row.outcome),
    _words("level", "level", _text("level")),
    _words("stage", "stage", lambda row: row.stage),
    ResultColumn("round", "round", lambda row: row.round, lambda row: f"{row.round}", numeric=True),
    _words("subject", "node or pair", lambda row: row.subject),
    _words("nodes", "nodes", lambda row: " ".join(row.nodes)),
    _words("probe", "probe", lambda row: row.probe),
    _words("metric", "metric", _text("metric")),
    _words("labels", "labels", _labels),
    ResultColumn("value", "measured", _number("value"), _measured, numeric=True),
    ResultColumn("expected", "expected", _number("expected"), _expected, numeric=True),
    ResultColumn("required", "required", _number("required"), _required_shown, numeric=True),
    ResultColumn("least", "low end", _number("least"), _least_shown, numeric=True),
    _words("unit", "unit", _text("unit")),
    ResultColumn("share", "of exp", _number("share"), _share_shown, numeric=True),
    _words("text", "found", _text("text")),
    _words("expected_text", "declared", _text("expected_text")),
    ResultColumn("from", "from", _kind, _from),
    _words("source", "source", _text("source")),
    _words("limiting", "limited by", _text("limiting")),
    _words("affected_by", "affected by", lambda row: row.affected_by),
    _words("because", "because", lambda row: row.because),
    _words("evidence", "evidence", _evidence),
    _words("test", "test", lambda row: row.test),
)

COLUMNS_BY_NAME: Mapping[str, ResultColumn] = {column.name: column for column in COLUMNS}


def select_columns(*names: str) -> tuple[ResultColumn, ...]:
    """Some columns by name, in the order asked for."""
    return tuple(COLUMNS_BY_NAME[name] for name in names)
