"""The comparison of ``diff``: from the facts of nodes to ``topology.wire.comparison``, as a page and as JSON.

The facts are those of ``inventory``: of a run, of a stored session, or of saved outputs of ``lldpctl``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import MappingProxyType

from benchconsole.console.exits import Exit
from benchconsole.console.static_report.json_values import Record, encode_record
from benchconsole.console.text.cells import wrap_text
from benchconsole.console.text.name_sets import group_alike
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import Column, Table, format_body, words
from benchconsole.console.view.run_view import RunView, superseding
from benchconsole.probes.api import Fact, Probe
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.model.probe_names import INVENTORY
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, NodeId, Stage, Suite
from benchconsole.topology.selection import fold
from benchconsole.topology.units import counted as count
from benchconsole.topology.wire.cabling import CableOutcome, CableState
from benchconsole.topology.wire.comparison import WireCoverage, WireReport, compare
from benchconsole.topology.wire.differences import CablingDifference
from benchconsole.topology.wire.observations import BondSeen, HeardNeighbour, Member, Observed, ObservedPort

_NO_PORTS = frozenset(
    ("bond", "bridge", "team", "vlan", "macvlan", "ipvlan", "vxlan", "tun", "vrf", "geneve", "wireguard")
)
"""Kinds of interfaces without a cable of their own."""


def plan_inventory(fabric: Fabric, probes: Mapping[str, Probe], nodes: Sequence[NodeId]) -> tuple[Round, ...]:
    """The rounds that ask ``nodes`` for what the comparison needs."""
    stage = Stage(INVENTORY, tuple(nodes), MappingProxyType({}))
    return plan(fabric, Suite("diff", (stage,)), probes)


@dataclass(slots=True)
class NodeObservations:
    """The answers of nodes, None for those that gave none; ``why`` says of these why not."""

    nodes: dict[str, Observed | None] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)

    def add_silent(self, node: str, why: str) -> None:
        self.nodes[node] = None
        self.why[node] = why


def read_observations(view: RunView, nodes: Iterable[NodeId]) -> NodeObservations:
    """The answers of ``nodes`` in a session, the newest of each."""
    told = NodeObservations()
    results = {r.test.target.node.id: r for r in superseding(view).values() if r.test.probe == INVENTORY}
    for node in nodes:
        result = results.get(node)
        if result is None:
            told.add_silent(node, f"not asked in session {view.session}")
        elif result.failure is not None:
            told.add_silent(node, f"{result.failure.stage}: {result.failure.detail}")
        else:
            told.nodes[node] = read_observed(result.facts, result.test.target.node.data_address)
    return told


def read_node_facts(view: RunView) -> dict[NodeId, dict[str, str | float]]:
    """The facts on each node as a whole in its newest inventory: those without labels."""
    results = (each for each in superseding(view).values() if each.test.probe == INVENTORY and each.failure is None)
    return {
        result.test.target.node.id: {fact.fact: fact.value for fact in result.facts if not fact.labels}
        for result in results
    }


def read_observed(facts: Sequence[Fact], data_address: str = "") -> Observed:
    """The cables that a node saw, by the facts that it told."""
    by_nic = _group_by_label(facts, "nic")
    nics = {nic: {fact.fact: fact for fact in told} for nic, told in by_nic.items()}
    data = _find_data_ports(facts, nics, data_address)
    ports = [_read_port(nic, by_nic[nic], nics[nic], nic in data) for nic in nics if _is_port(nics[nic])]
    skipped = (str(fact.value) for fact in facts if fact.fact == "lldp.skipped")
    is_deaf = not any(fact.fact == "lldp.neighbours" for fact in facts)
    deaf = next(skipped, "lldpctl told nothing that could be read") if is_deaf else ""
    return Observed(tuple(ports), tuple(_list_bonds(facts)), deaf)


def _group_by_label(facts: Iterable[Fact], label: str) -> dict[str, list[Fact]]:
    return group_by_key((name, fact) for fact in facts for each, name in fact.labels if each == label)


def _is_port(told: Mapping[str, Fact]) -> bool:
    """Whether an interface has a cable. Of the many veths of containers only one that looks like a port has."""
    if "lldp.chassis" in told or "lldp.switch" in told:
        return True
    kind = _find_word(told, "nic.kind")
    if kind != "veth":
        return kind not in _NO_PORTS
    addressed = _find_word(told, "nic.address") and not _find_word(told, "nic.address").startswith("fe80:")
    return "nic.master" not in told and bool(addressed or _find_carrier(told) is False)


def _find_word(told: Mapping[str, Fact], name: str) -> str:
    return str(told[name].value) if name in told else ""


def _find_carrier(told: Mapping[str, Fact]) -> bool | None:
    known = {"yes": True, "no": False, "up": True, "down": False}
    return known.get(_find_word(told, "nic.link") or _find_word(told, "nic.state"))


def _read_port(nic: str, facts: Sequence[Fact], told: Mapping[str, Fact], data: bool) -> ObservedPort:
    speed = told.get("nic.speed")
    # what a virtual interface says of its speed is made up
    real = speed is not None and "nic.kind" not in told and ("nominal", "yes") not in speed.labels
    speed = speed if real else None if "nic.kind" in told else told.get("lldp.speed")
    return ObservedPort(
        nic, tuple(_list_neighbours(facts)), None if speed is None else float(speed.value), _find_carrier(told), data
    )


def _list_neighbours(facts: Iterable[Fact]) -> Iterator[HeardNeighbour]:
    """Who is heard on one port; a neighbour without a name is called by its chassis."""
    each: dict[str, dict[str, str]] = {}
    for fact in facts:
        if fact.fact.startswith("lldp."):
            each.setdefault(dict(fact.labels).get("neighbour", "1"), {})[fact.fact] = str(fact.value)
    for told in each.values():
        device = told.get("lldp.switch", told.get("lldp.chassis", ""))
        names = (told.get("lldp.port"), told.get("lldp.description"))
        yield HeardNeighbour(device, tuple(dict.fromkeys(name for name in names if name)))


def _find_data_ports(facts: Sequence[Fact], nics: Mapping[str, Mapping[str, Fact]], address: str) -> set[str]:
    """The ports that carry ``address``: themselves, as members of a bond or bridge, or below a VLAN."""
    waiting = [
        dict(fact.labels).get("nic", "") for fact in facts if fact.fact == "nic.address" and fact.value == address
    ]
    found: set[str] = set()
    while waiting:
        nic = waiting.pop()
        if nic in found:
            continue
        found.add(nic)
        waiting += [name for name, told in nics.items() if "nic.master" in told and told["nic.master"].value == nic]
        waiting += [str(nics[nic]["nic.parent"].value)] if "nic.parent" in nics.get(nic, {}) else []
    return found


def _list_bonds(facts: Sequence[Fact]) -> Iterator[BondSeen]:
    for bond, told in _group_by_label(facts, "bond").items():
        own = {fact.fact: str(fact.value) for fact in told if "nic" not in dict(fact.labels)}
        by_nic = {
            nic: {fact.fact: str(fact.value) for fact in those} for nic, those in _group_by_label(told, "nic").items()
        }
        members = tuple(
            Member(nic, said["bond.member_state"] == "up", said.get("bond.member_aggregator", ""))
            for nic, said in by_nic.items()
            if "bond.member_state" in said
        )
        yield BondSeen(bond, own.get("bond.mode", ""), members, own.get("bond.aggregator", ""))


@dataclass(frozen=True, slots=True)
class WireComparison:
    """A comparison with what it was made from. ``session`` is empty where nothing was asked or stored."""

    fabric: Fabric
    report: WireReport
    why: Mapping[str, str]
    session: str = ""

    @property
    def code(self) -> Exit:
        """0 all compared and equal, 1 differences, 3 not everything compared; 1 wins over 3."""
        if self.report.differences:
            return Exit.BELOW
        return Exit.PASSED if self.report.complete else Exit.UNTESTED


def compare_wire(fabric: Fabric, told: NodeObservations, session: str = "") -> WireComparison:
    """Hold what was told against ``fabric``."""
    report = compare(fabric, told.nodes)
    return WireComparison(fabric, report, {**report.reasons, **told.why}, session)


def _group_not_compared(found: WireComparison) -> dict[tuple[WireCoverage, str], list[str]]:
    return group_by_key(
        ((what, found.why.get(node, "")), node)
        for node, what in found.report.coverage.items()
        if what not in (WireCoverage.EQUAL, WireCoverage.DIFFERS) or node in found.why
    )


# -- for people

_COLUMNS = (Column("what"), words("nodes"), words("described", 16), words("on the wire", 20))


def format_comparison(found: WireComparison, width: int) -> Iterator[str]:
    """The comparison for a terminal of ``width`` columns; everything from outside is made plain."""
    report = found.report
    badge = "  SIMULATED" if found.fabric.simulated else ""
    session = f", session {found.session}" if found.session else ""
    number = len(report.nodes(WireCoverage.EQUAL, WireCoverage.DIFFERS))
    of = count(len(report.coverage), "node")
    yield f"{sanitize(found.fabric.name)}: {number:,} of {of} compared{session}{badge}"
    if report.differences:
        yield ""
        rows = tuple(map(_make_row, report.differences))
        yield from format_body(Table("", _COLUMNS, rows), width)
    elif number:
        yield "no difference in what was compared"
    rest = _group_not_compared(found)
    if rest:
        yield from ("", "not compared")
        said = ((node, f"{what}, {why}" if why else what) for (what, why), those in rest.items() for node in those)
        for reason, those in group_alike(said):
            yield from wrap_text(f"{fold(those)}: {sanitize(reason)}", width, "  ", indent="    ")
    if report.strangers:
        yield from ("", "heard, and not in the file")
        for stranger in report.strangers:
            near = f" (the file has {stranger.near})" if stranger.near else ""
            ports = sanitize(", ".join(stranger.ports[:4]))
            yield from wrap_text(
                f"{sanitize(stranger.name)}{near}: {fold(stranger.nodes)} on {ports}", width, "  ", indent="    "
            )
    yield ""
    yield from wrap_text(f"coverage: {_format_coverage(report)}", width, indent="  ")


def _make_row(difference: CablingDifference) -> tuple[str, str, str, str]:
    places = fold(difference.places) if difference.places else ""
    described = ", ".join(part for part in (places, difference.described) if part)
    parts = (difference.seen, difference.text)
    seen = ": ".join(part for part in (parts[::-1] if difference.kind is CableOutcome.SWAPPED else parts) if part)
    return difference.kind, fold(difference.nodes), described, sanitize(seen)


def _format_coverage(report: WireReport) -> str:
    tally = {what: len(report.nodes(what)) for what in WireCoverage}
    parts = [f"{number:,} {what}" for what, number in tally.items() if number]
    links = f"{report.visible:,} of {count(report.links, 'link')} can be seen from nodes"
    if report.visible < report.links:
        links += ", by LLDP no node sees those between switches"
    speeds = f"; nobody told the speed of {count(report.without_speed, 'cable')}" if report.without_speed else ""
    return f"{', '.join(parts)}; {links}{speeds}"


# -- for scripts


def make_record(found: WireComparison) -> Record:
    """The comparison for JSON: rates in bit/s, text as the nodes gave it."""
    report = found.report
    return encode_record(
        {
            "fabric": found.fabric.name,
            "simulated": found.fabric.simulated,
            "session": found.session or None,
            "complete": report.complete,
            "coverage": {str(what): report.nodes(what) for what in WireCoverage},
            "links": {"described": report.links, "seen_from_nodes": report.visible},
            "differences": [asdict(each) for each in report.differences],
            "not_compared": [
                {"coverage": what, "because": why, "nodes": nodes}
                for (what, why), nodes in _group_not_compared(found).items()
            ],
            "strangers": [asdict(each) for each in report.strangers],
            "cables": [_describe_cable(each) for each in report.states],
        }
    )


def _describe_cable(state: CableState) -> Record:
    cable, plug = state.cable, state.plug
    return {
        "node": cable.node,
        "link": cable.link,
        "member": cable.member,
        "state": state.kind,
        "described": {"device": cable.device, "port": cable.far_port, "speed_bps": cable.speed},
        "port": plug and plug.port.name,
        "seen": plug and {"device": plug.neighbour.device, "ports": plug.neighbour.ports},
        "speed_bps": plug and plug.port.speed,
    }
