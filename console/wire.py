"""Owns the way from what nodes told to a comparison with the wire, and how that comparison reads.

The facts are those of ``inventory``, whether they come from a run, from a stored session or from
saved outputs of ``lldpctl``. Refuses to compare (``topology.wire`` does) and to print.
"""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from console.checking.table import Column, Table, body, words
from console.exits import Exit
from console.plain import plain
from console.view import RunView, superseding
from console.wording import count
from probes.api import Fact
from probes.planning import plan
from topology.model import Fabric, NodeId, Stage, Suite
from topology.selection import fold
from topology.wire import Coverage, WireReport, compare
from topology.wire.cabling import CableState, Kind
from topology.wire.differences import Difference
from topology.wire.observed import BondSeen, Member, Neighbour, Observed, Port

if TYPE_CHECKING:
    from probes.api import Probe
    from probes.model import Round

PROBE = "inventory"

_NO_PORTS = frozenset(
    ("bond", "bridge", "team", "vlan", "macvlan", "ipvlan", "vxlan", "tun", "vrf", "geneve", "wireguard")
)
"""Kinds of interfaces without a cable of their own."""


def survey(fabric: Fabric, probes: Mapping[str, "Probe"], nodes: Sequence[NodeId]) -> tuple["Round", ...]:
    """The rounds that ask ``nodes`` for what the comparison needs."""
    stage = Stage(PROBE, tuple(nodes), MappingProxyType({}))
    return plan(fabric, Suite("diff", (stage,)), probes)


@dataclass(slots=True)
class Told:
    """What nodes told, None for those that did not; ``why`` says of these why not."""

    nodes: dict[str, Observed | None] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)

    def silent(self, node: str, why: str) -> None:
        """``node`` told nothing, because of ``why``."""
        self.nodes[node] = None
        self.why[node] = why


def of_session(view: RunView, nodes: Iterable[NodeId]) -> Told:
    """What ``nodes`` told in a session, the newest answer of each."""
    told = Told()
    results = {r.test.target.node.id: r for r in superseding(view).values() if r.test.probe == PROBE}
    for node in nodes:
        result = results.get(node)
        if result is None:
            told.silent(node, f"not asked in session {view.session}")
        elif result.failure is not None:
            told.silent(node, f"{result.failure.stage}: {result.failure.detail}")
        else:
            told.nodes[node] = observed(result.facts, result.test.target.node.data_address)
    return told


def told_facts(view: RunView) -> dict[NodeId, dict[str, str | float]]:
    """What each node told of itself as a whole in its newest inventory: facts without labels."""
    results = (each for each in superseding(view).values() if each.test.probe == PROBE and each.failure is None)
    return {
        result.test.target.node.id: {fact.fact: fact.value for fact in result.facts if not fact.labels}
        for result in results
    }


def observed(facts: Sequence[Fact], data_address: str = "") -> Observed:
    """What a node saw of its cables, from what it told."""
    by_nic = _by_label(facts, "nic")
    nics = {nic: {fact.fact: fact for fact in told} for nic, told in by_nic.items()}
    data = _data_ports(facts, nics, data_address)
    ports = [_port(nic, by_nic[nic], nics[nic], nic in data) for nic in nics if _is_port(nics[nic])]
    names = {fact.fact for fact in facts}
    skipped = [str(fact.value) for fact in facts if fact.fact == "lldp.skipped"]
    deaf = "" if "lldp.neighbours" in names else next(iter(skipped), "lldpctl told nothing that could be read")
    return Observed(tuple(ports), tuple(_bonds(facts)), deaf)


def _by_label(facts: Iterable[Fact], label: str) -> dict[str, list[Fact]]:
    found: dict[str, list[Fact]] = {}
    for fact in facts:
        name = dict(fact.labels).get(label)
        if name is not None:
            found.setdefault(name, []).append(fact)
    return found


def _is_port(told: Mapping[str, Fact]) -> bool:
    """Whether an interface has a cable. Of the many veths of containers only one that looks like a port has."""
    if "lldp.chassis" in told or "lldp.switch" in told:
        return True
    kind = _word(told, "nic.kind")
    if kind != "veth":
        return kind not in _NO_PORTS
    addressed = _word(told, "nic.address") and not _word(told, "nic.address").startswith("fe80:")
    return "nic.master" not in told and bool(addressed or _carrier(told) is False)


def _word(told: Mapping[str, Fact], name: str) -> str:
    return str(told[name].value) if name in told else ""


def _carrier(told: Mapping[str, Fact]) -> bool | None:
    known = {"yes": True, "no": False, "up": True, "down": False}
    return known.get(_word(told, "nic.link") or _word(told, "nic.state"))


def _port(nic: str, facts: Sequence[Fact], told: Mapping[str, Fact], data: bool) -> Port:
    speed = told.get("nic.speed")
    # what a virtual interface says of its speed is made up
    real = speed is not None and "nic.kind" not in told and ("nominal", "yes") not in speed.labels
    return Port(nic, tuple(_neighbours(facts)), float(speed.value) if speed and real else None, _carrier(told), data)


def _neighbours(facts: Iterable[Fact]) -> Iterator[Neighbour]:
    """Who is heard on one port; a neighbour without a name is called by its chassis."""
    each: dict[str, dict[str, str]] = {}
    for fact in facts:
        if fact.fact.startswith("lldp."):
            each.setdefault(dict(fact.labels).get("neighbour", "1"), {})[fact.fact] = str(fact.value)
    for told in each.values():
        device = told.get("lldp.switch", told.get("lldp.chassis", ""))
        names = (told.get("lldp.port"), told.get("lldp.description"))
        yield Neighbour(device, tuple(dict.fromkeys(name for name in names if name)))


