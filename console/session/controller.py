"""The screens' control of a session that runs in a thread of its own: orders cross to it, events come back.

Whatever takes long is done in that thread, or in a second one beside it.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from benchconsole.console.session.followed_session import FollowedSession, FollowedSessionError
from benchconsole.console.session.late_mapping import LateMapping
from benchconsole.console.session.loop_thread import LoopThread
from benchconsole.console.session.node_access import PasswordPrompt, refuse_missing_files
from benchconsole.console.session.session import Session
from benchconsole.console.view.detectable_text import describe_detectable
from benchconsole.console.view.events import Event
from benchconsole.console.view.flow_paths import FlowPaths
from benchconsole.console.view.interval_rates import NO_INTERVALS
from benchconsole.console.view.persistent_map import LayeredMap, OpenTests
from benchconsole.console.view.reducer import NO_LOADS
from benchconsole.console.view.run_view import DetectableFaults, RunView
from benchconsole.console.view.session_control import AskPassword, FlowHop, Hear, Proposal
from benchconsole.probes.model.measuring import Metric, Round, Test
from benchconsole.probes.planning.suites import list_suite_names
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId

if TYPE_CHECKING:
    from benchconsole.console.session.criterion_editor import CriterionEditor
    from benchconsole.console.session.run_planning import RunPlanning
    from benchconsole.probes.api import Probe

T = TypeVar("T")

BATCH_SECONDS = 0.1
"""How long events are gathered before they are told together; half a tick of the screen."""

SHOWN_SECONDS = 1.0
"""Seconds after the first events, which are drawn in them; then probes that nobody has asked for yet are loaded."""


class SessionController:
    """All that a screen may ask of a session, which ``thread`` runs. Methods that are not awaited answer at once.

    ``closing`` lets go of its store at the end. With ``start`` the default suite runs as soon as somebody follows.
    ``passwords`` is what its reach asks. ``operator`` answers for criteria that are changed by ``criteria``, and for
    nodes in use that are meant in ``planning``.
    ``probes`` are those at hand, ``metrics`` those that they declare, by name.
    """

    def __init__(
        self,
        session: Session | FollowedSession,
        thread: LoopThread,
        *,
        start: bool = False,
        passwords: PasswordPrompt | None = None,
        closing: Callable[[], None] = lambda: None,
        operator: str = "",
    ) -> None:
        self._session = session
        self._thread = thread
        self._start = start
        self._passwords = passwords or PasswordPrompt()
        self._closing = closing
        self._flow_paths = FlowPaths(session.fabric)
        self.suites: tuple[str, ...] = list_suite_names(session.fabric)
        """Names of the suites that can be planned: those of the file, the default first, then ours."""
        self.probes: Mapping[str, Probe] = session.probes
        self.metrics: Mapping[str, Metric] = LateMapping(partial(_list_metrics, session.probes))
        self._beside = ThreadPoolExecutor(1, "beside")
        self._orders: list[Future[None]] = []
        self._operator = operator

    # Judging and planning are imported when somebody changes a criterion, or plans: not to look at results.

    @cached_property
    def criteria(self) -> "CriterionEditor":
        """Criteria that are added or changed, and the session judged by them."""
        from benchconsole.console.session.criterion_editor import CriterionEditor

        return CriterionEditor(self._require_driven, self._take, self._thread, self._operator)

    @cached_property
    def planning(self) -> "RunPlanning":
        """The next run as it is planned: proposals, and the form of its options."""
        from benchconsole.console.session.run_planning import RunPlanning

        return RunPlanning(self._require_driven, self._thread, self._operator)

    @property
    def running(self) -> bool:
        return self._session.running

    @property
    def paused(self) -> bool:
        return self._session.paused

    @property
    def resumable(self) -> bool:
        """Whether an interrupted session can be gone on with: ``propose(None)`` proposes what it still owes."""
        return bool(self._session.id) and not self._session.complete

    @property
    def follows(self) -> str:
        """Who drives the session where that is another console, in a sentence: no order is taken; empty else."""
        return self._session.driver if isinstance(self._session, FollowedSession) else ""

    async def follow(self, hear: Hear) -> None:
        """Tell ``hear`` every event, from SessionOpened on, until the session is closed; raises what ends it badly.

        Events are told a batch at a time, in the thread of the session.
        """
        await self._thread.ask(lambda: self._tell_batches(hear))

    async def _tell_batches(self, hear: Hear) -> None:
        waiting: list[Event] = []
        news = asyncio.Event()

        async def listen() -> None:
            async for event in self._session.events():
                waiting.append(event)
                news.set()

        if isinstance(self._session, Session):
            self._session.is_watched = True
        if self._start:
            self._start = False
            session = self._require_driven()
            session.start(session.propose())
        listening = asyncio.create_task(listen())
        listening.add_done_callback(lambda _: news.set())
        loading: asyncio.TimerHandle | None = None
        try:
            while not listening.done() or waiting:
                await news.wait()
                # All that is stored comes at once, and the screen waits for it.
                await asyncio.sleep(BATCH_SECONDS if loading else 0.0)
                news.clear()
                batch, waiting[:] = waiting[:], []
                if batch:
                    hear(batch)
                    loading = loading or asyncio.get_running_loop().call_later(
                        SHOWN_SECONDS, self._beside.submit, len, self.metrics
                    )
            await listening
        finally:
            if isinstance(self._session, Session):
                self._session.is_watched = False
            listening.cancel()
            if loading is not None:
                loading.cancel()

    def answered_by(self, ask: AskPassword) -> None:
        """From now on ``ask``, which runs on the loop of the caller, is asked for the password of ``sudo``."""
        self._passwords.answered_by(ask)

    async def propose(
        self, suite: str | None, *, failed_only: bool = False, only: Collection[str] = (), typed: Collection[str] = (),
        nodes: Collection[NodeId] | None = None, options: Mapping[str, str] | None = None, test: str = "",
    ) -> Proposal:  # fmt: skip
        """The rounds that would run, as ``RunPlanning.propose`` makes them; nothing is sent."""
        return await self.planning.propose(
            suite, failed_only=failed_only, only=only, typed=typed, nodes=nodes, options=options, test=test
        )

    async def start(self, rounds: Sequence[Round]) -> None:
        """Run ``rounds``, or with none end an interrupted session.

        InUseError where nodes in use would be loaded, PlanError where a file to log in with is missing.
        """
        session = self._require_driven()

        def start() -> None:
            refuse_missing_files(session.fabric)
            session.meant.policy.refuse(session.fabric, rounds, session.probes)
            session.start(rounds)

        await self._thread.call(start)

    def pause(self) -> None:
        self._order(Session.pause)

    def go_on(self) -> None:
        self._order(Session.go_on)

    def stop(self, *, now: bool) -> None:
        """End the run: at once, or when the round is closed."""
        self._order(lambda session: session.stop(now=now))

    def abandon(self) -> None:
        """End at once, whatever is left on the nodes: their watchdogs see to that."""
        if not self.follows:  # else there is nothing of ours to end
            self._order(Session.abandon)

    def _order(self, order: Callable[[Session], None]) -> None:
        """Hand an order over; what it raises is raised by ``finished``."""
        session = self._require_driven()

        async def obey() -> None:
            order(session)

        self._orders.append(self._thread.submit(obey))

    def _require_driven(self) -> Session:
        """The session, to which orders can be given; FollowedSessionError says who drives another."""
        if isinstance(self._session, FollowedSession):
            raise FollowedSessionError(self._session.driver)
        return self._session

    def _take(self, session: Session) -> None:
        """Go on with the session as it is after a judgement."""
        self._session = session
        self._flow_paths = FlowPaths(session.fabric)

    async def finished(self) -> None:
        """Wait until nothing of ours runs on any node."""
        orders, self._orders = self._orders, []
        for order in orders:
            await asyncio.wrap_future(order)
        if isinstance(self._session, Session):
            await self._thread.ask(self._session.finished)

    async def close(self) -> None:
        """End the thread and let go of the store; the threads end with it, or with the process."""
        self._beside.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(self._thread.close)
        await asyncio.to_thread(self._closing)

    async def assess(self, view: RunView) -> DetectableFaults:
        """How small a fault the tests so far could have shown."""
        losses = await self._thread.call(self._session.list_detectable_losses)
        return describe_detectable(view.fabric, losses, view.suite)

    async def export(self, kind: str, view: RunView, path: Path, *, force: bool = False) -> Path:
        """Write a report of a kind (html, md, csv, json) of what ``view`` shows as stored, and say where.

        A file that is there is replaced with ``force`` only.
        """
        from benchconsole.console.reports import ReportOptions, write
        from benchconsole.console.session.report_details import read_details

        details = await self._thread.call(lambda: read_details(self._session, view))
        options = ReportOptions(details=details)
        await self._run_beside(lambda: write(kind, as_stored(view), path, options, force=force))
        return path

    async def path_of(self, test: Test) -> Sequence[FlowHop]:
        """The path of a test's data, with what its whole round should have loaded each hop with; empty for one node."""
        test_round = next(each for each in self._session.plan if each.number == test.round)
        return await self._run_beside(lambda: self._flow_paths.find_path(test, test_round))

    async def _run_beside(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._beside, work)


def as_stored(view: RunView) -> RunView:
    """``view`` without the round that is open: what of it was measured is judged and stored when it closes."""
    return replace(
        view, current=None, running=OpenTests(), fresh=LayeredMap(), intervals=NO_INTERVALS, loads=NO_LOADS, ways=None
    )


def _list_metrics(probes: "Mapping[str, Probe]") -> Mapping[str, Metric]:
    """The metrics that probes declare, by name."""
    return {metric.name: metric for probe in probes.values() for metric in probe.metrics}
