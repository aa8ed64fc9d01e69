"""Result rows and their columns: the name of a column in files, its heading, its value in a row, how to sort by it.

Tables on screen and reports share these. ``value`` is for machines (base units, empty is None),
``shown`` for people. Escaping is left to the file formats.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view import wording
from benchconsole.console.view.blame import Blame
from benchconsole.console.view.run_view import RunView, State, state_of, state_of_failure, superseding
from benchconsole.probes.model.judgement import Verdict
from benchconsole.probes.model.measuring import Failure, Labels, Reading, Result, Test
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
    """One verdict; or one number that was not judged by itself; or one test that gave no number."""

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


def make_verdict_row(verdict: Verdict, stage: str, blame: Blame) -> ResultRow:
    """The row of one verdict; affected where a finding explains its low value by another element."""
    affected_by = blame.affected_by(verdict)
    return ResultRow(
        state=State.AFFECTED if affected_by else state_of(verdict),
        outcome=RowOutcome.TESTED,
        subject=verdict.subject,
        nodes=verdict.nodes,
        stage=stage,
        round=verdict.round,
        probe=verdict.probe,
        test=verdict.test,
        because=verdict.because,
        verdict=verdict,
        affected_by=affected_by,
    )


def list_rows(view: RunView) -> Iterator[ResultRow]:
    """Every row of a session in the order of its plan; each verdict once, no test left out.

    What a later test repeats says so in its outcome: reports for people leave it out.
    """
    newest = superseding(view)
    for row in _all_rows(view):
        repeated = row.test in view.results and row.test not in newest
        yield replace(row, outcome=RowOutcome.REPEATED) if repeated else row


def list_current_rows(view: RunView) -> Iterator[ResultRow]:
    """The rows that count: those of ``list_rows`` that no later test repeats."""
    return (row for row in list_rows(view) if row.outcome is not RowOutcome.REPEATED)


def _all_rows(view: RunView) -> Iterator[ResultRow]:
    stages = {each.number: each.stage for each in view.plan}
    shown = {(v.probe, v.unit): v.shown for verdicts in view.verdicts.values() for v in verdicts}
    blame = Blame(view.findings)
    seen: set[Verdict] = set()
    planned: set[str] = set()
    for each in view.plan:
        for test in each.tests:
            planned.add(test.id)
            for verdict in view.verdicts.get(test.id, ()):
                if verdict not in seen:
                    seen.add(verdict)
                    yield _checked(make_verdict_row(verdict, each.stage, blame), view.results.get(test.id))
            if not view.verdicts.get(test.id):
                yield from _unjudged(view, test, each.stage, shown)
    # A bundle may be judged under a name of its own, and an ingested result may have no plan.
    for key, verdicts in view.verdicts.items():
        if key not in planned:
            yield from (
                make_verdict_row(verdict, stages.get(verdict.round, ""), blame)
                for verdict in verdicts
                if verdict not in seen
            )
            seen.update(verdicts)


def format_failure(failure: Failure) -> str:
    """Where a test failed and what was seen, in one line."""
    return f"{failure.stage}: {failure.detail}" if failure.detail else failure.stage


def _checked(row: ResultRow, result: Result | None) -> ResultRow:
    # A failed test may carry a verdict "unknown"; the row must still say that nothing was measured.
    if result is None or result.failure is None:
        return row
    state, because = state_of_failure(result.failure.stage), row.because or format_failure(result.failure)
    return replace(row, outcome=RowOutcome(result.outcome), state=state, because=because)


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
        because="not run yet",
    )
    result = view.results.get(test.id)
    if result is None:
        yield _not_run(view, blank)
    elif result.failure is not None:
        state, because = state_of_failure(result.failure.stage), format_failure(result.failure)
        yield replace(blank, state=state, outcome=RowOutcome(result.outcome), because=because)
    elif result.measurements:
        because = f"counted in the sum of {test.bundle}" if test.bundle else "no yardstick"
        measured = replace(blank, state=State.MEASURED, outcome=RowOutcome.TESTED, because=because)
        for measurement in result.measurements:
            # A reading does not say whether its rate is bits or bytes; the verdicts of its probe do.
            how = shown.get((test.probe, measurement.unit), Shown.PLAIN)
            yield replace(measured, measurement=measurement, shown=how)
    else:
        because = "facts only" if result.facts else "gave nothing to measure"
        yield replace(blank, state=State.MEASURED, outcome=RowOutcome.TESTED, because=because)


def _not_run(view: RunView, blank: ResultRow) -> ResultRow:
    if blank.test in view.running:
        return replace(blank, state=State.RUNNING, because="still running")
    return blank if view.ended is None else replace(blank, because=view.because or "not run")


def _natural(text: str) -> str:
    return re.sub(r"[0-9]{1,12}", lambda number: number[0].zfill(12), text)


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
        return (0, 0.0, _natural(value)) if isinstance(value, str) else (0, float(value), "")


def format_labels(labels: Labels) -> str:
    """``direction=out, size=8``: the labels of a number in one cell."""
    return ", ".join(f"{name}={value}" for name, value in labels)


def _metric(row: ResultRow) -> str:
    if row.verdict:
        return row.verdict.metric
    return row.measurement.metric if row.measurement else ""


def _labels(row: ResultRow) -> str:
    if row.verdict:
        return format_labels(row.verdict.labels)
    return format_labels(row.measurement.labels) if row.measurement else ""


def _value(row: ResultRow) -> Cell:
    if row.verdict:
        return row.verdict.value
    return row.measurement.value if row.measurement else None


def _unit(row: ResultRow) -> str:
    if row.verdict:
        return row.verdict.unit or ""
    return row.measurement.unit if row.measurement else ""


def _measured(row: ResultRow) -> str:
    if row.outcome is RowOutcome.FAILED:
        return FAILED_TO_RUN
    if row.verdict:
        return wording.format_measured(row.verdict) or wording.NOT_MEASURED
    if row.measurement:
        reading = row.measurement
        return wording.format_quantity(reading.value, reading.unit, row.shown)
    return wording.NOT_MEASURED


def _expected(row: ResultRow) -> str:
    return wording.format_expected(row.verdict) if row.verdict else wording.NOT_MEASURED


def _share(row: ResultRow) -> float | None:
    return row.verdict.share if row.verdict else None


def _share_shown(row: ResultRow) -> str:
    share = _share(row)
    return wording.NOT_MEASURED if share is None else percent(share)


def _kind(row: ResultRow) -> str:
    return row.verdict.kind if row.verdict else ""


def _from(row: ResultRow) -> str:
    """The clause where there is one: people look it up; the kind of yardstick otherwise."""
    return sanitize(row.verdict.source) if row.verdict and row.verdict.source else _kind(row)


def _required(row: ResultRow) -> Cell:
    return row.verdict.required if row.verdict else None


def _required_shown(row: ResultRow) -> str:
    if row.verdict is None:
        return wording.NOT_MEASURED
    return wording.format_quantity(row.verdict.required, row.verdict.unit, row.verdict.shown)


def _field(name: str) -> Callable[[ResultRow], str]:
    """A text field of the verdict, empty where the row has none."""

    def read(row: ResultRow) -> str:
        return str(getattr(row.verdict, name)) if row.verdict else ""

    return read


def _words(name: str, heading: str, value: Callable[[ResultRow], str]) -> ResultColumn:
    return ResultColumn(name, heading, value, lambda row: sanitize(value(row)))


def _evidence(row: ResultRow) -> str:
    if row.verdict:
        return " ".join(row.verdict.evidence)
    return row.measurement.id if row.measurement else ""


def _level(row: ResultRow) -> str:
    return row.verdict.level if row.verdict else ""


def state_word(row: ResultRow) -> str:
    """The word of a state in tables; a test that ran and failed is not merely unknown."""
    return row.outcome if row.outcome is RowOutcome.FAILED else wording.SIGNS[row.state].word


COLUMNS: tuple[ResultColumn, ...] = (
    ResultColumn("state", "state", lambda row: row.state, state_word, rank=lambda row: row.state.rank),
    _words("outcome", "outcome", lambda row: row.outcome),
    _words("level", "level", _level),
    _words("stage", "stage", lambda row: row.stage),
    ResultColumn("round", "round", lambda row: row.round, lambda row: f"{row.round}", numeric=True),
    _words("subject", "node or pair", lambda row: row.subject),
    _words("nodes", "nodes", lambda row: " ".join(row.nodes)),
    _words("probe", "probe", lambda row: row.probe),
    _words("metric", "metric", _metric),
    _words("labels", "labels", _labels),
    ResultColumn("value", "measured", _value, _measured, numeric=True),
    ResultColumn(
        "expected", "expected", lambda row: row.verdict.expected if row.verdict else None, _expected, numeric=True
    ),
    ResultColumn("required", "required", _required, _required_shown, numeric=True),
    _words("unit", "unit", _unit),
    ResultColumn("share", "of exp", _share, _share_shown, numeric=True),
    _words("text", "found", _field("text")),
    _words("expected_text", "declared", _field("expected_text")),
    ResultColumn("from", "from", _kind, _from),
    _words("source", "source", _field("source")),
    _words("limiting", "limited by", _field("limiting")),
    _words("affected_by", "affected by", lambda row: row.affected_by),
    _words("because", "because", lambda row: row.because),
    _words("evidence", "evidence", _evidence),
    _words("test", "test", lambda row: row.test),
)

COLUMNS_BY_NAME: Mapping[str, ResultColumn] = {column.name: column for column in COLUMNS}


def select_columns(*names: str) -> tuple[ResultColumn, ...]:
    """Some columns by name, in the order asked for."""
    return tuple(COLUMNS_BY_NAME[name] for name in names)
