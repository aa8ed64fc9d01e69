"""The network that the tests of a stage use: the one that its option names, or the one that is for their data.

The fabric of such a stage has the links of that network only, and its nodes the addresses that they have there: who
sends to whom, what is loaded and where a test goes then follow.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from benchconsole.probes.api import Probe, Shape
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.planning.design_options import make_unknown_error
from benchconsole.probes.planning.flow_classes import FlowClasses
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric, NodeId, Stage
from benchconsole.topology.model.network import DATA, NetworkRole
from benchconsole.topology.routing.network_choice import NetworkChoice, say_networks
from benchconsole.topology.routing.routes import Routes
from benchconsole.topology.selection import fold

OPTION = "network"


@dataclass(frozen=True)
class StageNetwork:
    """The network of a stage. ``name`` is empty where the machine has one network, or several that are joined.

    ``fabric`` is that of the network alone, ``members`` the nodes of the stage that are in it.
    """

    name: str
    fabric: Fabric
    flow_classes: FlowClasses
    members: Sequence[NodeId]


class StageNetworks:
    """Chooses the networks of stages on one fabric; what they are planned on is made once for each network."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric
        self._choice = NetworkChoice(fabric)
        self._limited: dict[frozenset[str], tuple[Fabric, FlowClasses]] = {}

    def choose(self, stage: Stage, probe: Probe, members: Sequence[NodeId]) -> StageNetwork:
        """The network of one stage. PlanError for one that nobody has, for a choice of several, and for nodes without
        an address there.
        """
        asked = str(stage.options.get(OPTION) or "")
        if probe.shape is Shape.PAIR and stage.sweep is not None and any(a.name == OPTION for a in stage.sweep.axes):
            raise PlanError(f"{probe.name}: found a sweep over {OPTION}, expected a stage for each network")
        known = asked in self._fabric.networks
        if asked and not known and OPTION not in probe.options:
            raise make_unknown_error(f"network of {probe.name}", asked, self._fabric.networks)
        if asked and probe.shape is Shape.NODE:
            raise PlanError(f"{probe.name}: found {OPTION}={asked}, expected none: its tests are on single nodes")
        if probe.shape is Shape.NODE or (asked and not known) or (not asked and len(self._choice.used) < 2):
            return StageNetwork("", self._fabric, self._whole[1], members)
        names = frozenset((asked,)) if asked else self._find_usual(probe, members)
        fabric, classes = self._limit(names)
        if len(names) > 1:
            return StageNetwork("", fabric, classes, members)
        (name,) = names
        inside = [node for node in members if name in self._choice.list_networks(node)]
        if not inside and members:
            raise PlanError(f"{probe.name}: found none of {fold(members)} in the network {name}, expected some")
        if probe.shape is Shape.PAIR:
            self._refuse_unaddressed(probe, name, inside)
        return StageNetwork(name, fabric, classes, inside)

    @cached_property
    def _whole(self) -> tuple[Fabric, FlowClasses]:
        return self._fabric, FlowClasses(Routes(self._fabric), caps=self._fabric.caps)

    def _find_usual(self, probe: Probe, members: Iterable[NodeId]) -> frozenset[str]:
        """The networks of tests that name none: the one for data, or all but those for management."""
        networks = {node: self._choice.list_networks(node) for node in members}
        present = list(dict.fromkeys(name for own in networks.values() for name in own))
        for role in (NetworkRole.DATA, NetworkRole.STORAGE):
            found = [name for name in present if self._fabric.networks[name].role is role]
            if len(found) == 1:
                return frozenset(found)
            if found:
                self._refuse_choice(probe, networks, found)
                others = (name for name in self._choice.used if self._fabric.networks[name].role is role)
                return frozenset(others) if role is NetworkRole.DATA else frozenset(found)
        if present:
            raise PlanError(
                f"{probe.name}: found nodes in {say_networks(present)} only, which is for management, expected the "
                f"option {OPTION} to send over it"
            )
        return self._choice.used

    @staticmethod
    def _refuse_choice(probe: Probe, networks: dict[NodeId, tuple[str, ...]], found: Sequence[str]) -> None:
        """PlanError where nodes are in several of the networks, and none of these comes first."""
        both = [node for node, own in networks.items() if len(set(own) & set(found)) > 1 and DATA not in own]
        if len(both) > 1:
            raise PlanError(
                f"{probe.name}: found {len(both):,} nodes in several of {say_networks(found)}, expected the option "
                f"{OPTION} to say which one, or another role of the others"
            )

    def _refuse_unaddressed(self, probe: Probe, name: str, nodes: Sequence[NodeId]) -> None:
        missing = [
            node for node in nodes if self._fabric.nodes[node].find_address(name) is None and self._is_apart(node)
        ]
        if missing:
            raise PlanError(
                f"{probe.name} over the network {name}: found no address of {fold(missing)} there, expected "
                f"data_address, or addresses: {{{name}: ...}}, for address is where SSH goes"
            )

    def _is_apart(self, node: NodeId) -> bool:
        """Whether a node is in several networks: in one, tests go where SSH goes."""
        return len(self._choice.list_networks(node)) > 1

    def _limit(self, names: frozenset[str]) -> tuple[Fabric, FlowClasses]:
        if names >= self._choice.used and len(names) > 1:
            return self._whole
        if names not in self._limited:
            fabric = limit_fabric(self._fabric, names)
            self._limited[names] = fabric, FlowClasses(Routes(fabric), caps=fabric.caps)
        return self._limited[names]


def limit_fabric(fabric: Fabric, names: frozenset[str]) -> Fabric:
    """``fabric`` with the links of some networks only; of one, with the addresses that nodes have there."""
    links = {key: link for key, link in fabric.links.items() if link.network in names}
    nodes = fabric.nodes
    if len(names) == 1:
        (name,) = names
        nodes = MappingProxyType({key: node.at(name) for key, node in fabric.nodes.items()})
    pairs = tuple(replace(pair, peer=tuple(link for link in pair.peer if link in links)) for pair in fabric.mlags)
    return replace(fabric, links=MappingProxyType(links), nodes=nodes, mlags=pairs)
