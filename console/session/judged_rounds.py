"""The closed rounds of a session: judged, with the findings over all of them, and a stored session judged again."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from benchconsole.console.session.baseline import add_baseline
from benchconsole.console.session.criteria_changes import describe_choice
from benchconsole.console.session.metadata import name_judgement
from benchconsole.console.session.stored_fabric import describe_fabric
from benchconsole.probes.judging.confirmation import ConfirmationBounds, plan_confirmation
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.detectable_loss import DetectableLoss, DetectableLosses
from benchconsole.probes.judging.findings import Findings
from benchconsole.probes.judging.judge import JudgedTable, find_plain, judge_round, judge_table, tell_table
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.judgement import ClosedRound, Finding, Verdict
from benchconsole.probes.model.kept_readings import hold_readings, release_readings
from benchconsole.probes.model.measurement_table import MeasurementTable
from benchconsole.probes.model.measuring import Metric, Round
from benchconsole.probes.model.probe_names import INVENTORY
from benchconsole.probes.model.repeats import find_repeats
from benchconsole.store.model import ChosenCriteria, JudgedMeasurements, SessionNote
from benchconsole.store.reading.criteria_reading import read_criteria
from benchconsole.store.reading.loss_reading import read_losses
from benchconsole.store.reading.measurement_reading import read_unjudged
from benchconsole.store.reading.passed_reading import count_measurements, count_passed, read_full_results, read_told
from benchconsole.store.reading.report_reading import read_report_basis
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.selection import fold

if TYPE_CHECKING:
    from benchconsole.probes.api import Probe
    from benchconsole.store.session_store import SessionStore


LARGE = 20_000
"""Measurements from which on a session is judged in columns, and verdicts that passed stay there."""


def make_judging_context(fabric: Fabric, probes: Mapping[str, "Probe"]) -> JudgingContext:
    """The context in which rounds of ``probes`` on ``fabric`` are judged."""
    metrics: dict[str, Metric] = {metric.name: metric for probe in probes.values() for metric in probe.metrics}
    return JudgingContext(fabric, metrics)


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


class JudgedRounds:
    """Judged rounds by number, and the findings over all of them.

    Findings are computed when they are asked for, and only where no known ones cover all rounds.
    """

    def __init__(self, fabric: Fabric, probes: Mapping[str, "Probe"]) -> None:
        self.by_number: dict[int, ClosedRound] = {}
        self._context = make_judging_context(fabric, probes)
        self._probes = probes
        self._unread: list[tuple[ClosedRound, MeasurementTable | None]] = []
        self._held: list[ClosedRound] = []
        self.known_findings: tuple[Finding, ...] | None = ()
        """``findings`` where they were computed or restored since the last round was added, else None."""
        self.known_losses: tuple[DetectableLoss, ...] | None = ()
        """The same of ``losses``."""

    @cached_property
    def _findings(self) -> Findings:
        # They know something of each element: memory that a session needs only once it is judged.
        return Findings(self._context)

    @cached_property
    def _losses(self) -> DetectableLosses:
        return DetectableLosses(self._context)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings over all rounds so far."""
        if self.known_findings is None:
            self.known_findings = self._rank()
        return self.known_findings

    @property
    def losses(self) -> tuple[DetectableLoss, ...]:
        """The smallest loss that the rounds so far could have shown, by kind of element."""
        if self.known_losses is None:
            if self.known_findings is None:
                self.known_findings = self._rank()
            self._read_waiting()
            self.known_losses = self._losses.sum_up(steers=self._findings.steers)
        return self.known_losses

    def _rank(self) -> tuple[Finding, ...]:
        """The findings, computed; after that it is known whether source ports mean what the file says."""
        self._read_waiting()
        found = self._findings.rank()
        for judged in self._held:
            release_readings(judged.results)
        self._held.clear()
        return found

    def _read_waiting(self) -> None:
        """Read the flows of rounds that were not read yet, each round once for all that asks for them."""
        for judged, measured in self._unread:
            hold_readings(judged.results)
            self._findings.add_round(judged, measured)
            self._losses.add_round(judged)
            self._held.append(judged)
        self._unread.clear()

    @property
    def in_order(self) -> tuple[ClosedRound, ...]:
        """The rounds in the order of their numbers."""
        return tuple(self.by_number[number] for number in sorted(self.by_number))

    def plan_confirmation(
        self, nodes: Collection[NodeId], bounds: ConfirmationBounds, *, first: int
    ) -> tuple[Round, ...]:
        """The rounds on ``nodes``, numbered from ``first``, that confirm what is suspected, be it a finding or not."""
        self.known_findings = self._rank()
        suspected, steers = self._findings.suspected, self._findings.steers
        return plan_confirmation(
            self._context, self._probes, suspected, self.in_order, nodes, steers=steers, bounds=bounds, first=first
        )

    def judge(self, closed: ClosedRound) -> ClosedRound:
        """The round with its verdicts; it is not added."""
        return replace(closed, verdicts=judge_round(self._context, closed))

    def find_plain(self, plan: Sequence[Round]) -> frozenset[int]:
        """The rounds of ``plan``, by number, whose measurements can be judged in a table."""
        return find_plain(self._context, plan)

    def find_columns(self, plan: Sequence[Round], closed: Iterable[int]) -> frozenset[int]:
        """The rounds of ``plan``, by number, whose passes may stand in columns; ``closed`` are all that were closed.

        Those that were closed several times, or repeat tests, or are repeated, are told verdict by verdict; so is what
        belongs to a sweep.
        """
        repeats = find_repeats(plan)
        repeated = {*repeats, *chain.from_iterable(repeats.values())}
        attempts, plain = Counter(closed), self.find_plain(plan)
        return frozenset(
            each.number
            for each in plan
            if attempts[each.number] == 1
            and each.swept is None
            and each.probe in self._in_columns
            and each.number in plain
            and repeated.isdisjoint(test.id for test in each.tests)
        )

    @cached_property
    def _in_columns(self) -> frozenset[str]:
        """The probes whose values are only counted where they passed, and written in one way whatever their metric is.

        The facts of a node are compared one by one; the numbers of a document, with every single value.
        """
        fabric = self._context.fabric
        reported = {each.metric.partition(".")[0] for each in fabric.reported} | {INVENTORY}
        return frozenset(
            name
            for name, probe in self._probes.items()
            if name not in reported
            and len({(each.unit, each.shown) for each in probe.metrics}) == len({each.unit for each in probe.metrics})
        )

    def judge_table(self, closed: ClosedRound, table: MeasurementTable) -> JudgedTable:
        """The verdicts on a plain round; it is not added."""
        return judge_table(self._context, closed, table)

    def take(self, judged: ClosedRound, measured: MeasurementTable | None = None) -> None:
        """Add a round that was judged just now, while its flows are at hand; findings are computed when asked for.

        ``measured`` are its measurements where its results lack some.
        """
        self.restore(judged, measured)
        self._read_waiting()

    def restore(self, judged: ClosedRound, measured: MeasurementTable | None = None) -> None:
        """Add a judged round of which nothing is read yet: cheap for many rounds."""
        self.by_number[judged.round.number] = judged
        self._unread.append((judged, measured))
        self.known_findings = self.known_losses = None

    def add(self, judged: ClosedRound) -> ClosedRound:
        """Add a judged round; the same with the findings over all rounds so far."""
        self.take(judged)
        return replace(judged, findings=self.findings)


