"""Resolves the address of a node in each of its networks: what the file states, and what follows from it.

``addresses`` states them by network, or by port. ``data_address`` is the address in the data network. ``address``,
where SSH goes, is that in the network for management; where a node is in none, tests go there too.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

from benchconsole.topology.copying import replace
from benchconsole.topology.description.document import Location
from benchconsole.topology.description.names import DeviceNames
from benchconsole.topology.errors import find_near
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Link, LinkId, Node, NodeId
from benchconsole.topology.model.network import DATA, Network, NetworkRole

_NUMBERS = re.compile(r"\d+(?:\.\d+){3}")


def find_bad_address(addresses: Iterable[str]) -> str | None:
    """The first of ``addresses`` that is four numbers of which one is above 255; names are not looked at."""
    for address in addresses:
        if _NUMBERS.fullmatch(address) and max(map(int, address.split("."))) > 255:
            return address
    return None


class NodeAddresses:
    """Collects what the nodes of one file state, and gives them their addresses once their cables are known."""

    def __init__(self, names: DeviceNames) -> None:
        self._names = names
        self._stated: dict[str, dict[str, tuple[str, Location]]] = {}
        self._data: set[str] = set()

    def state(self, network: str, nodes: Sequence[str], addresses: Sequence[str], here: Location) -> None:
        """Take in the addresses of ``nodes`` in a network, one for each."""
        for node, address in zip(nodes, addresses, strict=False):
            self._stated.setdefault(node, {})[network] = (address, here)

    def state_data(self, nodes: Iterable[str]) -> None:
        """Take in that the ``data_address`` of these nodes is written down."""
        self._data.update(nodes)

    def resolve(self, links: Mapping[LinkId, Link], networks: Mapping[str, Network]) -> None:
        """Give every node its addresses; problems for a network that does not fit, and for an address twice."""
        self._report_repeats()
        if not self._stated and len(set(map(attrgetter("network"), links.values()))) < 2:
            return
        nodes = self._names.nodes
        ports = group_by_key(
            (end, port)
            for link in links.values()
            for end, own in ((link.a, link.ports_a), (link.b, link.ports_b))
            if end in self._stated
            for port in own
        )
        joined = group_by_key((end, link.network) for link in links.values() for end in (link.a, link.b))
        for name, node in nodes.items():
            own = list(dict.fromkeys(joined.get(node.host or name, ())))
            if len(own) > 1 or name in self._stated:
                self._report_strangers(name, own, networks, ports.get(name, ()))
                nodes[name] = self._place(node, own, networks)

    def _place(self, node: Node, own: Sequence[str], networks: Mapping[str, Network]) -> Node:
        found = {network: address for network, (address, _) in self._stated.get(node.id, {}).items()}
        roles = group_by_key((networks[each].role, each) for each in own if each in networks)
        data, management = roles.get(NetworkRole.DATA, []), roles.get(NetworkRole.MANAGEMENT, [])
        main = DATA if DATA in data else data[0] if len(data) == 1 else None
        if node.id in self._data and main is not None:
            self._report_second(node, main)
            found.setdefault(main, node.data_address)
        if len(management) == 1:
            found.setdefault(management[0], node.address)
        elif main is not None and not management:
            found.setdefault(main, node.data_address)
        order = {network: place for place, network in enumerate(networks)}
        pairs = tuple(sorted(found.items(), key=lambda pair: order.get(pair[0], len(order))))
        data_address = node.data_address if node.id in self._data else found.get(main or "", node.data_address)
        return replace(node, addresses=pairs, data_address=data_address)

    # -- what is refused

    def _report_strangers(
        self, node: NodeId, own: Sequence[str], networks: Mapping[str, Network], ports: Sequence[str]
    ) -> None:
        for network, (_, here) in self._stated.get(node, {}).items():
            if network not in networks and network not in ports:
                expected = f"one of {', '.join(networks)}" + (f", or a port of {node}" if ports else "")
                near = find_near(network, [*networks, *ports])
                self._names.report.add_key(here, f"unknown network {network!r}", expected, near)
            elif network in networks and own and network not in own:
                found = f"an address of {node} in the network {network}, where it has no cable"
                self._names.report.add_key(here, found, f"a network that it is cabled to ({', '.join(own)})")

    def _report_second(self, node: Node, main: str) -> None:
        address, here = self._stated.get(node.id, {}).get(main, (node.data_address, ()))
        if address != node.data_address:
            found = f"the address {address} of {node.id} beside its data_address {node.data_address}"
            self._names.report.add_key(here, found, f"one address in the network {main}")

    def _report_repeats(self) -> None:
        taken: dict[tuple[str, str], str] = {}
        for node, stated in self._stated.items():
            for network, (address, here) in stated.items():
                first = taken.setdefault((network, address), node)
                if first != node:
                    found = f"the address {address} of {first} again for {node}"
                    self._names.report.add(here, found, "each address once in a network")
