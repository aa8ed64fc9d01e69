"""Networks of a description that nobody is in, that flows cannot choose, or that they would choose wrongly."""

from collections.abc import Iterator, Mapping, Sequence

from benchconsole.topology.analysis.static_finding import Severity, StaticFinding, fold_names
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, Node
from benchconsole.topology.model.network import DATA, NetworkRole
from benchconsole.topology.routing.network_choice import NetworkChoice, say_networks
from benchconsole.topology.units import counted, network_rate

FASTER = 4.0
"""Times the speed of the network that flows take from which another one was more likely meant."""


def list_findings(fabric: Fabric) -> Iterator[StaticFinding]:
    """All that is wrong with the networks of ``fabric``, or that its reader should know of them."""
    choice = NetworkChoice(fabric)
    for name, network in fabric.networks.items():
        if name not in choice.used and name != DATA:
            text = f"nobody is in the network {name}: no link says network: {name}"
            yield StaticFinding(Severity.WARNING, "network-unused", name, text)
        elif network.is_role_inferred:
            text = f"the network {name} is for {network.role} by its name: role: data would make it one for data"
            yield StaticFinding(Severity.NOTE, "network-role", name, text)
    if len(choice.used) > 1:
        yield from _describe_choices(fabric, choice)


def _describe_choices(fabric: Fabric, choice: NetworkChoice) -> Iterator[StaticFinding]:
    """Findings of nodes in several networks, once for all nodes in the same networks."""
    alike = group_by_key((choice.list_networks(node.id), node) for node in fabric.nodes.values())
    for networks, nodes in alike.items():
        own = [name for name in networks if fabric.networks[name].role is NetworkRole.DATA]
        names = fold_names([node.id for node in nodes])
        if len(own) > 1 and DATA not in own and len(nodes) > 1:
            text = (
                f"{names} are in {say_networks(own)}, all of them for data: a flow between them has to say which one, "
                "or the others need another role"
            )
            yield StaticFinding(Severity.WARNING, "network-choice", names, text)
        elif own:
            taken = DATA if DATA in own else own[0]
            yield from _describe_slower(fabric, nodes, taken, own)
            yield from _describe_unaddressed(fabric, nodes, taken, networks)


def _describe_slower(fabric: Fabric, nodes: Sequence[Node], taken: str, own: Sequence[str]) -> Iterator[StaticFinding]:
    speed = _measure(fabric, nodes[0], own)
    faster = max(own, key=lambda name: speed[name])
    if speed[faster] >= FASTER * speed[taken]:
        names = fold_names([node.id for node in nodes])
        text = (
            f"flows of {names} take the network {taken} ({network_rate(speed[taken])}) and not {faster} "
            f"({network_rate(speed[faster])}): if that is for management, say network: {{role: management}}"
        )
        yield StaticFinding(Severity.WARNING, "network-slower", names, text)


def _measure(fabric: Fabric, node: Node, networks: Sequence[str]) -> Mapping[str, float]:
    """byte/s of the cables of a node in each of these networks."""
    legs = [link for link in fabric.legs(node.id) if not link.standby]
    return {name: sum(link.capacity for link in legs if link.network == name) for name in networks}


def _describe_unaddressed(
    fabric: Fabric, nodes: Sequence[Node], taken: str, networks: Sequence[str]
) -> Iterator[StaticFinding]:
    missing = [node.id for node in nodes if node.find_address(taken) is None]
    if missing and len(networks) > 1:
        text = (
            f"{counted(len(missing), 'node')} without an address in the network {taken}, {fold_names(missing)}: "
            f"tests over it are refused without data_address, or addresses: {{{taken}: ...}}"
        )
        yield StaticFinding(Severity.NOTE, "network-address", taken, text)