def load_judged_fabric(session: "SessionStore", described: Fabric | None = None) -> Fabric:
    """The fabric of a stored session, with the criteria that it is judged with now.

    ``described`` is what its file describes, None where it has to be read.
    """
    new = session.describe().new
    described = describe_fabric(new) if described is None else described
    chosen = read_criteria(session)
    if chosen is not None and chosen.criteria is not None:
        described = replace(described, criteria=chosen.criteria)
    return add_baseline(described, session.database, session.id, new.started)


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
    judged = JudgedRounds(fabric, probes)
    basis, plan = read_report_basis(session), session.read_plan(described)
    plain = judged.find_plain(plan) if count_measurements(session) >= LARGE else ()
    verdicts: dict[tuple[int, int], Sequence[Verdict]] = {}
    columns: dict[tuple[int, int], JudgedMeasurements] = {}
    rounds: list[JudgedRound] = []
    for stored, measured in read_unjudged(session, described, lambda planned: planned.number in plain, plan=plan):
        place = stored.round.number, stored.attempt
        hold_readings(stored.results)
        if measured is None:
            again = judged.judge(stored)
            verdicts[place] = again.verdicts
            rounds.append(JudgedRound(again, None, None))
        else:
            table = judged.judge_table(stored, measured.table)
            verdicts[place], columns[place] = table.hardware, JudgedMeasurements(measured.numbers, table.measured)
            again = table.low
            rounds.append(JudgedRound(stored, measured.table, table))
        judged.take(again, measured.table if measured is not None else None)
        release_readings(stored.results)
    findings, now = judged.findings, clock()
    source = criteria_from.file if criteria_from is not None else ""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
    judged_by = f"{name_judgement(fabric)}, again {stamp}"
    in_columns = judged.find_columns(plan, [each.closed.round.number for each in rounds])
    told = tuple(replace(_tell(session, each, in_columns), judged_by=judged_by) for each in rounds)
    return NewJudgement(
        session,
        verdicts,
        columns,
        JudgedSession(fabric, plan, told, findings, judged.losses),
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
    in_columns = JudgedRounds(fabric, probes).find_columns(plan, closed)
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
