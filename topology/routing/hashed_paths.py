"""The one path of each flow where devices choose by hash, or tests by source port: one next hop and one member cable of
it at every device.

Vendors do not publish their hashes, so a choice is a uniform draw and a pure function of the seed, made anew for each
device, or the same everywhere (polarised: later stages see the choices of earlier ones).
"""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple, cast

from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Flow, HashPolicy, Link
from benchconsole.topology.routing.flow_hashes import WORD, FlowHashes, hash_text, mix_bits
from benchconsole.topology.routing.hashed_choices import MEMBER, NEXT_HOP
from benchconsole.topology.routing.hashed_forks import HashedFork, HashedForks
from benchconsole.topology.routing.routes import Routes


class CableStep(NamedTuple):
    """A directed link by number (``Graph.way``), the member of it (from 0), and the VLAN whose channel carries it."""

    way: int
    member: int
    vlan: int | None = None


class HashChoice(NamedTuple):
    """One decision: where, at which stage there, among what, by which policy, and for which flow."""

    device: str
    stage: str
    among: Sequence[Hashable]
    policy: HashPolicy
    key: FlowHashes


Pick = Callable[[HashChoice], int]
"""How choices fall: the position in ``among`` of a choice, which holds at least two."""


class InTurn:
    """Takes the choice that was taken least so far, the first of equals: flows in order use all in turn."""

    def __init__(self) -> None:
        self._taken: Counter[Hashable] = Counter()

    def __call__(self, choice: HashChoice) -> int:
        taken = [self._taken[each] for each in choice.among]
        position = taken.index(min(taken))
        self._taken[choice.among[position]] += 1
        return position


class Hashed:
    """Uniform draws that depend on ``seed``, the flow and the device; ``polarised``: on seed and flow only.

    L2 and L3 hashes see the two ends, so parallel streams stay together; the others, and those
    that nobody described, see ports too. Where tests steer, what they chose is used in turn.
    """

    def __init__(self, seed: int, *, polarised: bool = False) -> None:
        self._seed = mix_bits(seed & WORD)
        self._polarised = polarised
        self._in_turn = InTurn()

    def __call__(self, choice: HashChoice) -> int:
        if choice.policy is HashPolicy.STEERED:
            return self._in_turn(choice)
        key = choice.key.stream if choice.policy.sees_ports else choice.key.ends
        salt = 0 if self._polarised else hash_text(choice.device, choice.stage)
        return mix_bits(key ^ mix_bits(salt ^ self._seed)) % len(choice.among)


class Walker:
    """Walks flows through one fabric, asking ``pick`` at every fork."""

    def __init__(self, routes: Routes, pick: Pick) -> None:
        self._routes = routes
        self._graph = routes.graph
        self._pick = pick
        # By names where a hash draws, so that the order of the file changes no draw; steering takes that order.
        self._forks = HashedForks(routes, sort=not isinstance(pick, InTurn))
        self._split = routes.graph.columns.channelled

    def path(self, flow: Flow, key: FlowHashes) -> list[CableStep]:
        """The directed member cables that ``flow`` crosses, in order. RoutingError when no path is described."""
        path: list[CableStep] = []
        ends = {self._routes.fabric.nodes[node].host or node for node in (flow.source, flow.sink)}
        fork: HashedFork | None = self._forks.start(flow)
        while fork is not None:
            if fork.stage == NEXT_HOP and fork.device in ends:
                raise RoutingError(f"no path from {flow.source} to {flow.sink} but through {fork.device} itself")
            position = 0
            if len(fork.among) > 1:
                position = self._pick(HashChoice(fork.device, fork.stage, fork.among, fork.policy, key))
            if fork.stage == MEMBER:
                path.append(CableStep(*cast(tuple[int, int], fork.among[position])))
            fork = fork.follow(position)
        return self._on_channels(flow, key, path)

    def forget_forks(self) -> None:
        """Drop what is known of the forks, as nothing more is to be walked soon."""
        self._forks.forget()

    def _on_channels(self, flow: Flow, key: FlowHashes, path: list[CableStep]) -> list[CableStep]:
        for index, step in enumerate(path if self._split else ()):
            link = self._graph.links[step.way >> 1]
            if link.channels:
                vlans = tuple(each.vlan for each in self._routes.attachments.channels(flow, link))
                path[index] = step._replace(vlan=self._choose_channel(step.way, link, vlans, key))
        return path

    def _choose_channel(self, way: int, link: Link, vlans: Sequence[int], key: FlowHashes) -> int:
        if len(vlans) == 1:
            return vlans[0]
        among = vlans if isinstance(self._pick, InTurn) else sorted(vlans)
        device = self._graph.direction(way).source
        return among[self._pick(HashChoice(device, "channel", [(way, vlan) for vlan in among], link.hash, key))]
