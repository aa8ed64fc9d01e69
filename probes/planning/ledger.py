"""Owns what the tests of a stage take of what they share: links, the sides of nodes, parts of nodes, budgets.

``packing`` sees slots only; here is said what they stand for. A lone flow takes of each directed
link the share of its nominal rate, and one side of each of its nodes; a bundle takes every
directed link on its way whole. Refuses to put anything into rounds.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from probes.errors import PlanError
from probes.model import Demands, Target
from probes.planning.common_links import Users, common_links
from probes.planning.kinds import Kind, Kinds
from probes.planning.layout import Load, Pair
from probes.planning.options import Options, unknown, whole
from probes.planning.packing import Uses
from topology.elements import direction_name
from topology.model import Fabric, NodeId

MOST_TESTS = 2048
"""Tests of one round; more are run in several rounds.

All of them are made ready before the first one sends: at a few milliseconds of processor each, the last one of
so many is ready well within the time that the first one waits (``probes.gate``).
"""

FILESYSTEM, LICENCE = "filesystem:", "licence:"

_WAY, _OUT, _IN, _ALONE, _BUDGET, _SYSTEM, _TESTS = "way", "out", "in", "alone", "budget", "storage", "tests"


@dataclass(slots=True)
class Ledger:
    """Collects jobs and slots. ``fans_out`` and ``apart`` are those of the layout, ``most`` the tests of a round."""

    kinds: Kinds
    fans_out: bool = False
    apart: bool = False
    most: int = MOST_TESTS
    uses: Uses = field(default_factory=Uses)
    _slots: dict[tuple[Hashable, float], int] = field(default_factory=dict)
    _resources: dict[Hashable, int] = field(default_factory=dict)
    _sizes: list[int] = field(default_factory=list)
    _at_most: int = 1 << 60

    def slot(self, key: Hashable, weight: float) -> int:
        """The number of the slot that takes ``weight`` of the resource ``key``."""
        name = (key, round(weight, 9))
        if name not in self._slots:
            resource = self._resources.setdefault(key, len(self._resources))
            if resource == len(self.uses.keys):
                self.uses.keys.append(key)
            self._slots[name] = len(self.uses.weight)
            self.uses.resource.append(resource)
            self.uses.weight.append(name[1])
        return self._slots[name]

    # -- flows

    def pairs(self, pairs: Sequence[Pair]) -> None:
        """One job for each of ``pairs``. Call it once and without ``load``: links that cannot bind are left out."""
        kinds = [self.kinds.kind(source, sink) for source, sink in pairs]
        device = {node: self._device(node) for node in dict.fromkeys(node for pair in pairs for node in pair)}
        users: dict[Kind, Users] = {}
        for (source, sink), kind in zip(pairs, kinds, strict=True):
            if kind is not None:
                users.setdefault(kind, Users()).add(device[source], device[sink])
        heeded = common_links(users, self._inner, once=not self.fans_out)
        inner = {kind: tuple(self.slot((_WAY, way), load) for way, load in links) for kind, links in heeded.items()}
        if self.fans_out or any(kind.systems for kind in users):
            ends = [self._ends(*pair, kind) for pair, kind in zip(pairs, kinds, strict=True)]
        else:
            out = {node: self.slot((_OUT, machine), 1.0) for node, machine in device.items()}
            into = {node: self.slot((_IN, machine), 1.0) for node, machine in device.items()}
            ends = [(out[source], into[sink]) for source, sink in pairs]
        self.uses.jobs += [two + (inner[kind] if kind else ()) for two, kind in zip(ends, kinds, strict=True)]
        self._sizes += [1] * len(pairs)
        self._at_most = len(pairs) if self.fans_out else len({device[source] for source, _ in pairs})

    def load(self, load: Load) -> None:
        """One job for flows that run together: a bundle has its links to itself, a lone flow takes its shares."""
        if load.bundle is None:
            for flow in load.flows:
                kind = self.kinds.kind(flow.source, flow.sink)
                links = self._inner(kind) if kind is not None else ()
                ways = (self.slot((_WAY, way), weight) for way, weight in links)
                self._add((*self._ends(flow.source, flow.sink, kind), *ways))
            return
        taken: set[Hashable] = set()
        for flow in load.flows:
            kind = self.kinds.kind(flow.source, flow.sink)
            taken |= {(_OUT, self._device(flow.source)), (_IN, self._device(flow.sink))}
            if kind is not None:
                taken |= {(_WAY, way) for way, _ in kind.inner} | {(_SYSTEM, name) for name, _ in kind.systems}
        self._add(tuple(self.slot(key, 1.0) for key in sorted(taken, key=repr)), tests=len(load.flows))

    def _device(self, node: NodeId) -> str:
        side = self.kinds.side(node)
        return side.device if side is not None else node

    def _ends(self, source: NodeId, sink: NodeId, kind: Kind | None) -> tuple[int, ...]:
        """What a lone flow takes of its two nodes, and of the storage systems that they serve."""
        shared = self.fans_out and kind is not None
        out, into = (kind.out, kind.into) if shared and kind is not None else (1.0, 1.0)
        ends = (self.slot((_OUT, self._device(source)), out), self.slot((_IN, self._device(sink)), into))
        systems = kind.systems if kind is not None else ()
        return (*ends, *(self.slot((_SYSTEM, name), weight) for name, weight in systems)) if systems else ends

    def _inner(self, kind: Kind) -> Iterable[tuple[int, float]]:
        return ((way, 1.0 if self.apart and way in kind.shared else weight) for way, weight in kind.inner)

    # -- anything else

    def targets(self, targets: Sequence[Target], *, network: bool) -> None:
        """One job for each target; with ``network``, the links between its nodes are its own."""
        for target in targets:
            taken = self._between([node.id for node in target.nodes]) if network else set()
            self._add(tuple(self.slot((_WAY, way), 1.0) for way in sorted(taken)))

    def _between(self, nodes: Sequence[NodeId]) -> set[int]:
        """The directed links between switches that flows among ``nodes`` cross."""
        first: dict[int, list[NodeId]] = {}
        for node in nodes:
            side = self.kinds.side(node)
            if side is not None:
                first.setdefault(side.number, []).append(node)
        ends = [node for alike in first.values() for node in alike[:2]]
        kinds = (self.kinds.kind(one, other) for one in ends for other in ends if one != other)
        return {way for kind in kinds if kind is not None for way, _ in kind.inner}

    def demand(self, demands: Sequence[Sequence[tuple[Target, Demands]]], fabric: Fabric, options: Options) -> None:
        """What the tests of each job, in their order, take besides links.

        Where any test has a part of its nodes to itself, a node is in one test of a round only.
        """
        alone = any(wanted.alone for job in demands for _, wanted in job)
        for index, job in enumerate(demands):
            slots: list[int] = []
            if alone:
                machines = {fabric.nodes[node.id].host or node.id for target, _ in job for node in target.nodes}
                slots += [self.slot((_ALONE, machine), 1.0) for machine in sorted(machines)]
            shared: dict[str, float] = {}
            for _, wanted in job:
                for name, amount in wanted.shared.items():
                    shared[name] = shared.get(name, 0.0) + amount
            for name, amount in shared.items():
                slots.append(self.slot((_BUDGET, name), _part(fabric, name, amount, options)))
            if slots:
                self.uses.jobs[index] = (*self.uses.jobs[index], *slots)

    def at_once(self, demands: Sequence[Demands], fabric: Fabric, options: Options) -> None:
        """Tests that share their nodes and links on purpose. PlanError where they overdraw a budget together."""
        shared: dict[str, float] = {}
        for wanted in demands:
            for name, amount in wanted.shared.items():
                shared[name] = shared.get(name, 0.0) + amount
        self._add(
            tuple(
                self.slot((_BUDGET, n), _part(fabric, n, amount, options, who="what runs at once"))
                for n, amount in shared.items()
            )
        )

    def _add(self, slots: tuple[int, ...], tests: int = 1) -> None:
        self.uses.jobs.append(slots)
        self._sizes.append(tests)

    def closed(self) -> Uses:
        """All jobs, with the number of tests of a round as one more thing that they share where it can bind."""
        if min(sum(self._sizes), self._at_most) > self.most:
            for index, size in enumerate(self._sizes):
                self.uses.jobs[index] = (*self.uses.jobs[index], self.slot((_TESTS, self.most), size / self.most))
        return self.uses

    def name(self, key: Hashable) -> str:
        """What a resource is called in a plan."""
        if not isinstance(key, tuple):
            return ""
        what, which = key
        if what == _WAY:
            return direction_name(self.kinds.routes.fabric, self.kinds.routes.graph.direction(int(which)))
        if what == _TESTS:
            return f"{which} tests at once"
        return f"{which} {what}" if what in (_OUT, _IN, _ALONE) else str(which)


def budget(fabric: Fabric, name: str, options: Options) -> float:
    """How much of a named budget there is: half of what is free on a file system, or so many licences.

    Half, for others write too while a test runs. PlanError for a file system that is not described,
    or of which the free bytes are not, and for a name that says neither.
    """
    if name.startswith(FILESYSTEM):
        system = name.removeprefix(FILESYSTEM)
        if system not in fabric.storage:
            raise unknown("storage system", system, fabric.storage)
        size, free = fabric.storage[system].size, fabric.storage[system].free
        if size is None or free is None:
            lacks = "size" if size is None else "free"
            raise PlanError(
                f"storage system {system!r}: found no {lacks}, expected its size and free share in the file"
            )
        return size * free / 2
    if name.startswith(LICENCE):
        return whole({"licences": 1, **options}, "licences", least=1, most=1_000_000)
    raise PlanError(f"found a demand on {name!r}, expected {FILESYSTEM}NAME or {LICENCE}NAME")


def _part(fabric: Fabric, name: str, amount: float, options: Options, *, who: str = "one test") -> float:
    whole_budget = budget(fabric, name, options)
    if amount > whole_budget:
        raise PlanError(f"{who} asks for {amount:,.0f} of {name}, and there are {whole_budget:,.0f} for all")
    return amount / whole_budget if whole_budget else 0.0
