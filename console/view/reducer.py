"""The reducer of a session's events into the view that screens and reports share. Pure.

``advance(view, event)`` gives the next RunView: the same events give the same view, whether
they come from a run or from the store. A step costs what the event brings, not what is there.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING

from benchconsole.console.view.element_state import (
    advance_nodes,
    apply_findings,
    find_untested,
    read_round_links,
    read_session_links,
)
from benchconsole.console.view.events import (
    CANARY,
    CANARY_NONE,
    CANARY_STILL,
    SPARED,
    SPARED_NONE,
    WAVES,
    Event,
    Held,
    IntervalsTold,
    NodesProven,
    Noticed,
    Resumed,
    RoundStarted,
    SessionEnded,
    SessionOpened,
    TestStarted,
    read_waves,
)
from benchconsole.console.view.interval_rates import NO_INTERVALS, advance_rates
from benchconsole.console.view.persistent_map import LayeredMap, OpenTests, make_layered
from benchconsole.console.view.run_view import (
    CanaryNotice,
    DetectableFaults,
    Line,
    LinkView,
    NodeView,
    RunView,
    State,
    state_of,
    worst,
)
from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Finding, Level, Verdict
from benchconsole.probes.model.load import NodeLoad
from benchconsole.probes.model.measuring import FailedAt, Result, Round
from benchconsole.probes.model.omission import Omission
from benchconsole.probes.model.repeats import find_repeats
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding
from benchconsole.topology.collector import pause_collector
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.units import counted as count

if TYPE_CHECKING:
    from benchconsole.probes.model.remark import Remark

LOG_LINES = 500

NO_LOADS: Mapping[str, NodeLoad] = MappingProxyType({})


def opened(event: SessionOpened) -> RunView:
    """The view of a session before anything of it is known."""
    fabric = event.fabric
    links = LayeredMap(dict.fromkeys(fabric.links, LinkView()))
    return RunView(
        fabric=fabric,
        session=event.session,
        label=event.label,
        suite=event.suite,
        live=event.live,
        plan=event.plan,
        nodes=LayeredMap({node.id: NodeView(node) for node in fabric.nodes.values()}),
        links=links,
        carried=links,
        repeats=_list_repeats(event),
        planned=_list_planned(event.plan),
        started=event.at,
        begun=event.at,
        is_one_run=event.begins_run,
        checklists=event.checklists,
        sampled=event.sampled,
        remarks=event.remarks,
    )


def advance(view: RunView, event: Event) -> RunView:
    """The view after ``event``. Pure: the same events give the same view."""
    if isinstance(event, (TestStarted, Result)):
        return _tested(view, (event,))
    if isinstance(event, SessionOpened):
        return _opened_again(view, event)
    if isinstance(event, RoundStarted):
        return _round_started(view, event)
    if isinstance(event, ClosedRound):
        return _judged(view, (event,))
    if isinstance(event, IntervalsTold):
        return _told_intervals(view, event)
    if isinstance(event, (Held, Resumed)):
        return _held(view, event)
    if isinstance(event, Noticed):
        return _noticed(view, event)
    if isinstance(event, NodesProven):
        return _proven(view, event)
    return _ended(view, event)


def _noticed(view: RunView, event: Noticed) -> RunView:
    """A line of the log, and what of it is kept in sight."""
    omission = _read_omission(event)
    words = omission.words
    is_calm = event.kind in (CANARY, WAVES) or (event.kind == SPARED and words == SPARED_NONE)
    line = Line(event.at, None if is_calm else State.WATCH, event.text)
    if event.left_out:
        view = replace(view, left_out=(*view.left_out, omission))
    elif event.kind == SPARED:
        view = replace(view, spared=_spare(view, omission, event.at), spared_at=event.at)
    elif event.kind == WAVES and (waves := read_waves(words)) is not None and waves not in view.waves:
        view = replace(view, waves=(*view.waves, waves))
    elif event.kind in (CANARY, CANARY_STILL):
        notice = CanaryNotice(words, watches=event.kind == CANARY)
        view = replace(view, canary=None if words == CANARY_NONE else notice)
    return replace(view, log=_logged(view, line))


def _spare(view: RunView, omission: Omission, at: float) -> tuple[Omission, ...]:
    """Nodes that the newest plan leaves alone: a plan of another time takes the place of the one before it."""
    known = view.spared if at == view.spared_at else ()
    return known if omission.words == SPARED_NONE or omission in known else (*known, omission)


def _read_omission(event: Noticed) -> Omission:
    """The words of a note without its kind, with the reason that it gives."""
    return Omission(event.text.removeprefix(f"{event.kind}: "), event.reason)


def advance_all(view: RunView, events: Iterable[Event]) -> RunView:
    """The view after all of ``events``, as ``advance`` would give it one by one; a thousand tests are one step.

    So are rounds that follow each other, as those of a stored session do, up to one that is closed again.
    """
    tests: list[TestStarted | Result] = []
    rounds: dict[int, ClosedRound] = {}
    for event in events:
        if rounds and (not isinstance(event, ClosedRound) or event.round.number in rounds):
            view, rounds = _judged(view, [*rounds.values()]), {}
        if isinstance(event, (TestStarted, Result)):
            tests.append(event)
            continue
        view, tests = _tested(view, tests), []
        if isinstance(event, ClosedRound):
            rounds[event.round.number] = event
        else:
            view = advance(view, event)
    return _judged(view, [*rounds.values()]) if rounds else _tested(view, tests)


def read_judged(
    opened_as: SessionOpened, told: Iterable[ClosedRound | Noticed], findings: tuple[Finding, ...], ended: SessionEnded
) -> RunView:
    """The results and verdicts of a session that is over, without its nodes, links and log: enough for its verdict."""
    results: dict[str, Result] = {}
    verdicts: dict[str, tuple[Verdict, ...]] = {}
    left_out: list[Omission] = []
    for event in told:
        if isinstance(event, Noticed):
            left_out += [_read_omission(event)] * event.left_out
            continue
        results.update((result.test.id, result) for result in event.results)
        verdicts.update((result.test.id, ()) for result in event.results)
        found = group_by_key((verdict.test, verdict) for verdict in event.verdicts)
        verdicts.update((test, tuple(judged)) for test, judged in found.items())
    repeats = _list_repeats(opened_as)
    return RunView(
        fabric=opened_as.fabric,
        session=opened_as.session,
        plan=opened_as.plan,
        repeats=repeats,
        results=results,
        verdicts=verdicts,
        findings=findings,
        replaced=frozenset(test for result in results for test in repeats.get(result, ())),
        started=opened_as.at,
        ended=ended.at,
        complete=ended.complete,
        because=ended.because,
        left_out=tuple(left_out),
        checklists=opened_as.checklists,
        sampled=opened_as.sampled,
    )


def _tested(view: RunView, events: Sequence[TestStarted | Result]) -> RunView:
    if not events:
        return view
    started = {event.test.id: None for event in events if isinstance(event, TestStarted)}
    ended = {event.test.id: event for event in events if isinstance(event, Result)}
    running = view.running if isinstance(view.running, OpenTests) else OpenTests[str]()
    fresh = make_layered(view.fresh).plus(ended)
    return replace(view, running=running.moved(started, ended, fresh), fresh=fresh)


def _told_intervals(view: RunView, event: IntervalsTold) -> RunView:
    if view.current is None:
        return view
    rates = advance_rates(view.intervals, event.found, event.at, view.running)
    loads = {**view.loads, **{each.node: each for each in event.loads}}
    if not (rates or view.intervals or event.loads):
        return view
    # links are shown with numbers from the first that a test of this round has told; silence is not what was before
    ways = event.ways if rates or view.ways is not None else None
    return replace(view, intervals=MappingProxyType(rates), loads=MappingProxyType(loads), ways=ways)


def _opened_again(view: RunView, event: SessionOpened) -> RunView:
    if event.shown is not None:
        return event.shown
    if event.session != view.session or event.anew:
        return opened(event)
    known = event.plan == view.plan
    goes_on = view.live and view.ended is None
    return replace(
        view,
        fabric=event.fabric,
        plan=event.plan,
        repeats=view.repeats if known else _list_repeats(event),
        planned=view.planned if known else _list_planned(event.plan),
        live=event.live,
        begun=view.begun if goes_on else event.at,
        is_one_run=view.is_one_run if goes_on else event.begins_run,
        canary=view.canary if goes_on else None,
        ended=None,
        proofs=(),
        checklists=event.checklists,
    )


def _list_planned(plan: Iterable[Round]) -> Mapping[NodeId, tuple[str, ...]]:
    """The ids of the tests that each node takes part in."""
    found = group_by_key((node.id, test.id) for each in plan for test in each.tests for node in test.target.nodes)
    return MappingProxyType({node: tuple(tests) for node, tests in found.items()})


def _round_started(view: RunView, event: RoundStarted) -> RunView:
    what = f"{event.round.stage}, {len(event.round.tests):,} tests"
    line = Line(event.at, State.RUNNING, f"round {event.round.number} started: {what}")
    return replace(
        view,
        current=event.round,
        current_started=event.at,
        current_limit=event.limit,
        fresh=LayeredMap(),
        running=OpenTests(),
        intervals=NO_INTERVALS,
        loads=NO_LOADS,
        ways=None,
        live=True,
        ended=None,
        log=_logged(view, line),
    )


def _list_repeats(event: SessionOpened) -> Mapping[str, tuple[str, ...]]:
    """The repeats of the plan; samples of a watch ask the same again and again, and each counts."""
    return MappingProxyType({}) if event.sampled else find_repeats(event.plan)


def _logged(view: RunView, *lines: Line) -> tuple[Line, ...]:
    return (*view.log, *lines)[-LOG_LINES:]


def _held(view: RunView, event: Held | Resumed) -> RunView:
    if isinstance(event, Held):
        kept = f"; what is finished is kept in {event.spool}" if event.spool else ""
        line = Line(event.at, State.HELD, f"held: {event.because}{kept}")
        return replace(view, held=event.because, spool=event.spool, log=_logged(view, line))
    back = f", {count(event.imported, 'result')} brought back" if event.imported else ""
    return replace(view, held="", spool="", log=_logged(view, Line(event.at, State.RUNNING, f"going on{back}")))


def _proven(view: RunView, event: NodesProven) -> RunView:
    left = sum(bool(proof.left) for proof in event.proofs)
    silent = sum(not proof.asked for proof in event.proofs)
    known = count(len(event.proofs), "node")
    words = f"nothing of ours is left on {len(event.proofs) - left - silent:,} of {known}"
    if silent == len(event.proofs):
        words = f"none of {known} could be searched for anything of ours"
    state = State.FAIL if left else State.UNKNOWN if silent else State.PASS
    return replace(view, proofs=event.proofs, log=_logged(view, Line(event.at, state, words)))


def _ended(view: RunView, event: SessionEnded) -> RunView:
    return replace(
        view,
        current=None,
        running=OpenTests(),
        fresh=LayeredMap(),
        intervals=NO_INTERVALS,
        loads=NO_LOADS,
        ways=None,
        held="",
        spool="",
        ended=event.at,
        complete=event.complete,
        because=event.because,
        live=False,
        nodes=find_untested(view),
        log=_logged(view, Line(event.at, None if event.complete else State.HELD, f"session {event.words}")),
    )


def _judged(view: RunView, rounds: Sequence[ClosedRound]) -> RunView:
    """The view after ``rounds``, none of them twice."""
    numbers = {closed.round.number for closed in rounds}
    results = {result.test.id: result for closed in rounds for result in closed.results}
    by_test: dict[str, Sequence[Verdict]] = dict.fromkeys(results, ())
    by_test.update(group_by_key((verdict.test, verdict) for closed in rounds for verdict in closed.verdicts))
    current = view.current if view.current and view.current.number not in numbers else None
    replaced = {test for result in results for test in view.repeats.get(result, ())} - view.replaced
    stopped = {number: words for number, words in view.stopped.items() if number not in numbers}
    stopped |= {each.round.number: each.because for each in rounds if each.reason is CloseReason.STOPPED}
    findings = rounds[-1].findings
    moved = replace(
        view,
        results=make_layered(view.results).plus(results),
        verdicts=make_layered(view.verdicts).plus({test: tuple(found) for test, found in by_test.items()}),
        findings=findings,
        closed=MappingProxyType({**view.closed, **{each.round.number: (each.started, each.ended) for each in rounds}}),
        hung=view.hung - numbers | {each.round.number for each in rounds if _has_hung(each)},
        current=current,
        fresh=LayeredMap() if current is None else view.fresh,
        running=OpenTests() if current is None else view.running,
        intervals=NO_INTERVALS if current is None else view.intervals,
        loads=NO_LOADS if current is None else view.loads,
        ways=None if current is None else view.ways,
        log=_logged(view, *map(_closing_line, rounds)),
        replaced=view.replaced | replaced if replaced else view.replaced,
        stopped=MappingProxyType(stopped),
        passed=(
            *(each for each in view.passed if each.like.round not in numbers),
            *chain.from_iterable(closed.passed for closed in rounds),
        ),
    )
    again = bool(replaced) or not numbers.isdisjoint(view.closed)
    carried = read_session_links(moved) if again else read_round_links(view, rounds, by_test)
    nodes = advance_nodes(view, moved, rounds)
    return replace(moved, nodes=nodes, carried=carried, links=apply_findings(carried, findings))


def _has_hung(closed: ClosedRound) -> bool:
    return any(each.failure is not None and each.failure.stage is FailedAt.TIMEOUT for each in closed.results)


def _closing_line(closed: ClosedRound) -> Line:
    failed = sum(result.failure is not None for result in closed.results)
    good = State.PASS if closed.verdicts or closed.passed else State.MEASURED
    states = {state_of(verdict) for verdict in closed.verdicts} | {State.UNKNOWN if failed else good}
    measured = len(closed.results) - failed
    how = "closed"
    if closed.reason is CloseReason.STOPPED:
        states.add(State.HELD)
        how = f"stopped, {closed.because}" if closed.because else "stopped"
    words = f"round {closed.round.number} {how}: {measured:,} of {len(closed.results):,} tests measured"
    low = sum(verdict.level in (Level.FAIL, Level.WATCH) for verdict in closed.verdicts)
    return Line(closed.ended, worst(states), words + (f", {low:,} below what is asked" if low else ""))


def _go_on() -> None:
    """Do nothing: nobody waits."""


class LatestView:
    """Keeps the latest view. ``generation`` counts events, so that a reader knows whether there are new ones.

    Events are folded in the thread that tells them, and the view is read by the screen's; a view never
    changes once it is there, so neither waits for the other. Only who shows a fabric before its session is open may be
    kept waiting: ``on_preview`` is called when a fabric is previewed first.
    """

    def __init__(self) -> None:
        self.generation = 0
        self.on_preview: Callable[[], None] = _go_on
        self._folded: RunView | None = None
        self._preview: RunView | None = None
        self._described: tuple[Fabric, tuple[StaticFinding, ...]] | None = None
        self._assessed: tuple[Mapping[str, Result], DetectableFaults] | None = None
        self._remarked: dict[str, tuple[Remark, ...]] = {}
        self._shown: tuple[RunView, RunView] | None = None

    def take(self, events: Sequence[Event]) -> None:
        rest, view = list(events), self._folded
        if view is None:
            first = rest.pop(0)
            if not isinstance(first, SessionOpened):
                raise TypeError(f"a session began with {type(first).__name__}, expected SessionOpened")
            view = opened(first)
            with pause_collector():  # all that is stored comes at once
                view = advance_all(view, rest)
        else:
            view = advance_all(view, rest)
        # Only whole batches are shown: a stored session that is half folded looks as if nothing had run.
        self._folded, self._preview = view, None
        self.generation += len(events)

    def preview(self, event: SessionOpened, read: int, of: int) -> None:
        """Show the fabric of a session while the rest of it is read: ``read`` of its rounds so far."""
        known = self._preview
        is_new = known is None or known.fabric is not event.fabric
        shown = opened(event) if known is None or is_new else known
        self._preview = replace(shown, suite=event.suite, reading=(read, of))
        self.generation += 1
        if is_new:
            self.on_preview()

    @property
    def has_begun(self) -> bool:
        """Whether there is a view of a session, and not only of its fabric."""
        return self._folded is not None

    def describe(self, fabric: Fabric, found: Iterable[StaticFinding]) -> None:
        """Take what the description of ``fabric`` shows: errors first, in their order where they are alike.

        Nothing is taken of a fabric that is no longer shown: that of the preview may have had other criteria.
        """
        shown = self._folded or self._preview
        if shown is not None and shown.fabric is not fabric:
            return
        severities = list(Severity)
        self._described = (fabric, tuple(sorted(found, key=lambda each: severities.index(each.severity))))
        self.generation += 1

    def assess(self, results: Mapping[str, Result], found: DetectableFaults) -> None:
        """Take what the tests with these ``results`` could have shown; later results make it out of date."""
        self._assessed = (results, found)
        self.generation += 1

    def take_remarks(self, session: str, remarks: "tuple[Remark, ...]") -> None:
        """Take all that people said of the session of this id; what was told of another session stays.

        None is ever deleted: of two answers the longer one is newer, in whatever order they come.
        """
        self._remarked[session] = max(self._remarked.get(session, ()), remarks, key=len)
        self.generation += 1

    @property
    def view(self) -> RunView | None:
        """The latest view, the same object as long as nothing has happened; with what is known beside its events."""
        folded, described, assessed = self._folded or self._preview, self._described, self._assessed
        if folded is None:
            return None
        static = described[1] if described is not None and described[0] is folded.fabric else None
        detectable = assessed[1] if assessed is not None and assessed[0] is folded.results else None
        remarks = self._find_remarks(folded)
        if static is None and detectable is None and remarks is folded.remarks:
            return folded
        shown = self._shown
        if (
            shown is None
            or shown[0] is not folded
            or shown[1].static is not static
            or shown[1].detectable is not detectable
            or shown[1].remarks is not remarks
        ):
            added = replace(folded, static=static, detectable=detectable, remarks=remarks)
            shown = self._shown = (folded, added)
        return shown[1]

    def _find_remarks(self, folded: RunView) -> "tuple[Remark, ...]":
        """Those that were told, or that the session began with where these are not fewer."""
        return max(folded.remarks, self._remarked.get(folded.session, ()), key=len)
