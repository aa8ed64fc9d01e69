"""Rails and planes: the parts of a network that each of several ports of a node leads to.

A node with ports that are in no bond has a leg in each part. Planes stand in for each other: what one port cannot send
the others do. Rails (Wang et al., Rail-only, IEEE HotI 2024) do not: a collective over all rails of its nodes stops
with the first that is lost. Which of both they are is what the file says (``legs`` of a network), else what names say.

A part is all legs of one port name where the file names ports, else what is cabled together, else one leaf switch.
Ratios of capacity are on the wire.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from benchconsole.topology.analysis.bisection import FabricCut, analyse_bisection
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding, fold_names
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, Link, LinkId, NodeId
from benchconsole.topology.model.network import Parallel
from benchconsole.topology.routing.parallel_legs import ParallelLegs, find_node, find_parallel_legs, list_apart_legs
from benchconsole.topology.selection import fold
from benchconsole.topology.tables.fabric_tables import make_tables
from benchconsole.topology.units import counted, percent

MOST_RAILS = 16
MOST_NODES = 5_000
"""Parts and nodes up to which each part is halved: some seconds."""


@dataclass(frozen=True, slots=True)
class Rail:
    """One part: the ``nodes`` that have a leg in it, the ``switches`` that these legs lead to, byte/s of all of them.

    ``left`` is the share of the capacity of its nodes that remains without it, ``lacking`` are nodes of the same class
    and role as most of its own that have no leg in it, ``halves`` the least cut between halves of its nodes within it;
    None where that was not looked for.
    """

    name: str
    nodes: tuple[str, ...]
    switches: tuple[str, ...]
    capacity: float
    left: float
    lacking: tuple[str, ...] = ()
    halves: FabricCut | None = None


@dataclass(frozen=True, slots=True)
class RailSet:
    """The parts of one network that ports lead to. ``is_inferred``: what they are follows from names, or from none."""

    network: str
    kind: Parallel
    is_inferred: bool
    rails: tuple[Rail, ...]


def analyse_rails(fabric: Fabric) -> tuple[RailSet, ...]:
    """The rails or planes of every network in which nodes have several ports of their own."""
    return tuple(
        RailSet(each.network, each.kind, each.is_inferred, tuple(_describe(fabric, each)))
        for each in find_parallel_legs(fabric)
    )


def _describe(fabric: Fabric, legs_of: ParallelLegs) -> Iterator[Rail]:
    network, nodes, parts = legs_of.network, legs_of.nodes, legs_of.parts
    total = {node.id: sum(link.capacity for link in list_apart_legs(fabric, network, node)) for node in nodes}
    small = len(parts) <= MOST_RAILS and len(nodes) <= MOST_NODES
    for name, legs in parts.items():
        own = tuple(dict.fromkeys(find_node(fabric, link) for link in legs))
        capacity, whole = sum(link.capacity for link in legs), sum(total[NodeId(node)] for node in own)
        rail = Rail(
            name,
            own,
            tuple(dict.fromkeys(link.other(find_node(fabric, link)) for link in legs)),
            capacity,
            (whole - capacity) / whole,
        )
        rail = replace(rail, lacking=tuple(_list_lacking(fabric, network, rail)))
        yield replace(rail, halves=_halve(fabric, legs)) if small else rail


def _list_lacking(fabric: Fabric, network: str, rail: Rail) -> Iterator[str]:
    """Nodes of the network that are like some of a part, by class and role, and have no leg in it."""
    kinds = {(fabric.nodes[NodeId(node)].hardware.name, fabric.nodes[NodeId(node)].role) for node in rail.nodes}
    having, switches = set(rail.nodes), set(rail.switches)
    is_port = any(link.port_at(rail.nodes[0]) == rail.name for link in fabric.links_at[rail.nodes[0]])

    def is_in(link: Link, node: str) -> bool:
        return link.port_at(node) == rail.name if is_port else link.other(node) in switches

    for node in fabric.nodes.values():
        if node.id not in having and (node.hardware.name, node.role) in kinds:
            legs = list_apart_legs(fabric, network, node)
            if legs and not any(is_in(link, node.id) for link in legs):
                yield node.id


def _halve(fabric: Fabric, legs: Sequence[Link]) -> FabricCut | None:
    """The least cut between halves of the nodes of a part, when they have these legs only."""
    kept = {link.id for link in legs}

    def is_kept(key: LinkId, link: Link) -> bool:
        return key in kept or (link.a in fabric.switches and link.b in fabric.switches)

    links = {key: link for key, link in fabric.links.items() if is_kept(key, link)}
    return analyse_bisection(make_tables(replace(fabric, links=MappingProxyType(links)))).halves


def list_findings(sets: Iterable[RailSet]) -> Iterator[StaticFinding]:
    """Findings of the loss of a rail or plane, and of nodes that lack one that their like have."""
    for each in sets:
        yield from _describe_loss(each)
        alike = group_by_key(((rail.lacking, len(rail.nodes)), rail.name) for rail in each.rails if rail.lacking)
        for (lacking, having), names in alike.items():
            where = fold(names)
            text = (
                f"{len(lacking)} of {len(lacking) + having} nodes that have ports of one kind lack {where}: "
                f"{fold_names(lacking)}"
            )
            yield StaticFinding(Severity.WARNING, "rail-missing", where, text)


def _describe_loss(found: RailSet) -> Iterator[StaticFinding]:
    """Of each kind of part that leaves the same, what is left."""
    one = found.kind.value.removesuffix("s")
    key = "network" if found.network == "data" else f"network {found.network}"
    for left, rails in group_by_key((float(f"{rail.left:.6g}"), rail) for rail in found.rails).items():
        names = fold([rail.name for rail in rails])
        nodes = len(dict.fromkeys(node for rail in rails for node in rail.nodes))
        switches = fold(dict.fromkeys(switch for rail in rails for switch in rail.switches))
        which = names if names == switches else f"{names} to {switches}"
        lost = f"the loss of one {one} of {len(found.rails)} ({which})"
        kept = f"{percent(left)} of their capacity remains"
        if found.kind is Parallel.RAILS:
            text = (
                f"{lost} stops collectives over all rails of {counted(nodes, 'node')}; {kept} for what uses the others"
            )
            hint = f" (rails by their names; legs: planes of the {key} says that they stand in for each other)"
            yield StaticFinding(Severity.WARNING, "rail-loss", names, text + hint * found.is_inferred)
        else:
            text = f"{lost} cuts off none of {counted(nodes, 'node')} with ports in several: planes stand in; {kept}"
            hint = f" (legs: rails of the {key} says that they do not)"
            yield StaticFinding(Severity.NOTE, "plane-loss", names, text + hint * found.is_inferred)
