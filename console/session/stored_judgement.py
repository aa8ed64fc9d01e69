"""A stored session judged again, whole: with its own criteria or with others, in columns where it is large."""

import time
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from benchconsole.console.session.baseline import add_baseline
from benchconsole.console.session.criteria_changes import describe_choice
from benchconsole.console.session.judged_fabric import load_judged_fabric
from benchconsole.console.session.metadata import name_judgement
from benchconsole.console.session.round_judging import RoundJudging
from benchconsole.console.session.stored_fabric import describe_fabric
from benchconsole.probes.judging.judge import JudgedTable, tell_table
from benchconsole.probes.model.detectable_loss import DetectableLoss
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.judgement import ClosedRound, Finding, Verdict
from benchconsole.probes.model.kept_readings import hold_readings, release_readings
from benchconsole.probes.model.measurement_table import MeasurementTable
from benchconsole.probes.model.measuring import Round
from benchconsole.store.model import ChosenCriteria, JudgedMeasurements, SessionNote
from benchconsole.store.reading.loss_reading import read_losses
from benchconsole.store.reading.measurement_reading import read_unjudged
from benchconsole.store.reading.passed_reading import count_measurements, count_passed, read_full_results, read_told
from benchconsole.store.reading.report_reading import read_report_basis
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.selection import fold

if TYPE_CHECKING:
    from benchconsole.probes.api import Probe
    from benchconsole.store.session_store import SessionStore

LARGE = 20_000
"""Measurements from which on a session is judged in columns, and verdicts that passed stay there."""


class JudgedRound(NamedTuple):
    """A round that was judged: as it is; or, of a plain one, as it was read, with its measurements and verdicts."""

    closed: ClosedRound
    measured: MeasurementTable | None
    judged: JudgedTable | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)  # asyncio words the result of a task, and drops the words
class JudgedSession:
    """A stored session as it is judged: with these criteria, and its rounds in the order of storing.

    ``losses`` is None where they are not stored.
    """

    fabric: Fabric
    plan: tuple[Round, ...]
    rounds: tuple[ClosedRound, ...]
    findings: tuple[Finding, ...]
    losses: tuple[DetectableLoss, ...] | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NewJudgement:
    """The judgement of the stored ``session``, before it is stored: the arguments of ``append_verdicts``."""

    session: "SessionStore"
    verdicts: Mapping[tuple[int, int], Sequence[Verdict]]
    measured: Mapping[tuple[int, int], JudgedMeasurements]
    judged: JudgedSession
    judged_by: str
    chosen: ChosenCriteria
    notes: Sequence[SessionNote]
    basis: str

    async def keep(self) -> str | None:
        """Store it beside the earlier ones; from then on it counts.

        The basis of reports on the session with it; None where something of the session has changed since it was read.
        """
        return await self.session.append_verdicts(
            self.verdicts,
            judged_by=self.judged_by,
            measured=self.measured,
            findings=self.judged.findings,
            losses=self.judged.losses,
            chosen=self.chosen,
            notes=self.notes,
            basis=self.basis,
        )


def judge_stored(
    session: "SessionStore",
    probes: Mapping[str, "Probe"],
    criteria_from: Fabric | None = None,
    *,
    who: str = "",
    clock: Callable[[], float] = time.time,
) -> NewJudgement:
    """The judgement of every stored round of a session; ``criteria_from`` replaces the criteria of its own file.

    Touches no node. Once it is stored, the criteria count with it, together with what differs from the file and ``who``
    asked for it. PlanError for criteria that name nodes that the session does not have.
    """
    new = session.describe().new
    described = describe_fabric(new)
    fabric = described
    if criteria_from is not None:
        _refuse_strangers(described, criteria_from)
        fabric = replace(described, criteria=criteria_from.criteria)
    fabric = add_baseline(fabric, session.database, session.id, new.started)
    judging = RoundJudging(fabric, probes)
    basis, plan = read_report_basis(session), session.read_plan(described)
    plain = judging.find_plain(plan) if count_measurements(session) >= LARGE else ()
    verdicts: dict[tuple[int, int], Sequence[Verdict]] = {}
    columns: dict[tuple[int, int], JudgedMeasurements] = {}
    rounds: list[JudgedRound] = []
    for stored, measured in read_unjudged(session, described, lambda planned: planned.number in plain, plan=plan):
        place = stored.round.number, stored.attempt
        hold_readings(stored.results)
        if measured is None:
            again = judging.judge(stored)
            verdicts[place] = again.verdicts
            rounds.append(JudgedRound(again, None, None))
        else:
            table = judging.judge_table(stored, measured.table)
            verdicts[place], columns[place] = table.hardware, JudgedMeasurements(measured.numbers, table.measured)
            again = table.low
            rounds.append(JudgedRound(stored, measured.table, table))
        judging.add_round(again, measured.table if measured is not None else None)
        release_readings(stored.results)
    findings, now = judging.rank_findings(), clock()
    source = criteria_from.file if criteria_from is not None else ""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
    judged_by = f"{name_judgement(fabric)}, again {stamp}"
    in_columns = judging.find_columns(plan, [each.closed.round.number for each in rounds])
    told = tuple(replace(_tell(session, each, in_columns), judged_by=judged_by) for each in rounds)
    return NewJudgement(
        session,
        verdicts,
        columns,
        JudgedSession(fabric, plan, told, findings, judging.sum_up_losses()),
        judged_by,
        ChosenCriteria(None if criteria_from is None else fabric.criteria, source, now),
        [SessionNote("criteria", text, now) for text in describe_choice(described, criteria_from, who)],
        basis,
    )


def _tell(session: "SessionStore", each: JudgedRound, in_columns: Container[int]) -> ClosedRound:
    """A round as it was judged, with everything that reports tell of it."""
    closed, measured, judged = each
    if measured is None or judged is None:
        return closed
    told, tests = tell_table(closed, measured, judged, in_columns=closed.round.number in in_columns)
    return replace(told, results=read_full_results(session, closed, tests))


def read_large(session: "SessionStore", probes: Mapping[str, "Probe"]) -> JudgedSession | None:
    """A stored session as it was judged last, what passed in columns; None where it is not large enough for that."""
    if count_passed(session) < LARGE:
        return None
    findings = session.read_findings()
    if findings is None:
        return None
    fabric = load_judged_fabric(session)
    plan = session.read_plan(fabric)
    closed = [number for number, _ in session.list_closed_rounds()]
    in_columns = RoundJudging(fabric, probes).find_columns(plan, closed)
    rounds = read_told(session, fabric, lambda planned: planned.number in in_columns, plan=plan)
    return JudgedSession(fabric, plan, tuple(rounds), findings, read_losses(session))


def _refuse_strangers(described: Fabric, criteria_from: Fabric) -> None:
    for each in criteria_from.criteria:
        strangers = sorted(each.nodes - described.nodes.keys())
        if strangers:
            raise PlanError(
                f"{criteria_from.file}: the criterion on {each.metric} names {fold(strangers)}, "
                f"expected nodes of {described.name}, which the session is of"
            )
