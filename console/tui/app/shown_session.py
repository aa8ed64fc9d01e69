"""The session as the screens show it, and those behind it: from which it was opened, and to which esc leads back."""

import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.widgets.tabs import Badges
from benchconsole.console.view.reducer import LatestView
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.session_control import NO_PROBES, FlowHop
from benchconsole.probes.model.measuring import Metric, Result, Test
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Fabric

if TYPE_CHECKING:
    from textual.worker import Worker

    from benchconsole.console.session.controller import SessionController
    from benchconsole.console.session.replay_clock import ReplayClock
    from benchconsole.probes.api import Probe


class OpenSession:
    """One session: ``control`` is None until it is open, ``view`` until its first event has come.

    ``clock`` is what it is played again with, None where it is not. ``analysed`` and ``assessed`` are
    what was worked out beside the screen last. ``when_open`` is an order that was given before it was open.
    ``is_left``: esc has led back from it. ``is_judging``: it is judged again, and no run of it may begin.
    """

    def __init__(self, latest: LatestView | None = None, clock: "ReplayClock | None" = None) -> None:
        self.control: SessionController | None = None
        self.latest = latest or LatestView()
        self.view: RunView | None = None
        self.clock = clock
        self.frozen_at: float | None = None
        self.frozen_generation = 0
        self.analysed: Fabric | None = None
        self.assessed: Mapping[str, Result] | None = None
        self.worker: Worker[None] | None = None
        self.when_open: Callable[[], None] | None = None
        self.is_left = False
        self.is_judging = False

    @property
    def running(self) -> bool:
        return self.control is not None and self.control.running

    async def path_of(self, test: Test) -> Sequence[FlowHop]:
        """The path of a test's data; empty where there is none."""
        try:
            return await self.control.path_of(test) if self.control is not None else ()
        except RoutingError:
            return ()


class ShownSession:
    """``front`` is on the screen, ``behind`` are those from which it was opened, the first one first.

    ``looks_only`` says that this console takes no orders for any session, and why; empty where it does.
    """

    def __init__(self, latest: LatestView | None = None) -> None:
        self.looks_only = ""
        self.front = OpenSession(latest)
        self.behind: list[OpenSession] = []

    def enter(self, opened: OpenSession) -> None:
        """Show another session; the one that is shown stays behind it."""
        self.behind.append(self.front)
        self.front = opened

    def leave(self) -> OpenSession:
        """Go back to the session behind; the one that was left."""
        left, self.front = self.front, self.behind.pop()
        left.is_left = True
        return left

    @property
    def control(self) -> "SessionController | None":
        return self.front.control

    @property
    def latest(self) -> LatestView:
        return self.front.latest

    @property
    def view(self) -> RunView | None:
        return self.front.view

    @property
    def path_of(self) -> Callable[[Test], Coroutine[Any, Any, Sequence[FlowHop]]]:
        """Finds paths in the session that is shown now, also when another one is shown later."""
        return self.front.path_of

    def find_metrics(self) -> "Mapping[str, Metric]":
        """The metrics that the probes of the shown session declare; nothing until it is open."""
        return self.control.metrics if self.control is not None else {}

    def find_probes(self) -> "Mapping[str, Probe]":
        """The probes of the shown session; nothing until it is open."""
        return self.control.probes if self.control is not None else NO_PROBES

    def refresh(self) -> None:
        """Take the latest view, unless the screen is frozen."""
        if not self.frozen:
            self.front.view = self.latest.view

    @property
    def frozen(self) -> bool:
        """Whether the screen keeps the view it has."""
        return self.front.frozen_at is not None

    def toggle_freeze(self) -> None:
        self.front.frozen_at = None if self.frozen else time.monotonic()
        self.front.frozen_generation = self.latest.generation

    @property
    def controls(self) -> "list[SessionController]":
        """Those of all sessions that are open, the one that runs first."""
        opened = sorted((self.front, *self.behind), key=lambda each: not each.running)
        return [each.control for each in opened if each.control is not None]

    @property
    def running(self) -> bool:
        """Whether any of the open sessions is being run here."""
        return any(control.running for control in self.controls)

    @property
    def follows(self) -> str:
        """Why no order is taken: this console only looks, or another one drives the session; empty where it is."""
        return self.looks_only or (self.control.follows if self.control is not None else "")

    @property
    def badges(self) -> Badges:
        """Warnings that every screen and sheet must show."""
        front = self.front
        known = self.view or self.latest.view
        return Badges(
            known.fabric.simulated if known else False,
            read_only=bool(self.follows),
            looks_only=bool(self.looks_only),
            paused=front.clock.is_paused if front.clock else self.control is not None and self.control.paused,
            held=bool(known and known.held),
            frozen=None if front.frozen_at is None else float(int(time.monotonic() - front.frozen_at)),
            waiting=self.latest.generation - front.frozen_generation if self.frozen else 0,
            replay=front.clock.speed if front.clock else None,
            place=front.clock.place if front.clock else None,
            behind=any(each.running for each in self.behind),
        )

    @property
    def file_stem(self) -> str:
        """The name of a report of this session, without its suffix."""
        label = sanitize(self.view.label) if self.view is not None else ""
        return label.replace(" ", "-").replace("/", "-") or "benchconsole"
