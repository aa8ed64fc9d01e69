"""The forwarding tables of switches: which cable each takes to a destination.

A switch of InfiniBand looks up the destination (its LID) and sends everything to it over one port: InfiniBand
Architecture Specification, volume 1, 18.2.4.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric, ForwardingTables, Link, LinkId
from benchconsole.topology.model.routing_rule import RoutingRule


def name_destination(node: str, ports: Sequence[str]) -> tuple[str, ...]:
    """The names that tables may give one leg of a node: its port, then the node."""
    return (*(f"{node}:{port}" for port in ports[:1]), node)


def follow_tables(
    tables: ForwardingTables, links: Mapping[LinkId, Link], source: str, names: Sequence[str], sink: str
) -> tuple[list[tuple[str, Link]], str]:
    """The steps from switch ``source`` to switch ``sink`` for a destination, each a device and the link that it takes.

    ``names`` are what the destination may be called, its port first. The second value says what is wrong: a hole, a
    loop or a way that ends elsewhere; then the steps are those before it.
    """
    steps: list[tuple[str, Link]] = []
    here, seen = source, [source]
    while here != sink:
        table = tables.get(here, {})
        taken = next((table[name] for name in names if name in table), None)
        link = None if taken is None else links.get(taken)
        if link is None:
            return steps, f"a hole: {here} has no port for {names[-1]}"
        steps.append((here, link))
        here = link.other(here)
        if here in seen:
            around = ", ".join([*seen[seen.index(here) :], here])
            return steps, f"a loop for {names[-1]}: {around}"
        if here not in tables and here != sink:
            return steps, f"a way that ends at {here} instead of {names[-1]}"
        seen.append(here)
    return steps, ""


def forget_tables(fabric: Fabric) -> Fabric:
    """``fabric`` with least hops in place of tables: the subnet manager writes new ones when anything is lost."""
    if not fabric.tables:
        return fabric
    networks = {
        name: replace(network, routing=RoutingRule.SHORTEST) if network.routing is RoutingRule.TABLES else network
        for name, network in fabric.networks.items()
    }
    return replace(fabric, tables=MappingProxyType({}), networks=MappingProxyType(networks))
