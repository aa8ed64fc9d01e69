"""The watch over the loop: who holds it up is named, a stopped process blames nobody, time-outs are judged again."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence

import pytest

from benchconsole.probes.api import Contact, Output, Target
from benchconsole.probes.model.measuring import Round, Test
from benchconsole.probes.plugins import loop_watchdog
from benchconsole.probes.plugins.loop_watchdog import BlockingCode, LoopWatch
from benchconsole.probes.running.runner import RoundObserver, Runner
from benchconsole.probes.running.start_barrier import BARRIER_SECONDS, StartBarrier
from benchconsole.probes.testing.fake import a_node
from tests.probes.played import Alone, PlayedReach

PATIENCE = 0.4
"""Seconds that the test in the stopped process may take."""


class Blocks(Alone):
    """Holds the whole loop up until somebody outside of it lets go."""

    def __init__(self) -> None:
        self.let_go = threading.Event()

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        if target.node.id == "n2":
            assert self.let_go.wait(20)
        return await super().run(contact, target)


@pytest.mark.fault("F39b")
async def test_a_probe_that_blocks_the_loop_is_named_while_it_does_and_after(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_watchdog, "LIMIT", 0.1)
    probe, told, stalled = Blocks(), list[str](), list[str]()

    def seen(words: str) -> None:
        stalled.append(words)
        probe.let_go.set()

    tests = tuple(Test(name, "inventory", Target(a_node(name)), 1) for name in ("n1", "n2", "n3"))
    runner = Runner(PlayedReach(), {"inventory": probe}, origin={"inventory": "dist-slow"})
    closed = await runner.run(
        Round(1, "s", "inventory", tests, 1, "x"), RoundObserver(on_notice=told.append, on_stall=seen)
    )
    assert all(result.measurements for result in closed.results)
    (during,), (after,) = stalled, told
    assert during.startswith("the probe inventory of dist-slow holds up everything else, in run at ")
    assert f"{__name__}:" in during
    assert after.startswith("the probe inventory of dist-slow held up everything else for 0.")


def watch(told: list[str], clock: "Clock", limit: float = 1.0) -> LoopWatch:
    return LoopWatch([BlockingCode("nobody", frozenset())], told.append, told.append, limit=limit, clock=clock)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.fault("F21")
async def test_time_that_the_process_was_stopped_is_given_back_and_blames_nobody() -> None:
    told: list[str] = []
    clock = Clock()
    with watch(told, clock) as watching:
        began = clock.now
        clock.now += 0.5
        assert watching.remaining(began, 30) == pytest.approx(29.5)
        clock.now += 60  # SIGSTOP, SIGCONT: before anything of ours has run again
        assert watching.remaining(began, 30) == pytest.approx(30)
        watching._tick()
        assert watching.remaining(began, 30) == pytest.approx(30)
        clock.now += 0.9
        watching._tick()
        assert watching.remaining(began, 30) == pytest.approx(29.1)
        assert watching.remaining(clock.now, 30) == pytest.approx(30)
    assert told == []


@pytest.mark.fault("F21")
async def test_a_gap_before_a_wait_began_is_not_given_to_it() -> None:
    clock = Clock()
    with watch([], clock) as watching:
        clock.now += 60
        watching._tick()
        began = clock.now
        clock.now += 10
        watching._tick()
        clock.now += 1
        assert watching.remaining(began, 30) == pytest.approx(30 - 1)


class Scripted(LoopWatch):
    """A watch that says what is left as scripted, and when it is asked for the last time."""

    def __init__(self, *left: float) -> None:
        super().__init__([BlockingCode("nobody", frozenset())], print, print)
        self.answers = list(left)
        self.was_asked = asyncio.Event()

    def remaining(self, began: float, seconds: float) -> float:
        if len(self.answers) == 1:
            self.was_asked.set()
        return self.answers.pop(0)


@pytest.mark.fault("F21")
async def test_the_gate_waits_again_when_its_time_passed_while_the_loop_stood_still() -> None:
    watching = Scripted(0.001, BARRIER_SECONDS)
    gate = StartBarrier(2, watching)
    waiting = asyncio.create_task(gate.wait())
    await watching.was_asked.wait()
    assert not waiting.done()
    gate.arrive()
    gate.arrive()
    await waiting


async def test_the_gate_opens_for_all_when_time_is_over() -> None:
    gate = StartBarrier(2, Scripted(0.001, 0.0))
    await gate.wait()
    await gate.wait()  # at once, for it is open


def a_round_elsewhere() -> subprocess.Popen[str]:
    """A round in a process of its own, waiting for its answer."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.probes.running.guards.stopped", str(PATIENCE)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline() == "asked\n"
    return child


@pytest.mark.fault("F21")
def test_a_process_that_was_stopped_takes_nobody_for_hanging() -> None:
    """Stopped for longer than the test may take; the answer is there when it goes on."""
    with a_round_elsewhere() as child:
        child.send_signal(signal.SIGSTOP)
        os.waitpid(child.pid, os.WUNTRACED)
        threading.Event().wait(2 * PATIENCE)  # how long it is stopped is the fault itself
        child.send_signal(signal.SIGCONT)
        assert child.communicate("7\n", timeout=20)[0] == "read 7\n"


@pytest.mark.fault("F21")
def test_a_process_that_was_not_stopped_does() -> None:
    with a_round_elsewhere() as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "no end after 0 s\n"


def test_a_suspect_is_known_by_the_modules_of_its_classes_and_not_by_what_all_share() -> None:
    found = BlockingCode.of(Blocks(), "x").modules
    assert __name__ in found
    assert "tests.probes.played" in found
    assert not found & {"builtins", "abc", "benchconsole.probes.api"}
