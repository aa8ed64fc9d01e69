"""The console over a session of ``benchmarks.screen`` that is fed results at a steady rate: the live rows of its table.

Nothing is run and nothing stored: rounds are planned, played and judged before the screen opens, and their events told
through the control of a real session again and again. The process then works for the screen and the feeding.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from typing import Any, cast

from benchconsole.console.session.controller import SessionController
from benchconsole.console.session.judged_rounds import JudgedRounds
from benchconsole.console.session.loop_thread import LoopThread
from benchconsole.console.tui.app.console_app import run
from benchconsole.console.tui.rows.terminal import detect
from benchconsole.console.view.events import Event, RoundStarted, SessionOpened, TestStarted
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.suites import find_suite
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchmarks.rejudge_sessions import Measured

PER_SECOND = 500
"""Results that are told a second."""

BATCHES = 50
"""Times a second at which they are told."""

MOST_ROUNDS, TURNS = 4, 3


class FedSession:
    """A session that runs for ever: its rounds follow each other, ``PER_SECOND`` results a second."""

    id, complete, running, paused = "", False, True, False

    def __init__(self, text: str) -> None:
        self.fabric = load_text(text, "live.yaml")
        self.probes = load_probes().probes
        measured, judged = Measured(self.fabric, low=0.001), JudgedRounds(self.fabric, self.probes)
        self.plan = plan(self.fabric, find_suite(self.fabric, None), self.probes)
        self.rounds: list[ClosedRound] = []
        for attempt in range(1, TURNS + 1):  # with other numbers each time: else nothing changes on the screen
            for planned in self.plan[:MOST_ROUNDS]:
                closed = replace(judged.judging.judge(measured.close(planned)), attempt=attempt)
                self.rounds.append(closed)
                judged.add(closed)

    async def events(self) -> AsyncIterator[Event]:
        """The events of a run, each result at its time: late batches are made up for."""
        yield SessionOpened("", "live", self.fabric, "default", self.plan, time.time())
        began, told = time.monotonic(), 0
        while True:
            for closed in self.rounds:
                now = time.time()
                yield RoundStarted(closed.round, now)
                for test in closed.round.tests:
                    yield TestStarted(test, now)
                for result in closed.results:
                    yield result
                    told += 1
                    if told % (PER_SECOND // BATCHES) == 0:
                        await asyncio.sleep(max(began + told / PER_SECOND - time.monotonic(), 0))
                yield closed


def show(text: str) -> None:
    """Show the session of a topology until the process is ended."""
    session = FedSession(text)
    run(lambda: SessionController(cast(Any, session), LoopThread()), terminal=detect(os.environ))
