"""Owns the border between the screens and a session: what is asked of it, and how its events become a view.

``Conductor`` is all that the screens know of a session. ``Bridge`` folds its events into the
latest view; the application asks for that on a tick, so a thousand events are one repaint.
"""

from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from console.events import Event, SessionOpened
from console.fold import advance, described, opened
from console.view import RunView
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


class Conductor(Protocol):
    """A session, as the screens see it. Everything but ``events`` answers at once."""

    @property
    def suites(self) -> tuple[str, ...]:
        """Names of the suites that can be planned; the default first."""

    @property
    def running(self) -> bool:
        """Whether rounds are being run."""

    @property
    def paused(self) -> bool:
        """Whether the next round waits for ``go_on``."""

    def events(self) -> AsyncIterator[Event]:
        """Every event, from SessionOpened on; ends only with the session object."""

    def propose(self, suite: str | None, *, failed_only: bool = False, only: Collection[str] = ()) -> tuple[Round, ...]:
        """The rounds that would run: a suite, or the tests that failed, or those whose ids are ``only``."""

    def notes(self, rounds: Sequence[Round]) -> PlanNotes:
        """What these rounds do to the nodes and what they cover."""

    def start(self, rounds: Sequence[Round]) -> None:
        """Run ``rounds``."""

    def pause(self) -> None:
        """Wait before the next round."""

    def go_on(self) -> None:
        """Take up the next round after ``pause``."""

    def stop(self, *, now: bool) -> None:
        """End the run: at once, or when the round is closed."""

    async def finished(self) -> None:
        """Wait until nothing of ours runs on any node."""

    def export(self, kind: str, path: Path, /) -> Path:
        """Write a report of a kind (html, md, csv, json) and say where."""

    def path_of(self, test: Test) -> Sequence[Hop]:
        """The way that a test's data takes; empty for a test of one node."""


class Bridge:
    """Keeps the latest view. ``generation`` counts events, so that a reader knows whether there are new ones."""

    def __init__(self) -> None:
        self.view: RunView | None = None
        self.generation = 0
        self.ended = False

    async def follow(self, conductor: Conductor) -> None:
        """Fold events until there are no more."""
        async for event in conductor.events():
            self.take(event)
        self.ended = True

    def take(self, event: Event) -> None:
        """Fold one event."""
        if self.view is not None:
            self.view = advance(self.view, event)
        elif isinstance(event, SessionOpened):
            self.view = opened(event)
        self.generation += 1

    def describe(self, fabric: Fabric, found: Iterable[Finding]) -> None:
        """Take what the description of ``fabric`` shows, unless another fabric is shown by now."""
        if self.view is not None and self.view.fabric is fabric:
            self.view = described(self.view, found)
            self.generation += 1
