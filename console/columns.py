"""Owns every column once: its name in files, its heading, its value in a row, and how to sort by it.

Tables on screen and reports share these. ``value`` is for machines (base units, empty is None),
``shown`` for people. Refuses to judge, to colour, and to know a file format: escaping is the
format's own affair.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from console import wording
from console.view import RunView, State, state_of, state_of_failure, superseding
from probes.judging.verdict import Kind, Verdict
from probes.model import Failure, Labels, Measurement, Result, Test
from topology.units import Shown, Unit, percent

Cell = str | float | int | None
FAILED_TO_RUN = "✗ err"
SortKey = tuple[int, float, str]


class Outcome(StrEnum):
    """What became of the test behind a row."""

    TESTED = "tested"
    FAILED = "failed"
    UNREACHABLE = "unreachable"
    SKIPPED = "skipped"
    REPEATED = "repeated later"
    WAITING = "not run"


@dataclass(frozen=True, slots=True)
class Row:
    """One verdict; or one number that was not judged by itself; or one test that gave no number."""

    state: State
    outcome: Outcome
    subject: str
    nodes: tuple[str, ...]
    stage: str
    round: int
    probe: str
    test: str
    because: str
    verdict: Verdict | None = None
    measurement: Measurement | None = None
    shown: Shown = Shown.PLAIN


def verdict_row(verdict: Verdict, stage: str) -> Row:
    """The row of one verdict."""
    return Row(
        state=state_of(verdict),
        outcome=Outcome.TESTED,
        subject=verdict.subject,
        nodes=verdict.nodes,
        stage=stage,
        round=verdict.round,
        probe=verdict.probe,
        test=verdict.test,
        because=verdict.because,
        verdict=verdict,
    )


def rows(view: RunView) -> Iterator[Row]:
    """Every row of a session in the order of its plan; each verdict once, no test left out.

    What a later test repeats says so in its outcome: reports for people leave it out.
    """
    newest = superseding(view)
    for row in _all_rows(view):
        repeated = row.test in view.results and row.test not in newest
        yield replace(row, outcome=Outcome.REPEATED) if repeated else row


def standing(view: RunView) -> Iterator[Row]:
    """The rows that count: those of ``rows`` that no later test repeats."""
    return (row for row in rows(view) if row.outcome is not Outcome.REPEATED)


def _all_rows(view: RunView) -> Iterator[Row]:
    stages = {each.number: each.stage for each in view.plan}
    shown = {(v.probe, v.unit): v.shown for verdicts in view.verdicts.values() for v in verdicts}
    seen: set[Verdict] = set()
    planned: set[str] = set()
    for each in view.plan:
        for test in each.tests:
            planned.add(test.id)
            for verdict in view.verdicts.get(test.id, ()):
                if verdict not in seen:
                    seen.add(verdict)
                    yield _checked(verdict_row(verdict, each.stage), view.results.get(test.id))
            if not view.verdicts.get(test.id):
                yield from _unjudged(view, test, each.stage, shown)
    # A bundle may be judged under a name of its own, and an ingested result may have no plan.
    for key, verdicts in view.verdicts.items():
        if key not in planned:
            yield from (
                verdict_row(verdict, stages.get(verdict.round, "")) for verdict in verdicts if verdict not in seen
            )
            seen.update(verdicts)


def outcome_of(result: Result) -> Outcome:
    """What became of one test that ended, counted as ``console.view.coverage`` counts."""
    if result.failure is None:
        return Outcome.TESTED
    if result.failure.stage.means_unreachable:
        return Outcome.UNREACHABLE
    return Outcome.SKIPPED if result.failure.stage.means_skipped else Outcome.FAILED


def failure_words(failure: Failure) -> str:
    """Where a test failed and what was seen, in one line."""
    return f"{failure.stage}: {failure.detail}" if failure.detail else failure.stage


def _checked(row: Row, result: Result | None) -> Row:
    # A failed test may carry a verdict "unknown"; the row must still say that nothing was measured.
    if result is None or result.failure is None:
        return row
    state, because = state_of_failure(result.failure.stage), row.because or failure_words(result.failure)
    return replace(row, outcome=outcome_of(result), state=state, because=because)


def _unjudged(view: RunView, test: Test, stage: str, shown: Mapping[tuple[str, Unit | None], Shown]) -> Iterator[Row]:
    blank = Row(
        state=State.SKIPPED,
        outcome=Outcome.WAITING,
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
        state, because = state_of_failure(result.failure.stage), failure_words(result.failure)
        yield replace(blank, state=state, outcome=outcome_of(result), because=because)
    elif result.measurements:
        because = f"counted in the sum of {test.bundle}" if test.bundle else "no yardstick"
        measured = replace(blank, state=State.MEASURED, outcome=Outcome.TESTED, because=because)
        for measurement in result.measurements:
            # A reading does not say whether its rate is bits or bytes; the verdicts of its probe do.
            how = shown.get((test.probe, measurement.reading.unit), Shown.PLAIN)
            yield replace(measured, measurement=measurement, shown=how)
    else:
        because = "facts only" if result.facts else "gave nothing to measure"
        yield replace(blank, state=State.MEASURED, outcome=Outcome.TESTED, because=because)


def _not_run(view: RunView, blank: Row) -> Row:
    if blank.test in view.running:
        return replace(blank, state=State.RUNNING, because="still running")
    return blank if view.ended is None else replace(blank, because=view.because or "not run")


def _natural(text: str) -> str:
    return re.sub(r"[0-9]{1,12}", lambda number: number[0].zfill(12), text)


@dataclass(frozen=True, slots=True)
class Column:
    """``name`` is the key in files and never changes; ``heading`` is what people read.

    ``numeric`` columns are set to the right. ``shown`` is plain text that may come from a node
    and is already safe for a terminal; it is not escaped for any format.
    """

    name: str
    heading: str
    value: Callable[[Row], Cell]
    shown: Callable[[Row], str]
    numeric: bool = False
    rank: Callable[[Row], float] | None = None

    def sort(self, row: Row) -> SortKey:
        """Numbers by size, words by letters (n9 before n10), the worst state first, what is missing last."""
        if self.rank is not None:
            return (0, self.rank(row), "")
        value = self.value(row)
        if value is None or value == "":
            return (1, 0.0, "")
        return (0, 0.0, _natural(value)) if isinstance(value, str) else (0, float(value), "")


def labels_text(labels: Labels) -> str:
    """``direction=out, size=8``: the labels of a number in one cell."""
    return ", ".join(f"{name}={value}" for name, value in labels)


def _metric(row: Row) -> str:
    if row.verdict:
        return row.verdict.metric
    return row.measurement.reading.metric if row.measurement else ""


def _labels(row: Row) -> str:
    if row.verdict:
        return labels_text(row.verdict.labels)
    return labels_text(row.measurement.reading.labels) if row.measurement else ""


def _value(row: Row) -> Cell:
    if row.verdict:
        return row.verdict.value
    return row.measurement.reading.value if row.measurement else None


def _unit(row: Row) -> str:
    if row.verdict:
        return row.verdict.unit or ""
    return row.measurement.reading.unit if row.measurement else ""


def _measured(row: Row) -> str:
    if row.outcome is Outcome.FAILED:
        return FAILED_TO_RUN
    if row.verdict:
        return wording.measured(row.verdict) or wording.NOT_MEASURED
    if row.measurement:
        reading = row.measurement.reading
        return wording.quantity(reading.value, reading.unit, row.shown)
    return wording.NOT_MEASURED


def _expected(row: Row) -> str:
    return wording.expected(row.verdict) if row.verdict else wording.NOT_MEASURED


def _share(row: Row) -> float | None:
    return row.verdict.share if row.verdict else None


def _share_shown(row: Row) -> str:
    share = _share(row)
    return wording.NOT_MEASURED if share is None else percent(share)


def _kind(row: Row) -> str:
    return row.verdict.kind if row.verdict and row.verdict.kind is not Kind.NONE else ""


def _from(row: Row) -> str:
    """The clause where there is one: people look it up; the kind of yardstick otherwise."""
    return wording.plain(row.verdict.source) if row.verdict and row.verdict.source else _kind(row)


def _required(row: Row) -> Cell:
    return row.verdict.required if row.verdict else None


def _required_shown(row: Row) -> str:
    if row.verdict is None:
        return wording.NOT_MEASURED
    return wording.quantity(row.verdict.required, row.verdict.unit, row.verdict.shown)


def _field(name: str) -> Callable[[Row], str]:
    """A text field of the verdict, empty where the row has none."""

    def read(row: Row) -> str:
        return str(getattr(row.verdict, name)) if row.verdict else ""

    return read


def _words(name: str, heading: str, value: Callable[[Row], str]) -> Column:
    return Column(name, heading, value, lambda row: wording.plain(value(row)))


def _evidence(row: Row) -> str:
    if row.verdict:
        return " ".join(row.verdict.evidence)
    return row.measurement.id if row.measurement else ""


def _level(row: Row) -> str:
    return row.verdict.level if row.verdict else ""


def state_word(row: Row) -> str:
    """The word of a state in tables; a test that ran and failed is not merely unknown."""
    return row.outcome if row.outcome is Outcome.FAILED else wording.SIGNS[row.state].word


COLUMNS: tuple[Column, ...] = (
    Column("state", "state", lambda row: row.state, state_word, rank=lambda row: row.state.rank),
    _words("outcome", "outcome", lambda row: row.outcome),
    _words("level", "level", _level),
    _words("stage", "stage", lambda row: row.stage),
    Column("round", "round", lambda row: row.round, lambda row: f"{row.round}", numeric=True),
    _words("subject", "node or pair", lambda row: row.subject),
    _words("nodes", "nodes", lambda row: " ".join(row.nodes)),
    _words("probe", "probe", lambda row: row.probe),
    _words("metric", "metric", _metric),
    _words("labels", "labels", _labels),
    Column("value", "measured", _value, _measured, numeric=True),
    Column("expected", "expected", lambda row: row.verdict.expected if row.verdict else None, _expected, numeric=True),
    Column("required", "required", _required, _required_shown, numeric=True),
    _words("unit", "unit", _unit),
    Column("share", "of exp", _share, _share_shown, numeric=True),
    _words("text", "found", _field("text")),
    _words("expected_text", "declared", _field("expected_text")),
    Column("from", "from", _kind, _from),
    _words("source", "source", _field("source")),
    _words("limiting", "limited by", _field("limiting")),
    _words("affected_by", "affected by", _field("affected_by")),
    _words("because", "because", lambda row: row.because),
    _words("evidence", "evidence", _evidence),
    _words("test", "test", lambda row: row.test),
)

BY_NAME: Mapping[str, Column] = {column.name: column for column in COLUMNS}


def chosen(*names: str) -> tuple[Column, ...]:
    """Some columns by name, in the order asked for."""
    return tuple(BY_NAME[name] for name in names)
