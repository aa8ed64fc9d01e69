"""Results that were not measured from here, put into a session: outputs of a batch job, or taken by hand.

They are planned, read by their probe, judged and stored like every other result. No node is touched.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from benchconsole.console.session.captures import (
    CaptureBatch,
    CapturedOutput,
    EarlierCaptures,
    GivenConditions,
    drop_marks,
    plan_captures,
    read_captures,
)
from benchconsole.console.session.metadata import COHORT_NOTE, SessionChoice, make_new_session, name_judgement
from benchconsole.console.session.round_judging import make_judging_context
from benchconsole.console.view.wording import format_moment, format_quantity
from benchconsole.probes.api import Probe
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.judgement import ClosedRound, CloseReason
from benchconsole.probes.model.labels import tell_labels
from benchconsole.probes.model.measuring import Reading, Result, Round
from benchconsole.store.session_summary import SessionState
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric

if TYPE_CHECKING:
    from benchconsole.store.session_store import SessionStore
    from benchconsole.store.store import Store

BESIDE = "several outputs"
"""The kind of the notes on tests of which a session has several outputs that count."""

MOST_TOLD = 20
"""Such tests that are told one by one; those beyond are counted."""


async def ingest(
    store: "Store", fabric: Fabric, probe: Probe, found: Sequence[CapturedOutput], *, choice: SessionChoice,
    given: GivenConditions,
) -> str:  # fmt: skip
    """Store the outputs as a session of its own; its id. PlanError as ``read_captures`` and ``plan_captures``."""
    batch = plan_captures(probe, read_captures(fabric, probe, found, given), given, EarlierCaptures())
    new = make_new_session(fabric, choice, given.at, is_planned=False)
    key = await store.create_session(new, tuple(planned for planned, _ in batch.rounds))
    await _store_batch(store.session(key), fabric, probe, batch, given)
    await store.session(key).end(at=given.at, complete=True)
    return key


async def ingest_into(
    store: "Store", key: str, fabric: Fabric, probe: Probe, found: Sequence[CapturedOutput], *, given: GivenConditions
) -> None:
    """Add the outputs to a stored session, of which ``fabric`` is the topology, as rounds of their own.

    The session began with the first of its outputs and ended with the last. PlanError as ``ingest``, and for a cohort
    that contradicts that of the session.
    """
    session = store.session(key)
    before = session.describe()
    given = _add_cohorts(given, SessionChoice(options=before.new.options).cohorts)
    earlier = EarlierCaptures(session.read_plan(fabric))
    for closed in session.read_rounds(fabric, judged=False):
        if closed.round.stage == given.name_stage(probe):
            for result in closed.results:
                earlier.add(result, closed.round.stage)
    batch = plan_captures(probe, read_captures(fabric, probe, found, given), given, earlier)
    await session.claim()
    await session.extend_plan([planned for planned, _ in batch.rounds], began=given.at)
    await _store_batch(session, fabric, probe, batch, given)
    ended = max(before.ended if before.ended is not None else given.at, given.at)
    await session.end(at=ended, complete=before.state is SessionState.COMPLETE, because=before.because)


def _add_cohorts(given: GivenConditions, cohorts: Mapping[str, str]) -> GivenConditions:
    """The conditions with those that hold for a whole session."""
    for name, value in cohorts.items():
        if given.cohorts.get(name, value) != value:
            raise PlanError(
                f"found the cohort {name}={given.cohorts[name]}, and {name}={value} of the whole session, expected "
                "that: bring other ones into a session of their own"
            )
    return replace(given, cohorts={**cohorts, **given.cohorts})


async def _store_batch(
    session: "SessionStore", fabric: Fabric, probe: Probe, batch: CaptureBatch, given: GivenConditions
) -> None:
    at = given.at
    await store_rounds(session, fabric, {probe.name: probe}, batch.rounds, at)
    for name, value in given.cohorts.items():
        await session.append_note(COHORT_NOTE, f"{name}={value}: {given.name_stage(probe)}", at)
    told = [words for result, others in batch.beside if (words := _tell_difference(probe, result, others))]
    for words in told[:MOST_TOLD]:
        await session.append_note(BESIDE, words, at)
    if len(told) > MOST_TOLD:
        await session.append_note(BESIDE, f"and of {len(told) - MOST_TOLD:,} more tests, all of which count", at)


def _tell_difference(probe: Probe, result: Result, others: Sequence[Result]) -> str:
    """How an output differs from others of its test; empty where all their numbers are alike."""
    shown = {metric.name: metric.shown for metric in probe.metrics}
    in_order = (*others, result)
    values = group_by_key(
        ((reading.metric, drop_marks(reading.labels)), (reading, each))
        for each in in_order
        for reading in each.measurements
    )
    unlike = [own for own in values.values() if len({reading.value for reading, _ in own}) > 1]
    if not unlike:
        return ""
    first = max(unlike, key=_find_spread)
    name = " ".join((first[0][0].metric, *tell_labels(drop_marks(first[0][0].labels))))
    told = ", ".join(
        f"{format_quantity(reading.value, reading.unit, shown[reading.metric])} of {format_moment(each.started)}"
        for reading, each in first
    )
    more = f", and {len(unlike) - 1:,} more numbers differ" if len(unlike) > 1 else ""
    return f"{result.test.target.key} {name}: {told}{more}; nobody said which replaces which, so each is judged"


def _find_spread(numbers: Sequence[tuple[Reading, Result]]) -> float:
    """By which share of the largest the numbers differ."""
    values = [abs(reading.value) for reading, _ in numbers]
    return (max(values) - min(values)) / max(values) if max(values) else 0.0


async def store_rounds(
    session: "SessionStore", fabric: Fabric, probes: Mapping[str, Probe],
    rounds: Sequence[tuple[Round, tuple[Result, ...]]], at: float,
) -> None:  # fmt: skip
    """Judge planned rounds with their results, and store them with them; ``at`` is when they were measured."""
    context, judged_by = make_judging_context(fabric, probes), name_judgement(fabric)
    for each, results in rounds:
        attempt = await session.begin_round(each.number, at=at)
        closed = ClosedRound(each, results, CloseReason.COMPLETE, at, at)
        verdicts = judge_round(context, closed)
        await session.close_round(replace(closed, verdicts=verdicts, attempt=attempt, judged_by=judged_by))
