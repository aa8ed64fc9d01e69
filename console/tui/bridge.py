"""Owns the border between the screens and a session: what is asked of it, and how its events become a view.

``Conductor`` is all that the screens know of a session. ``Bridge`` folds its events into the
latest view, in whatever thread they come; the application asks for that on a tick, so a thousand events
are one repaint.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from console.events import Event, SessionOpened
from console.fold import advance_all, in_order, opened
from console.view import RunView
from probes.hygiene.devices import Confirmation
from probes.model import Round, Test
from topology.analysis.finding import Finding
from topology.model import Fabric, LinkId


@dataclass(frozen=True, slots=True)
class Hop:
    """One link on the way of a test, in the direction of its data.

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


Hear = Callable[[Sequence[Event]], None]
"""Told what happened since the last time, in order; in any thread, one call after the other."""


AskPassword = Callable[[str], Awaitable[str | None]]
"""Asks the operator for the password of ``sudo`` on the nodes, given what to say; None where none is given."""


class Conductor(Protocol):
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

    async def path_of(self, test: Test) -> Sequence[Hop]:
        """The way that a test's data takes; empty for a test of one node."""


class Bridge:
    """Keeps the latest view. ``generation`` counts events, so that a reader knows whether there are new ones.

    Events are folded in the thread that tells them, and the view is read by the screen's; a view never
    changes once it is there, so neither waits for the other.
    """

    def __init__(self) -> None:
        self.generation = 0
        self._folded: RunView | None = None
        self._described: tuple[Fabric, tuple[Finding, ...]] | None = None
        self._shown: tuple[RunView, RunView] | None = None

    async def follow(self, conductor: Conductor) -> None:
        """Fold events until there are no more."""
        await conductor.follow(self.take)

    def take(self, events: Sequence[Event]) -> None:
        """Fold what happened."""
        rest = list(events)
        if self._folded is None:
            first = rest.pop(0)
            if not isinstance(first, SessionOpened):
                raise TypeError(f"a session began with {type(first).__name__}, expected SessionOpened")
            self._folded = opened(first)
        self._folded = advance_all(self._folded, rest)
        self.generation += len(events)

    def describe(self, fabric: Fabric, found: Iterable[Finding]) -> None:
        """Take what the description of ``fabric`` shows."""
        self._described = (fabric, in_order(found))
        self.generation += 1

    @property
    def view(self) -> RunView | None:
        """The latest view, the same object as long as nothing has happened; with what its description shows."""
        folded, described = self._folded, self._described
        if folded is None or described is None or described[0] is not folded.fabric:
            return folded
        shown = self._shown
        if shown is None or shown[0] is not folded or shown[1].static is not described[1]:
            shown = self._shown = (folded, replace(folded, static=described[1]))
        return shown[1]
