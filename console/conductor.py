"""Owns how the screens drive a session: the ``Conductor`` that they ask for, over a Session."""

from collections.abc import AsyncIterator, Collection, Sequence
from functools import cached_property
from pathlib import Path

from console.events import Event
from console.session import Session
from console.tui.bridge import Hop, PlanNotes
from console.view import LinkView, RunView
from console.wording import count
from probes.api import Safety
from probes.model import Round, Test
from topology.expect import Expectation, expect
from topology.model import Direction
from topology.routing import Routes
from topology.units import Unit, disk_size, parse


class SessionConductor:
    """One Session as the screens see it; answers at once, except for ``events``.

    With ``start`` the default suite runs as soon as somebody follows the events.
    """

    def __init__(self, session: Session, *, start: bool = False) -> None:
        self._session = session
        self._start = start

    @property
    def suites(self) -> tuple[str, ...]:
        """Suites that can be planned."""
        return tuple(self._session.fabric.suites) or ("default",)

    @property
    def running(self) -> bool:
        """Whether rounds are being run."""
        return self._session.running

    @property
    def paused(self) -> bool:
        """Whether the next round is held."""
        return self._session.paused

    def events(self) -> AsyncIterator[Event]:
        """What is stored, then what happens."""
        if self._start:
            self._start = False
            self._session.start(self._session.propose())
        return self._session.events()

    def propose(self, suite: str | None, *, failed_only: bool = False, only: Collection[str] = ()) -> tuple[Round, ...]:
        """The rounds that would run; what an interrupted session has left comes before a new suite."""
        left = self._session.unfinished()
        if suite is None and not failed_only and not only and left:
            return left
        return self._session.propose(suite, failed_only=failed_only, only=only)

    def notes(self, rounds: Sequence[Round]) -> PlanNotes:
        """What these rounds do to the nodes, and what they leave out."""
        fabric = self._session.fabric
        tests = [test for each in rounds for test in each.tests]
        touched = {node.id for test in tests for node in test.target.nodes}
        loading = {each.probe for each in rounds if self._session.probes[each.probe].safety is not Safety.READS}
        effects = [f"{count(len(touched), 'node')} asked over SSH"]
        if loading:
            effects.append(f"loads nodes and network: {', '.join(sorted(loading))}")
        written = sum(_written(test) for test in tests)
        if written:
            effects.append(f"up to {disk_size(written)} written to scratch directories, and removed")
        missing = len(fabric.nodes) - len(touched)
        covers = [f"{len(touched):,} of {count(len(fabric.nodes), 'node')}"]
        if missing:
            covers.append(f"{count(missing, 'node')} not in this plan")
        return PlanNotes(tuple(effects), tuple(covers))

    def start(self, rounds: Sequence[Round]) -> None:
        """Run ``rounds``."""
        self._session.start(rounds)

    def pause(self) -> None:
        """Hold the next round."""
        self._session.pause()

    def go_on(self) -> None:
        """Release a pause."""
        self._session.go_on()

    def stop(self, *, now: bool) -> None:
        """End the run."""
        self._session.stop(now=now)

    async def finished(self) -> None:
        """Wait until nothing of ours runs on any node."""
        await self._session.finished()

    def export(self, format: str, path: Path) -> Path:
        """Write a report of what is stored so far."""
        from console.reports import Options, write

        write(format, self.view(), path, Options())
        return path

    def view(self) -> RunView:
        """The session as it stands in the store."""
        return self._session.view()

    @cached_property
    def _routes(self) -> Routes:
        return Routes(self._session.fabric)

    def path_of(self, test: Test) -> Sequence[Hop]:
        """The way of a test's data, with what its whole round should have loaded each hop with."""
        target = test.target
        if target.peer is None:
            return ()
        fabric = self._session.fabric
        each = next(found for found in self._session.plan if found.number == test.round)
        expected = expect(fabric, each.flows, routes=self._routes)
        index = next(i for i, other in enumerate(t for t in each.tests if t.target.peer) if other.id == test.id)
        shares = self._routes.shares(target.node.id, target.peer.id)
        links = self.view().links
        return [
            self._hop(way, shares[way], expected[index], links.get(way.link))
            for way in self._in_order(target.node.id, shares)
        ]

    def _in_order(self, source: str, shares: Collection[Direction]) -> list[Direction]:
        """The directed links in the order in which data meets them."""
        ordered: list[Direction] = []
        here = {source}
        while here:
            onward = [way for way in shares if way.source in here and way not in ordered]
            ordered += onward
            here = {self._session.fabric.links[way.link].other(way.source) for way in onward}
        return ordered

    def _hop(self, way: Direction, share: float, expected: Expectation, known: LinkView | None) -> Hop:
        fabric = self._session.fabric
        link = fabric.links[way.link]
        return Hop(
            source=way.source,
            sink=link.other(way.source),
            link=way.link,
            members=link.count,
            capacity=link.capacity * fabric.goodput_of(link),
            members_up=known.members_up if known else None,
            expected=expected.value * share,
            limits=way in expected.limiting,
            note="" if share > 1 - 1e-9 else f"{share:.0%} of the flow, by ideal split",
        )


def _written(test: Test) -> float:
    """Bytes that a test may write: its option ``size``, where it has one."""
    size = test.target.options.get("size")
    return 0.0 if size is None else parse(str(size), Unit.BYTE)