def _data_ports(facts: Sequence[Fact], nics: Mapping[str, Mapping[str, Fact]], address: str) -> set[str]:
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


def _bonds(facts: Sequence[Fact]) -> Iterator[BondSeen]:
    for bond, told in _by_label(facts, "bond").items():
        own = {fact.fact: str(fact.value) for fact in told if "nic" not in dict(fact.labels)}
        members = []
        for nic, those in _by_label(told, "nic").items():
            said = {fact.fact: str(fact.value) for fact in those}
            if "bond.member_state" in said:
                up = said["bond.member_state"] == "up"
                members.append(Member(nic, up, said.get("bond.member_aggregator", "")))
        yield BondSeen(bond, own.get("bond.mode", ""), tuple(members), own.get("bond.aggregator", ""))


@dataclass(frozen=True, slots=True)
class Compared:
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


def compared(fabric: Fabric, told: Told, session: str = "") -> Compared:
    """Hold what was told against ``fabric``."""
    report = compare(fabric, told.nodes)
    return Compared(fabric, report, {**report.reasons, **told.why}, session)


def _not_compared(found: Compared) -> dict[tuple[Coverage, str], list[str]]:
    """Nodes that were not compared, or not in full, by what became of them and why."""
    groups: dict[tuple[Coverage, str], list[str]] = {}
    for node, what in found.report.coverage.items():
        if what not in (Coverage.EQUAL, Coverage.DIFFERS) or node in found.why:
            groups.setdefault((what, found.why.get(node, "")), []).append(node)
    return groups


# -- for people

_COLUMNS = (Column("what"), words("nodes"), words("described", 16), words("on the wire", 20))


def lines(found: Compared, width: int) -> Iterator[str]:
    """The comparison for a terminal of ``width`` columns; everything from outside is made plain."""
    report = found.report
    badge = "  SIMULATED" if found.fabric.simulated else ""
    session = f", session {found.session}" if found.session else ""
    number = len(report.nodes(Coverage.EQUAL, Coverage.DIFFERS))
    of = count(len(report.coverage), "node")
    yield f"{plain(found.fabric.name)}: {number:,} of {of} compared{session}{badge}"
    if report.differences:
        yield ""
        yield from body(Table("", _COLUMNS, tuple(_row(difference) for difference in report.differences)), width)
    elif number:
        yield "no difference in what was compared"
    rest = _not_compared(found)
    if rest:
        yield from ("", "not compared")
        for (what, why), those in rest.items():
            yield from _wrapped(f"{fold(those)}: {what}" + (f", {plain(why)}" if why else ""), width)
    if report.strangers:
        yield from ("", "heard, and not in the file")
        for stranger in report.strangers:
            near = f" (the file has {stranger.near})" if stranger.near else ""
            ports = plain(", ".join(stranger.ports[:4]))
            yield from _wrapped(f"{plain(stranger.name)}{near}: {fold(stranger.nodes)} on {ports}", width)
    yield ""
    yield from _wrapped(f"coverage: {_coverage(report)}", width, "")


def _row(difference: Difference) -> tuple[str, str, str, str]:
    places = fold(difference.places) if difference.places else ""
    described = ", ".join(part for part in (places, difference.described) if part)
    parts = (difference.seen, difference.text)
    seen = ": ".join(part for part in (parts[::-1] if difference.kind is Kind.SWAPPED else parts) if part)
    return difference.kind, fold(difference.nodes), described, plain(seen)


def _coverage(report: WireReport) -> str:
    tally = {what: len(report.nodes(what)) for what in Coverage}
    parts = [f"{number:,} {what}" for what, number in tally.items() if number]
    links = f"{report.visible:,} of {count(report.links, 'link')} can be seen from nodes"
    if report.visible < report.links:
        links += ", by LLDP no node sees those between switches"
    speeds = f"; nobody told the speed of {count(report.without_speed, 'cable')}" if report.without_speed else ""
    return f"{', '.join(parts)}; {links}{speeds}"


def _wrapped(text: str, width: int, indent: str = "  ") -> list[str]:
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=f"{indent}  ")


# -- for scripts


def record(found: Compared) -> dict[str, object]:
    """The comparison for JSON: rates in bit/s, text as it was told."""
    report = found.report
    return {
        "fabric": found.fabric.name,
        "simulated": found.fabric.simulated,
        "session": found.session or None,
        "complete": report.complete,
        "coverage": {str(what): list(report.nodes(what)) for what in Coverage},
        "links": {"described": report.links, "seen_from_nodes": report.visible},
        "differences": [_difference(each) for each in report.differences],
        "not_compared": [
            {"coverage": str(what), "because": why, "nodes": nodes}
            for (what, why), nodes in _not_compared(found).items()
        ],
        "strangers": [
            {"name": each.name, "near": each.near, "nodes": list(each.nodes), "ports": list(each.ports)}
            for each in report.strangers
        ],
        "cables": [_cable(each) for each in report.states],
    }


def _difference(difference: Difference) -> dict[str, object]:
    return {
        "kind": str(difference.kind),
        "nodes": list(difference.nodes),
        "places": list(difference.places),
        "described": difference.described,
        "seen": difference.seen,
        "text": difference.text,
    }


def _cable(state: CableState) -> dict[str, object]:
    plug = state.plug
    speed = None if plug is None or plug.port.speed is None else plug.port.speed * 8
    return {
        "node": state.cable.node,
        "link": state.cable.link,
        "member": state.cable.member,
        "state": str(state.kind),
        "described": {"device": state.cable.device, "port": state.cable.far_port, "speed_bps": state.cable.speed * 8},
        "port": None if plug is None else plug.port.name,
        "seen": None if plug is None else {"device": plug.neighbour.device, "ports": list(plug.neighbour.ports)},
        "speed_bps": speed,
    }
