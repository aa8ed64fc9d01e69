"""The console as an application: how it lives; ``ways``, ``operations``, ``commanding`` say what it does.

``run`` is given a maker of the conductor and calls it after the first paint, so that the
screen is there before anything slow is imported.
"""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType

from console.tui import textual_patches
from console.tui.actions import GLOBAL, bindings
from console.tui.bridge import Conductor
from console.tui.commanding import Commanding
from console.tui.terminal import Terminal, detect
from topology.analysis.finding import Finding
from topology.model import Fabric

TICK = 0.1
AGAIN_WITHIN = 2.0
ENDINGS = {signal.SIGTERM: 143, signal.SIGHUP: 129}
"""Signals that end the console in good order, and the exit code of each."""


Analyse = Callable[[Fabric], Iterable[Finding]]
"""What the description of a fabric shows; may take half a second."""


def static_findings(fabric: Fabric) -> Iterable[Finding]:
    """The whole static analysis; imported here, for it brings what start-up must not wait for."""
    from topology.analysis.report import static_findings as analyse

    return analyse(fabric)


class Bench(Commanding):
    """Four tabs over one view. The view is taken from the bridge ten times a second, when it is another."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(each for each in bindings(GLOBAL) if each.id != "quit"),
        Binding("q", "quit_asking", show=False, id="quit"),
        Binding("ctrl+c", "interrupt", show=False, priority=True, system=True),
        Binding("ctrl+q", "quit_asking", show=False, system=True),
    ]

    def __init__(
        self,
        make: Callable[[], Conductor],
        terminal: Terminal,
        now: Callable[[], float] = time.time,
        *,
        analyse: Analyse = static_findings,
    ) -> None:
        super().__init__(make, terminal, now)
        self.failure: BaseException | None = None
        self.interrupted = -AGAIN_WITHIN
        self.analyse = analyse
        self.analysed: Fabric | None = None

    async def on_mount(self) -> None:
        """Paint first; then open the session."""
        for number, code in ENDINGS.items():
            # Without these a signal would leave the terminal in its alternate screen.
            asyncio.get_running_loop().add_signal_handler(number, self.leave, code)
        await self.switch_mode("fabric")
        self.set_interval(TICK, self.tick)
        self.call_after_refresh(self.open_session)

    def open_session(self) -> None:
        """Start the one worker that follows the session."""
        self.run_worker(self.follow(), exit_on_error=False, group="session")

    async def follow(self) -> None:
        """Make the conductor and fold its events. What ends it is shown here and raised by ``run``."""
        try:
            # In a thread: it imports what is slow, and the first frame must not wait for that.
            self.conductor = await asyncio.to_thread(self.make)
            self.conductor.answered_by(self.ask_password)
            await self.bridge.follow(self.conductor)
        except Exception as error:  # a worker's edge: the screen must outlive what it shows
            self.failure = error
            if self.bridge.view is None:
                self.leave(1)  # there is nothing to show; ``run`` raises the reason
            self.say(f"The session ended: {type(error).__name__}: {error}", wrong=True, stay=True)

    def tick(self) -> None:
        """As everywhere; have a fabric analysed when it is first seen, and send all of what a terminal missed."""
        if textual_patches.caught_up(self):
            self.screen.refresh()
        view = self.bridge.view
        if view is not None and view.fabric is not self.analysed:
            self.analysed = view.fabric
            self.run_worker(self.describe(view.fabric), exit_on_error=False, group="description")
        super().tick()

    async def describe(self, fabric: Fabric) -> None:
        """Work out what the description shows, beside the event loop. A failure is shown, and raised by ``run``."""
        try:
            self.bridge.describe(fabric, await asyncio.to_thread(lambda: tuple(self.analyse(fabric))))
        except Exception as error:  # a worker's edge: a session is worth more than its analysis
            self.failure = self.failure or error
            self.say(f"The description was not analysed: {type(error).__name__}: {error}", wrong=True, stay=True)

    def action_interrupt(self) -> None:
        """Leave at the second press."""
        if time.monotonic() - self.interrupted < AGAIN_WITHIN:
            self.leave(130)
            return
        self.interrupted = time.monotonic()
        self.say("Press ctrl-c again to stop everything and leave.")


def run(make: Callable[[], Conductor], *, terminal: Terminal | None = None) -> int:
    """Show the console until it is left; raises what ended the session. 0, or 130 after ctrl-c twice."""
    textual_patches.apply()
    app = Bench(make, terminal or detect(os.environ))
    try:
        code = app.run()
    finally:
        if app.conductor is not None:
            asyncio.run(app.conductor.close())
    if app.failure is not None:
        raise app.failure
    return code if code is not None else app.return_code or 0
