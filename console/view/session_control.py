"""The interface between the screens and a session: everything that a screen may ask of it."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from benchconsole.console.view.events import Event
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.blank_devices import Confirmation
from benchconsole.probes.model.measuring import Round, Test
from benchconsole.topology.model.fabric import LinkId


@dataclass(frozen=True, slots=True)
class PlanNotes:
    """What a plan does, in words: ``effects`` on nodes, what it ``covers``, what is ``held_back`` and why."""

    effects: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    held_back: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """Rounds that would run, and what they do; nothing of it has been sent.

    ``unconfirmed`` are disks that are left out because nobody has confirmed that they may be overwritten.
    ``ends`` says what is still to be done of an interrupted session whose rounds are all closed: it is started
    with no rounds. Empty where there is nothing to run, or rounds.
    """

    rounds: tuple[Round, ...]
    notes: PlanNotes = field(default_factory=PlanNotes)
    unconfirmed: tuple[Confirmation, ...] = ()
    ends: str = ""


@dataclass(frozen=True, slots=True)
class FlowHop:
    """One link on the path of a test, in the direction of its data.

    ``capacity`` and ``expected`` are byte/s of payload (as built; what this test should see of
    it). ``members_up`` is None when nothing says that one is down. ``limits`` marks the hop
    that bounds the expectation; ``note`` is a word or two on it.
    """

    source: str
    sink: str
    link: LinkId
    members: int
    capacity: float
    members_up: int | None = None
    expected: float | None = None
    limits: bool = False
    note: str = ""


Hear = Callable[[Sequence[Event]], None]
"""Told what happened since the last time, in order; in any thread, one call after the other."""


AskPassword = Callable[[str], Awaitable[str | None]]
"""Asks the operator for the password of ``sudo`` on the nodes, given what to say; None where none is given."""


class SessionControl(Protocol):
    """A session, as the screens see it. What is not awaited answers at once and blocks nothing."""

    @property
    def suites(self) -> tuple[str, ...]:
        """Names of the suites that can be planned; the default first."""

    @property
    def running(self) -> bool:
        """Whether rounds are being run."""

    @property
    def paused(self) -> bool:
        """Whether the next round waits for ``go_on``."""

    @property
    def resumable(self) -> bool:
        """Whether an interrupted session can be gone on with: ``propose(None)`` proposes what it still owes."""

    @property
    def follows(self) -> str:
        """Who drives the session where that is another console, in a sentence: no order is taken; empty else."""

    async def follow(self, hear: Hear) -> None:
        """Tell ``hear`` every event, from SessionOpened on, until the session is closed; raises what ends it badly."""

    def answered_by(self, ask: AskPassword) -> None:
        """From now on ``ask``, which runs on the loop of the caller, is asked for the password of ``sudo``."""

    async def propose(
        self,
        suite: str | None,
        *,
        failed_only: bool = False,
        only: Collection[str] = (),
        typed: Collection[str] = (),
    ) -> Proposal:
        """The rounds that would run: a suite, or the tests that failed, or those whose ids are ``only``.

        ``typed`` are serial numbers of disks that the operator has typed, who agrees to lose what is on them.
        """

    async def start(self, rounds: Sequence[Round]) -> None:
        """Run ``rounds``, or with none end an interrupted session; PlanError where they must not be run."""

    def pause(self) -> None:
        """Wait before the next round."""

    def go_on(self) -> None:
        """Take up the next round after ``pause``."""

    def stop(self, *, now: bool) -> None:
        """End the run: at once, or when the round is closed."""

    def abandon(self) -> None:
        """End at once, whatever is left on the nodes: their watchdogs see to that."""

    async def finished(self) -> None:
        """Wait until nothing of ours runs on any node."""

    async def close(self) -> None:
        """End everything that the session has opened on this machine."""

    async def export(self, kind: str, view: RunView, path: Path, /) -> Path:
        """Write a report of a kind (html, md, csv, json) of what ``view`` shows as stored, and say where."""

    async def path_of(self, test: Test) -> Sequence[FlowHop]:
        """The way that a test's data takes; empty for a test of one node."""
