"""Nodes that are in some tests of a plan, and not in those over a network or by ports that they lack."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from benchconsole.probes.model.measuring import Round
from benchconsole.probes.planning.stage_legs import list_addressed
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.routing.network_choice import say_networks
from benchconsole.topology.selection import fold


def list_lacking(fabric: Fabric, rounds: Sequence[Round], sending: Collection[NodeId]) -> Iterator[tuple[NodeId, str]]:
    """The nodes that send somewhere and are in no test over a network, or by ports, that they lack, with the reason."""
    in_network: defaultdict[tuple[str, str], set[NodeId]] = defaultdict(set)
    by_port: defaultdict[tuple[str, str], set[NodeId]] = defaultdict(set)
    ports: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for test in (test for each in rounds for test in each.tests):
        sent, ends = test.sending, [node.id for node in test.target.nodes]
        key = (test.probe, sent.network)
        if sent.network:
            in_network[key].update(ends)
        if sent.leg and sent.peer_leg:
            by_port[key].update(ends)
            ports[key].update({sent.leg: None, sent.peer_leg: None})
    others = [node for node in fabric.nodes if node in sending]
    for (probe, network), nodes in in_network.items():
        for node in others:
            if node not in nodes and network not in list_networks(fabric, node):
                yield node, f"not in {say_networks([network])}, which tests of {probe} use"
    for (probe, network), nodes in by_port.items():
        names = ports[probe, network]
        why = f"in no test of {probe} by port: none of the ports {fold(names)} with an address is known"
        for node in others:
            is_there = not network or network in list_networks(fabric, node)
            if node not in nodes and is_there and not list_addressed(fabric, node, names):
                yield node, why


def list_networks(fabric: Fabric, node: NodeId) -> set[str]:
    """The networks that a node sends over."""
    return {link.network for link in fabric.legs(node)}
