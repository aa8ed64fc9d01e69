"""The session as the screens show it: its latest view, the view in front of the operator, whether that is frozen."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.widgets.tabs import Badges
from benchconsole.console.view.reducer import LatestView
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.session_control import FlowHop
from benchconsole.probes.model.measuring import Test
from benchconsole.topology.errors import RoutingError

if TYPE_CHECKING:
    from benchconsole.console.session.controller import SessionController


class ShownSession:
    """``control`` is None until the session is open, ``view`` until its first event has come."""

    def __init__(self, latest: LatestView | None = None) -> None:
        self.control: SessionController | None = None
        self.latest = latest or LatestView()
        self.view: RunView | None = None
        self._frozen_at: float | None = None
        self._frozen_generation = 0

    def refresh(self) -> None:
        """Take the latest view, unless the screen is frozen."""
        if self._frozen_at is None:
            self.view = self.latest.view

    @property
    def frozen(self) -> bool:
        """Whether the screen keeps the view it has."""
        return self._frozen_at is not None

    def toggle_freeze(self) -> None:
        self._frozen_at = None if self.frozen else time.monotonic()
        self._frozen_generation = self.latest.generation

    @property
    def running(self) -> bool:
        return self.control is not None and self.control.running

    @property
    def follows(self) -> str:
        """Who drives the session where that is another console; empty where this one does."""
        return self.control.follows if self.control is not None else ""

    @property
    def badges(self) -> Badges:
        """Warnings that every screen and sheet must show."""
        known = self.view or self.latest.view
        return Badges(
            known.fabric.simulated if known else False,
            read_only=bool(self.follows),
            paused=self.control is not None and self.control.paused,
            held=bool(known and known.held),
            frozen=None if self._frozen_at is None else float(int(time.monotonic() - self._frozen_at)),
            waiting=self.latest.generation - self._frozen_generation if self.frozen else 0,
        )

    @property
    def file_stem(self) -> str:
        """The name of a report of this session, without its suffix."""
        label = sanitize(self.view.label) if self.view is not None else ""
        return label.replace(" ", "-").replace("/", "-") or "benchconsole"

    async def path_of(self, test: Test) -> Sequence[FlowHop]:
        """The path of a test's data; empty where there is none."""
        try:
            return await self.control.path_of(test) if self.control is not None else ()
        except RoutingError:
            return ()
