"""The console as an application: how it lives. What it does on keys is in ``operations``, where it goes in ``ways``.

``run`` is given a maker of the conductor and calls it after the first paint, so that the
screen is there before anything slow is imported.
"""

import os
import time
from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType

from console.tui import textual_patches
from console.tui.actions import GLOBAL, bindings
from console.tui.bridge import Bridge, Conductor
from console.tui.dressed import Dressed
from console.tui.operations import Operations
from console.tui.screens.fabric import FabricScreen
from console.tui.screens.findings import FindingsScreen
from console.tui.screens.frame import Frame
from console.tui.screens.nodes import NodesScreen
from console.tui.screens.run import RunScreen
from console.tui.terminal import Terminal, detect
from console.tui.ways import Ways
from console.tui.widgets.tabs import Badges
from console.view import RunView

TICK = 0.1
AGAIN_WITHIN = 2.0


class Bench(Operations, Ways, Dressed[int]):
    """Four tabs over one view. The view is taken from the bridge ten times a second, when it is another."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(each for each in bindings(GLOBAL) if each.id != "quit"),
        Binding("q", "quit_asking", show=False, id="quit"),
        Binding("ctrl+c", "interrupt", show=False, priority=True, system=True),
        Binding("ctrl+q", "quit_asking", show=False, system=True),
    ]
    def __init__(
        self, make: Callable[[], Conductor], terminal: Terminal, now: Callable[[], float] = time.time
    ) -> None:
        super().__init__(terminal)
        self.make = make
        self.conductor: Conductor | None = None
        self.bridge = Bridge()
        self.shown: RunView | None = None
        self.frozen_at: float | None = None
        self.frozen_generation = 0
        self.history: list[str] = []
        self.failure: BaseException | None = None
        self.leaving = False
        self.interrupted = -AGAIN_WITHIN
        self.screens_fabric = FabricScreen()
        self.screens_nodes = NodesScreen()
        self.screens_run = RunScreen(now)
        self.screens_findings = FindingsScreen()
        for name in ("fabric", "nodes", "run", "findings"):
            self.add_mode(name, lambda name=name: getattr(self, f"screens_{name}"))  # type: ignore[misc]

    async def on_mount(self) -> None:
        """Paint first; then open the session."""
        await self.switch_mode("fabric")
        self.set_interval(TICK, self.tick)
        self.call_after_refresh(self.open_session)

    def open_session(self) -> None:
        """Start the one worker that follows the session."""
        self.run_worker(self.follow(), exit_on_error=False, group="session")

    async def follow(self) -> None:
        """Make the conductor and fold its events. What ends it is shown here and raised by ``run``."""
        try:
            self.conductor = self.make()
            await self.bridge.follow(self.conductor)
        except Exception as error:  # a worker's edge: the screen must outlive what it shows
            self.failure = error
            self.say(f"The session ended: {type(error).__name__}: {error}", wrong=True, stay=True)

    def tick(self) -> None:
        """Hand the latest view to the screen in front, unless it is frozen."""
        if self.leaving and not (self.conductor and self.conductor.running):
            self.exit(0)
            return
        if self.frozen_at is None:
            self.shown = self.bridge.view
        frame = self.frame
        if self.shown is not None and frame is not None:
            frame.show(self.shown, self.badges())

    @property
    def frame(self) -> Frame | None:
        """The screen in front, below any sheet."""
        return next((each for each in reversed(self.screen_stack) if isinstance(each, Frame)), None)

    def badges(self) -> Badges:
        """What must be seen on every screen and sheet."""
        frozen = None if self.frozen_at is None else float(int(time.monotonic() - self.frozen_at))
        waiting = self.bridge.generation - self.frozen_generation if frozen is not None else 0
        known = self.shown or self.bridge.view
        paused = self.conductor is not None and self.conductor.paused
        return Badges(known.fabric.simulated if known else False, paused=paused, frozen=frozen, waiting=waiting)

    def action_interrupt(self) -> None:
        """Leave at the second press."""
        if time.monotonic() - self.interrupted < AGAIN_WITHIN:
            self.exit(130)
            return
        self.interrupted = time.monotonic()
        self.say("Press ctrl-c again to leave at once.")


def run(make: Callable[[], Conductor], *, terminal: Terminal | None = None) -> int:
    """Show the console until it is left; raises what ended the session. 0, or 130 after ctrl-c twice."""
    textual_patches.apply()
    app = Bench(make, terminal or detect(os.environ))
    code = app.run()
    if app.failure is not None:
        raise app.failure
    return code if code is not None else app.return_code or 0
