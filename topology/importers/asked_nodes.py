"""The fabric that nodes tell of when they are asked: neighbours over LLDP, speeds and bonds of ports, hardware.

A node is called as it was asked for, whatever it says of itself. An unreadable answer costs the cables of its node
only. Nodes that could not be asked are nodes of the fabric all the same, so that no session passes without them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from benchconsole.topology.copying import replace
from benchconsole.topology.description.document import Imported
from benchconsole.topology.errors import Position, TopologyError
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.importers import lldp
from benchconsole.topology.importers.bundles import SourceCable
from benchconsole.topology.importers.draft import Draft, DraftDevice, format_cables
from benchconsole.topology.importers.lldp import LldpNeighbour
from benchconsole.topology.importers.roles import find_node_role
from benchconsole.topology.model.fabric import Bond
from benchconsole.topology.selection import NAME, fold

UNADDRESSED = "no data address was found: tests go to its name"
"""The comment beside a node of which nobody knows where tests go."""

MOST_NEIGHBOURS = 512
"""Neighbours of one node; more are taken for text that somebody made up."""

_LONGEST = 253
_BONDS = {"802.3ad": Bond.LACP, "balance-xor": Bond.XOR, "active-backup": Bond.BACKUP}
"""Modes of the Linux bonding driver that our file has a word for."""
_DECLARED = ("cpu.model", "cpu.sockets", "cpu.cores", "memory.total", "memory.dimms")
_ALIKE = ("system.product", "cpu.model")
"""Facts in which nodes of one class must agree, beside their role."""


@dataclass(frozen=True, slots=True)
class BondedPort:
    """The bond of a port: its name, the mode as the driver calls it, the port that is active where only one is, and
    the aggregate that this port is in.
    """

    bond: str
    mode: str
    active: str = ""
    aggregator: str = ""


@dataclass(frozen=True, slots=True)
class AskedNode:
    """The answers of one node. ``neighbours`` is the text of ``lldpctl``; where there is none, ``deaf`` says why.

    ``speeds`` are byte/s by port, ``bonds`` the bonds of ports. ``data_address`` is where tests go, empty where that is
    not known; ``unaddressed`` says why then. ``facts`` are numbers in base units and texts, named as in the inventory.
    """

    name: str
    neighbours: str = ""
    deaf: str = ""
    speeds: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    bonds: Mapping[str, BondedPort] = field(default_factory=lambda: MappingProxyType({}))
    data_address: str = ""
    unaddressed: str = "it told of none"
    facts: Mapping[str, str | float] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class AskedFabric:
    """A fabric as nodes told it; ``gaps`` say what is missing in it and why, one sentence each.

    ``unaddressed`` are those gaps that speak of nodes without a data address.
    """

    imported: Imported
    gaps: tuple[str, ...]
    unaddressed: tuple[str, ...] = ()


def describe_fabric(
    name: str, asked: Sequence[AskedNode], unasked: Mapping[str, str], speed: str | None = None, config: str = ""
) -> AskedFabric:
    """The fabric ``name`` of nodes that answered, and of those that did not, with the reason of each.

    ``speed`` is for cables without one, which are left out else; ``config`` is the ssh_config that the nodes were
    reached by, where it was not the user's own. Raises TopologyError where what they tell contradicts itself.
    """
    told = _Told(name)
    if config:
        told.draft.section("ssh", "config", config, told.draft.start)
    classes = told.make_classes(asked)
    unaddressed = _find_unaddressed(asked)
    for each in asked:
        fields = {"class": classes[each.name]} if each.name in classes else {}
        known = each.name not in unaddressed
        fields |= {"data_address": each.data_address} if known else {}
        note = "" if known else UNADDRESSED
        told.draft.device(DraftDevice(each.name, _place(each.name), switch=False, fields=fields, note=note))
    for node in unasked:
        told.draft.device(DraftDevice(node, _place(node), switch=False))
    for reason, nodes in group_by_key((why, node) for node, why in unasked.items()).items():
        told.gaps.append(f"nodes that could not be asked: {fold(nodes)}: {reason}")
    missing = tuple(
        f"nodes whose data address is not known, tests go to their names: {fold(nodes)}: {why}"
        for why, nodes in group_by_key((why, node) for node, why in unaddressed.items()).items()
    )
    told.gaps += missing
    for each in asked:
        told.add_cables(each)
    lldp.settle_cables(told.draft)
    told.drop_without_speed(speed)
    told.remark_strangers({*(each.name for each in asked), *unasked})
    gaps = tuple(told.list_gaps())
    told.draft.remarks[:0] = gaps
    return AskedFabric(told.draft.finish(speed), gaps, missing)


def _find_unaddressed(asked: Sequence[AskedNode]) -> dict[str, str]:
    """The nodes of which nobody knows where tests go, with the reasons; an address of several nodes is of none."""
    alike = group_by_key((each.data_address, each.name) for each in asked)
    found = {each.name: each.unaddressed for each in asked if not each.data_address}
    for address, nodes in alike.items():
        if address and len(nodes) > 1:
            found |= dict.fromkeys(nodes, f"{address} is told by several nodes")
    return found


def _place(node: str) -> Position:
    return Position(f"{node} (lldpctl)", 1, 1)


class _Told:
    """Collects what nodes tell in one draft, and what is missing: ``silent`` are nodes without cables by the reason."""

    def __init__(self, name: str) -> None:
        self.draft = Draft("ssh", "")
        self.draft.name = name
        self.gaps: list[str] = []
        self.silent: dict[str, list[str]] = {}
        self.pairs: dict[str, tuple[str, ...]] = {}

    def list_gaps(self) -> Iterator[str]:
        yield from self.gaps
        yield from (f"nodes whose cables are not known: {fold(nodes)}: {why}" for why, nodes in self.silent.items())

    # -- cables

    def _read_neighbours(self, node: AskedNode) -> list[LldpNeighbour]:
        """The neighbours of ``node``, at the speeds of its own ports; without those that our file cannot name."""
        seen, why = [], node.deaf
        if not why:
            try:
                seen = lldp.read_neighbours(node.neighbours, f"{node.name} (lldpctl)")
            except TopologyError as error:
                why = f"its lldpctl cannot be read: {error.problems[0].found}"
        if len(seen) > MOST_NEIGHBOURS:
            seen, why = [], f"it tells of more than {MOST_NEIGHBOURS} neighbours"
        sound = [each for each in seen if _can_be_named(each.switch)]
        if len(sound) < len(seen):
            odd = next(each for each in seen if not _can_be_named(each.switch))
            self.gaps.append(f"neighbours whose names our file cannot hold: {odd.switch[:60]!r} on {node.name}")
        if not sound:
            self.silent.setdefault(why or "its lldpd hears no neighbour that can be named", []).append(node.name)
        return [self._set_speed(each, node.speeds.get(each.interface)) for each in sound]

    def _set_speed(self, seen: LldpNeighbour, own: float | None) -> LldpNeighbour:
        """The speed of the node's own port goes before what the far end says of its kind."""
        return seen if own is None else replace(seen, speed=own, named=False)

    def add_cables(self, node: AskedNode) -> None:
        """The cables of ``node``: those of a bond are one LAG, or legs to several switches; one may stand by."""
        before = len(self.draft.cables)
        lldp.add_neighbours(node.name, self._read_neighbours(node), self.draft)
        cables = self.draft.cables[before:]
        by_port = {self.draft.port(port): (port, bond) for port, bond in node.bonds.items()}
        legs = [(cable, *by_port[cable.port_a]) for cable in cables if cable.port_a in by_port]
        joined = [cable for cable in cables if cable.port_a not in by_port]
        for several in group_by_key((leg[2].bond, leg) for leg in legs).values():
            joined += self._join(several)
        self.draft.cables[before:] = joined

    def _join(self, legs: Sequence[tuple[SourceCable, str, BondedPort]]) -> list[SourceCable]:
        """The cables of one bond, each with its port as the node calls it."""
        cables = [cable for cable, _, _ in legs]
        node, bond = cables[0].a, legs[0][2]
        mode, switches = _BONDS.get(bond.mode), sorted({cable.b for cable in cables})
        if mode is None:
            self.draft.remark(f"bonds of modes that our file has no word for: {bond.mode} of {bond.bond} of {node}")
            return cables
        if mode is Bond.BACKUP:
            return self._order_by_activity(legs)
        if mode is Bond.LACP and len(switches) == 2 and len({each.aggregator for _, _, each in legs} - {""}) == 1:
            self._pair(switches, cables[0].where)
        fields = {"bond": mode.value} if len(switches) > 1 else {}
        return [replace(cable, joined=True, fields=MappingProxyType(fields)) for cable in cables]

    def _order_by_activity(self, legs: Sequence[tuple[SourceCable, str, BondedPort]]) -> list[SourceCable]:
        node, bond = legs[0][0].a, legs[0][2]
        active = next((cable for cable, port, _ in legs if port == bond.active), None)
        if active is None:
            self.gaps.append(f"bonds whose active leg hears no neighbour, left out: {bond.bond} of {node}")
            return []
        standby = [cable for cable, _, _ in legs if cable.b != active.b]
        if len(standby) < len(legs) - 1:
            self.draft.remark(f"standby legs to the switch of the active one are left out: of {bond.bond} of {node}")
        fields = MappingProxyType({"bond": Bond.BACKUP.value} if standby else {})
        return [replace(active, fields=fields), *(replace(each, fields=fields, standby=True) for each in standby)]

    def _pair(self, switches: Sequence[str], where: Position) -> None:
        """Two switches whose cables aggregate as one are an MLAG pair: LACP joins cables to one system (802.1AX)."""
        pairs = self.draft.sections.get("mlag", {})
        name = "-".join(switches)
        paired = {switch for pair in pairs if pair != name for switch in self.pairs[pair]}
        if paired.intersection(switches):
            self.gaps.append(f"switches that would be in two MLAG pairs, see which is right: {fold(switches)}")
        elif name not in pairs:
            self.pairs[name] = tuple(switches)
            self.draft.section("mlag", name, {"switches": ",".join(switches)}, where)
            self.draft.remark("MLAG pairs are inferred from nodes whose cables to both switches aggregate as one")

    def drop_without_speed(self, speed: str | None) -> None:
        slow = [cable for cable in self.draft.cables if cable.speed is None]
        if slow and speed is None:
            self.gaps.append(f"links of unknown speed, left out (init --link-speed gives one): {format_cables(slow)}")
            self.draft.cables = [cable for cable in self.draft.cables if cable.speed is not None]

    def remark_strangers(self, known: set[str]) -> None:
        """Name the nodes that were heard and not asked for: the file has them because a neighbour tells of them."""
        heard = [each.name for each in self.draft.devices.values() if not each.switch and each.name not in known]
        if heard:
            self.gaps.append(f"nodes that were heard and not asked, see that they are yours: {fold(heard)}")

    # -- classes

    def make_classes(self, asked: Sequence[AskedNode]) -> dict[str, str]:
        """Node to the name of its class: nodes of one role, machine and processor, with the facts that all share."""
        kinds = group_by_key((_find_kind(each), each) for each in asked if _find_kind(each)[1:] != ("", ""))
        found: dict[str, str] = {}
        for (role, *_), nodes in kinds.items():
            taken = self.draft.sections.get("classes", {})
            name = next(each for each in _list_names(role) if each not in taken)
            self.draft.section("classes", name, self._make_class(name, nodes), _place(nodes[0].name))
            found.update(dict.fromkeys((each.name for each in nodes), name))
        return found

    def _make_class(self, name: str, nodes: Sequence[AskedNode]) -> dict[str, object]:
        made: dict[str, dict[str, object]] = {}
        for fact in _DECLARED:
            values = group_by_key((each.facts.get(fact), each.name) for each in nodes)
            shared = next(iter(values))
            if len(values) > 1:
                said = ", ".join(f"{_format(fact, value)} on {fold(those)}" for value, those in values.items())
                self.gaps.append(f"a fact in which the nodes of class {name} differ, left out of it: {fact} is {said}")
            elif shared is not None:
                section, _, key = fact.partition(".")
                made.setdefault(section, {})[key] = _format(fact, shared)
        return dict(made)


def _can_be_named(told: str) -> bool:
    """Whether a neighbour can stand in our file; one without any name is told of elsewhere."""
    return not told or (len(told) <= _LONGEST and NAME.fullmatch(told.replace(":", "-")) is not None)


def _find_kind(node: AskedNode) -> tuple[str, ...]:
    return (find_node_role(node.name) or "node", *(str(node.facts.get(fact, "")) for fact in _ALIKE))


def _list_names(role: str) -> Iterator[str]:
    yield role
    number = 2
    while True:
        yield f"{role}-{number}"
        number += 1


def _format(fact: str, value: str | float | None) -> str | int:
    if value is None:
        return "not told"
    if fact == "memory.total":
        whole, rest = divmod(int(value), 2**30)
        return f"{int(value)} B" if rest else f"{whole} GiB"
    return value if isinstance(value, str) else int(value)
