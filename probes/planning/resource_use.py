"""The use of shared resources by the tests of a stage: links, ceilings, the sides of nodes, parts of nodes, budgets.

``packing`` sees slots only; this module says what they stand for. A lone flow takes of each directed link and ceiling
the share of its nominal rate, and one side of each of its nodes; a bundle takes every directed link on its way whole,
and of each ceiling what its flows offer.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from benchconsole.probes.api import Probe
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import Demands, Target
from benchconsole.probes.model.options import Given
from benchconsole.probes.model.round_bounds import MOST_TESTS
from benchconsole.probes.planning.design_options import Options, make_unknown_error
from benchconsole.probes.planning.flow_classes import FlowClass, FlowClasses
from benchconsole.probes.planning.layout import FlowLoad, Pair
from benchconsole.probes.planning.packing import FULL_AT, Uses
from benchconsole.topology.capacity.limit_names import name_limit
from benchconsole.topology.model.ceiling import CeilingSide
from benchconsole.topology.model.fabric import Fabric, NodeId


class WidthError(PlanError):
    """Tests that only make sense together are more than may run at once."""


FILESYSTEM, LICENCE = "filesystem:", "licence:"

_WAY, _OUT, _IN, _ALONE, _BUDGET, _SYSTEM, _TESTS = "way", "out", "in", "alone", "budget", "storage", "tests"

_Places = Sequence[tuple[int | CeilingSide, float]]
"""Directed links between switches, by number, and ceilings there, with the load on each."""

_Machines = defaultdict[FlowClass, set[str]]
"""The machines that send, or receive, the flows of each class."""


@dataclass(slots=True)
class ResourceUse:
    """Collects jobs and slots. ``fans_out`` is the design's, ``apart`` the layout's; ``most`` tests are in a round."""

    flow_classes: FlowClasses
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

    def pairs(self, pairs: Sequence[Pair]) -> None:
        """One job for each of ``pairs``. Call it once and without ``load``: links that cannot bind are left out."""
        classes = [self.flow_classes.find_class(source, sink) for source, sink in pairs]
        device = {node: self._device(node) for node in dict.fromkeys(node for pair in pairs for node in pair)}
        counts = Counter(flow_class for flow_class in classes if flow_class is not None)
        sources: _Machines = defaultdict(set)
        sinks: _Machines = defaultdict(set)
        for (source, sink), flow_class in zip(pairs, classes, strict=True):
            if flow_class is not None:
                sources[flow_class].add(device[source])
                sinks[flow_class].add(device[sink])
        heeded = _find_common_links(counts, self._inner, () if self.fans_out else (sources, sinks))
        inner = {
            flow_class: tuple(self.slot((_WAY, place), load) for place, load in places)
            for flow_class, places in heeded.items()
        }
        if self.fans_out or any(flow_class.systems for flow_class in counts):
            ends = [self._ends(*pair, flow_class) for pair, flow_class in zip(pairs, classes, strict=True)]
        else:
            out = {node: self.slot((_OUT, machine), 1.0) for node, machine in device.items()}
            into = {node: self.slot((_IN, machine), 1.0) for node, machine in device.items()}
            ends = [(out[source], into[sink]) for source, sink in pairs]
        self.uses.jobs += [
            two + (inner[flow_class] if flow_class else ()) for two, flow_class in zip(ends, classes, strict=True)
        ]
        self._sizes += [1] * len(pairs)
        self._at_most = len(pairs) if self.fans_out else len({device[source] for source, _ in pairs})

    def load(self, load: FlowLoad) -> None:
        """One job for flows that run together: a bundle has its links to itself, a lone flow takes its shares."""
        if load.bundle is None:
            for flow in load.flows:
                flow_class = self.flow_classes.find_class(flow.source, flow.sink)
                places = self._inner(flow_class) if flow_class is not None else ()
                ways = (self.slot((_WAY, place), weight) for place, weight in places)
                self._add((*self._ends(flow.source, flow.sink, flow_class), *ways))
            return
        taken: set[Hashable] = set()
        offered: defaultdict[CeilingSide, float] = defaultdict(float)
        classes = self._sum_classes
        for flow in load.flows:
            flow_class = classes.find_class(flow.source, flow.sink)
            taken |= {(_OUT, self._device(flow.source)), (_IN, self._device(flow.sink))}
            if flow_class is not None:
                taken |= {(_WAY, way) for way, _ in flow_class.inner}
                taken |= {(_SYSTEM, name) for name, _ in flow_class.systems}
                for side, weight in flow_class.ceilings:
                    offered[side] += weight
        whole = (self.slot(key, 1.0) for key in sorted(taken, key=repr))
        self._add((*whole, *self._take_ceilings(offered)), tests=len(load.flows))

    @property
    def _sum_classes(self) -> FlowClasses:
        """The classes of flows that are judged by their sum, whatever their number of streams."""
        return self.flow_classes.sending(None)

    def _take_ceilings(self, offered: Mapping[CeilingSide, float]) -> list[int]:
        """The slots of ceilings that a group of flows takes; what it offers beyond one is meant to be held up there."""
        return [self.slot((_WAY, side), min(weight, 1.0)) for side, weight in sorted(offered.items())]

    def _device(self, node: NodeId) -> str:
        side = self.flow_classes.find_side(node)
        return side.device if side is not None else node

    def _ends(self, source: NodeId, sink: NodeId, flow_class: FlowClass | None) -> tuple[int, ...]:
        """The slots that a lone flow takes of its two nodes, and of the storage systems that they serve."""
        out = into = 1.0
        if self.fans_out and flow_class is not None:
            out = max((load for _, load in (*flow_class.first, *flow_class.out)), default=0.0)
            into = max((load for _, load in (*flow_class.last, *flow_class.into)), default=0.0)
        systems = flow_class.systems if flow_class is not None else ()
        return (
            self.slot((_OUT, self._device(source)), out),
            self.slot((_IN, self._device(sink)), into),
            *(self.slot((_SYSTEM, name), weight) for name, weight in systems),
        )

    def _inner(self, flow_class: FlowClass) -> _Places:
        ways = flow_class.inner
        if self.apart:
            ways = tuple((way, 1.0 if way in flow_class.shared else weight) for way, weight in ways)
        if not flow_class.ceilings:
            return ways
        places: list[tuple[int | CeilingSide, float]] = [*ways, *flow_class.ceilings]
        return places

    def targets(self, targets: Sequence[Target], *, network: bool) -> None:
        """One job for each target; with ``network``, the links between its nodes are its own.

        Of a ceiling it takes what its nodes can offer there together, each as much as it sends to any other.
        """
        sums = self._sum_classes
        for target in targets:
            groups = sums.group_nodes(node.id for node in target.nodes) if network else {}
            ends = [node for alike in groups.values() for node in alike[:2]]
            taken: set[int] = set()
            offered: defaultdict[CeilingSide, float] = defaultdict(float)
            for alike in groups.values():
                classes = [sums.find_class(alike[0], other) for other in ends if other != alike[0]]
                most: dict[CeilingSide, float] = {}
                for flow_class in classes:
                    if flow_class is not None:
                        taken.update(way for way, _ in flow_class.inner)
                        most.update((side, max(load, most.get(side, 0.0))) for side, load in flow_class.ceilings)
                for side, load in most.items():
                    offered[side] += len(alike) * load
            whole = (self.slot((_WAY, way), 1.0) for way in sorted(taken))
            self._add((*whole, *self._take_ceilings(offered)))

    def demand(self, demands: Sequence[Sequence[tuple[Target, Demands]]], fabric: Fabric, options: Options) -> None:
        """Add the slots that the tests of each job, in their order, take besides links.

        Where any test has a part of its nodes to itself, a node is in one test of a round only.
        """
        alone = any(wanted.alone for job in demands for _, wanted in job)
        for index, job in enumerate(demands):
            slots: list[int] = []
            if alone:
                machines = {fabric.nodes[node.id].host or node.id for target, _ in job for node in target.nodes}
                slots += [self.slot((_ALONE, machine), 1.0) for machine in sorted(machines)]
            for name, amount in sum_shared(wanted for _, wanted in job).items():
                slots.append(self.slot((_BUDGET, name), _part(fabric, name, amount, options)))
            if slots:
                self.uses.jobs[index] = (*self.uses.jobs[index], *slots)

    def at_once(self, demands: Sequence[Demands], fabric: Fabric, options: Options) -> None:
        """Tests that share their nodes and links on purpose. PlanError where they overdraw a budget together."""
        parts = (
            ((_BUDGET, name), _part(fabric, name, amount, options, who="what runs at once"))
            for name, amount in sum_shared(demands).items()
        )
        self._add(tuple(self.slot(*part) for part in parts))

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
        """The name of a resource in a plan."""
        if not isinstance(key, tuple):
            return ""
        what, which = key
        if what == _WAY:
            return name_place(self.flow_classes, which)
        if what == _TESTS:
            return f"{which} tests at once"
        return f"{which} {what}" if what in (_OUT, _IN, _ALONE) else str(which)


def name_place(classes: FlowClasses, place: int | CeilingSide) -> str:
    """The name of a directed link, which is a number, or of a ceiling."""
    graph = classes.routes.graph
    return name_limit(graph.fabric, graph.direction(place) if isinstance(place, int) else place)


def _find_common_links(
    counts: Mapping[FlowClass, int], loads_of: Callable[[FlowClass], _Places], sides: Iterable[_Machines]
) -> dict[FlowClass, list[tuple[int | CeilingSide, float]]]:
    """For each class of lone flows the links between switches that they can overload, and the load of a flow there.

    With ceilings there. Links that are always loaded alike are named once. A link that the machines of one of ``sides``
    cannot fill with one flow each is left out. On a fabric without oversubscription nothing is left.
    """
    columns: dict[int | CeilingSide, list[tuple[FlowClass, float]]] = {}
    for flow_class in counts:
        for way, load in loads_of(flow_class):
            columns.setdefault(way, []).append((flow_class, round(load, 9)))
    first: dict[tuple[tuple[FlowClass, float], ...], int | CeilingSide] = {}
    for way, column in columns.items():
        first.setdefault(tuple(column), way)
    found: dict[FlowClass, list[tuple[int | CeilingSide, float]]] = {flow_class: [] for flow_class in counts}
    for loads, way in first.items():
        in_all = sum(counts[flow_class] * load for flow_class, load in loads)
        if in_all > FULL_AT and all(_load_at_once(loads, machines) > FULL_AT for machines in sides):
            for flow_class, load in loads:
                found[flow_class].append((way, load))
    return found


def _load_at_once(column: Iterable[tuple[FlowClass, float]], machines: _Machines) -> float:
    """The most that a link is loaded with when each machine of one side is in one flow."""
    most: dict[str, float] = {}
    for flow_class, load in column:
        for machine in machines[flow_class]:
            if load > most.get(machine, 0.0):
                most[machine] = load
    return sum(most.values())


def list_demands(probe: Probe | None, targets: Sequence[Target]) -> list[Demands]:
    """The demands of each test besides links; empty where the probe is not installed any more."""
    if probe is None or not targets:
        return [Demands()] * len(targets)
    if type(probe).demands is Probe.demands:  # it looks at no target, and there may be 120,000 of them
        return [probe.demands(targets[0])] * len(targets)
    return [probe.demands(target) for target in targets]


def sum_shared(demands: Iterable[Demands]) -> dict[str, float]:
    """The amount of each shared budget that tests which run at once take."""
    taken: defaultdict[str, float] = defaultdict(float)
    for wanted in demands:
        for name, amount in wanted.shared.items():
            taken[name] += amount
    return taken


def find_budget(fabric: Fabric, name: str, options: Options) -> float:
    """How much of a named budget there is: half of what is free on a file system, or so many licences.

    Half, for others write too while a test runs. PlanError for a file system that is not described,
    or of which the free bytes are not, and for a name that says neither.
    """
    if name.startswith(FILESYSTEM):
        system = name.removeprefix(FILESYSTEM)
        if system not in fabric.storage:
            raise make_unknown_error("storage system", system, fabric.storage)
        size, free = fabric.storage[system].size, fabric.storage[system].free
        if size is None or free is None:
            lacks = f"found no {'size' if size is None else 'free'}, expected its size and free share in the file"
            raise PlanError(f"storage system {system!r}: {lacks}")
        return size * free / 2
    if name.startswith(LICENCE):
        return Given("stage", {"licences": 1, **options}).whole("licences", 1, 1_000_000)
    raise PlanError(f"found a demand on {name!r}, expected {FILESYSTEM}NAME or {LICENCE}NAME")


def _part(fabric: Fabric, name: str, amount: float, options: Options, *, who: str = "one test") -> float:
    whole_budget = find_budget(fabric, name, options)
    if amount > whole_budget:
        raise PlanError(f"{who} asks for {amount:,.0f} of {name}, and there are {whole_budget:,.0f} for all")
    return amount / whole_budget if whole_budget else 0.0
