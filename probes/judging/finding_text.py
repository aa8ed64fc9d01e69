"""The findings in words: an element, both numbers, what it rests on, what stays open and what to do.

One function for each kind of cause; which cause it is, ``attribution`` and ``findings`` decide.
"""

from collections.abc import Iterable, Sequence

from benchconsole.probes.judging.attribution import Cause
from benchconsole.probes.judging.components import Component, ComponentKind
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.link_state import MEMBER_NEAR, count_members
from benchconsole.probes.judging.parts import Parts
from benchconsole.probes.judging.set_cover import LowVerdict, is_assumed
from benchconsole.probes.model.judgement import Confidence, Finding, Level, Suspect, Verdict
from benchconsole.probes.model.labels import tell_labels
from benchconsole.topology.copying import replace
from benchconsole.topology.element_names import direction_name, is_nic
from benchconsole.topology.model.fabric import Fabric, NodeId, NodeRole
from benchconsole.topology.selection import fold
from benchconsole.topology.units import counted, network_rate, percent, show


def _worst(verdicts: Iterable[Verdict]) -> Level:
    return max((verdict.level for verdict in verdicts), key=lambda level: level.severity)


def make_network_finding(context: JudgingContext, cause: Cause) -> Finding:
    """One finding for a cause: the component, or the smallest one that holds all that cannot be told apart."""
    if len(cause.components) > 1:
        return _make_tie_finding(context, cause)
    (named,) = cause.components
    place = Place(context, named, cause)
    links = [context.fabric.links[way.link] for way in place.ways]
    carried, capacity = place.measure(context.parts)
    share, value = carried / capacity, network_rate(carried)
    several = len({(verdict.round, verdict.subject) for verdict, _ in cause.seen}) > 1
    nodes = place.find_nodes_behind()
    alone = len(links) == 1 and named.kind is ComponentKind.LINK
    lines = f"gives {value} of {network_rate(capacity)}, {percent(share)}, {place.say_ways()}{place.say_members(share)}"
    return replace(
        make_unexplained_finding(cause.seen),
        suspect=place.suspect,
        element=place.element,
        where=place.where,
        what=lines,
        nodes_at=place.nodes_at,
        links=tuple(dict.fromkeys(link.id for link in links)) if named.kind is not ComponentKind.SWITCH else (),
        members_up=place.count_members_up(share) if alone else None,
        confidence=Confidence.CERTAIN if several and not cause.is_weak else Confidence.LIKELY,
        nodes=nodes,
        rules_out=_ruled_out(context, cause),
        cannot_tell=place.say_unknown(),
        means=place.say_meaning(value, carried, nodes),
        do=f"look at {place.say_look()}, then repeat these tests",
        value=carried,
        expected=capacity,
    )


HALF = 0.5 + MEMBER_NEAR / 2
"""Share of two members from which one that is slow alone may be what is wrong."""

_SUSPECTS = {
    ComponentKind.MEMBER: Suspect.MEMBER,
    ComponentKind.NIC: Suspect.NIC,
    ComponentKind.SWITCH: Suspect.SWITCH,
}


class Place:
    """A component in words, with what may be wrong with it, for those who say so."""

    def __init__(self, context: JudgingContext, component: Component, cause: Cause | None = None) -> None:
        self.faults = () if cause is None else cause.faults
        self.is_steered = cause is not None and any(map(is_assumed, cause.seen))
        self.fabric = context.fabric
        self.component = component
        parts, self._graph = context.parts, context.routes.graph
        graph = self._graph
        up = sorted({parts.way(part) & ~1 for part in component.parts})
        self.ways = [graph.direction(way) for way in up]
        self.links = [self.fabric.links[way.link] for way in self.ways]
        self.members = sorted({number for part in component.parts if (number := parts.member_of(part)) is not None})
        self.speeds = {speed for link in self.links for speed in link.members}
        self.low = self.links[0].a
        self.is_node = NodeId(component.device) in self.fabric.nodes
        self._back = bool(min(component.parts) & 1)

    @property
    def suspect(self) -> Suspect:
        kind, link = self.component.kind, self.links[0]
        if kind in _SUSPECTS:
            return _SUSPECTS[kind]
        if kind is ComponentKind.UPLINKS:
            return Suspect.MLAG if {link.a, link.b} & self.fabric.mlag_of.keys() else Suspect.LINK
        if self.is_node:
            return Suspect.LEG if self._is_leg and link.bond is not None else Suspect.NIC
        return Suspect.LAG if link.is_lag else Suspect.LINK

    @property
    def element(self) -> str:
        """The id of the node, the switch or the first link."""
        is_device = self.is_node or self.component.kind is ComponentKind.SWITCH
        return self.component.device if is_device else self.links[0].id

    @property
    def _is_leg(self) -> bool:
        """Whether it is in one of several legs of a node."""
        if not self.is_node or self.component.kind is ComponentKind.NIC:
            return False
        link = self.links[0]
        return sum(each.network == link.network for each in self.fabric.active_legs(link.a)) > 1

    @property
    def nodes_at(self) -> tuple[str, ...]:
        return (self.component.device,) if self.is_node else ()

    @property
    def where(self) -> str:
        """``n3 out``, ``n3 NIC``, ``n3 out, leg to leaf1``, ``leaf1 to spine1, member 2 of 4``, ``leaf1``."""
        kind, link = self.component.kind, self.links[0]
        if kind is ComponentKind.SWITCH:
            return self.component.device
        if kind is ComponentKind.UPLINKS:
            lower, upper = ({getattr(each, end): None for each in self.links} for end in ("a", "b"))
            ends = [" and ".join(lower), " and ".join(upper)]
            return " to ".join(reversed(ends) if self._is_downward else ends)
        if self.is_node:
            way = ("in" if self._back else "out") if self.component.is_one_way else "NIC"
            leg = f", leg to {link.b}" if self._is_leg else ""
            return f"{link.a} {way}{leg}{self._member}"
        ends = [link.b, link.a] if self._is_downward else [link.a, link.b]
        return f"{ends[0]} to {ends[1]}{self._member}"

    @property
    def _is_downward(self) -> bool:
        return self.component.is_one_way and self._back

    @property
    def _member(self) -> str:
        if not self.members:
            return ""
        link, number = self.links[0], self.members[0]
        ports = [each[number] for each in (link.ports_a, link.ports_b) if each]
        named = f" ({' to '.join(reversed(ports) if self._is_downward else ports)})" if ports else ""
        return f", member {number + 1} of {link.count}{named}"

    def find_nodes_behind(self) -> tuple[str, ...]:
        """The nodes whose way up leads over the component."""
        if self.component.kind is ComponentKind.SWITCH:
            return _find_below(self.fabric, (self.component.device,))
        return (self.low,) if self.is_node else _find_below(self.fabric, (link.a for link in self.links))

    @property
    def is_lost(self) -> bool:
        """Whether a member or a leg is gone, and the others carry on."""
        return all(each.is_lost for each in self.faults)

    @property
    def _count(self) -> int:
        """How many equal cables it is of; 1 where that means nothing."""
        if self.component.kind in (ComponentKind.MEMBER, ComponentKind.SWITCH) or len(self.speeds) > 1:
            return 1
        return sum(link.count for link in self.links)

    def measure(self, parts: Parts) -> tuple[float, float]:
        """byte/s of payload that its parts of one direction (into a switch) carry, and could as described."""
        if self.component.kind is ComponentKind.SWITCH:
            own = [way for way in self.component.parts if parts.graph.direction(way).source != self.component.device]
        else:
            own = [part for part in self.component.parts if part & 1 == self._back]
        capacity = float(parts.capacity[own].sum())
        likeliest = self.faults[0]
        if likeliest.component is self.component:
            return capacity * likeliest.left, capacity
        hit = [part for part in likeliest.component.parts if part & 1 == self._back]
        return capacity - (1 - likeliest.left) * float(parts.capacity[hit].sum()), capacity

    def say_ways(self) -> str:
        """Which ways it is slow."""
        if self.is_node:
            return ("in only" if self._back else "out only") if self.component.is_one_way else "in and out"
        return "this way only" if self.component.is_one_way else "both ways"

    def count_members_up(self, share: float) -> int | None:
        """How many of its members still carry; None where no whole number of them explains ``share``."""
        likeliest = self.faults[0]
        if likeliest.is_lost and likeliest.component is not self.component and self._count > 1:
            return self._count - self._count_cables(likeliest.component)
        is_whole = likeliest.component is self.component and not self._is_alike
        members = count_members(self._count, share)
        return members if is_whole or members == self._count_left() else None

    def _count_left(self) -> int | None:
        """How many members a loss leaves that fits as well as the likeliest; None where none does."""
        lost = [each.component for each in self.faults if each.is_lost and each.component is not self.component]
        left = {self._count - self._count_cables(each) for each in lost}
        return left.pop() if self._count > 1 and len(left) == 1 else None

    def _count_cables(self, component: Component) -> int:
        """The cables of a component: one of a member, all members of its links."""
        ways = [part for part in component.parts if part & 1 == min(each & 1 for each in component.parts)]
        members = component.kind is ComponentKind.MEMBER
        return 1 if members else sum(self._graph.links[way >> 1].count for way in ways)

    @property
    def _is_alike(self) -> bool:
        """Whether all that it is of is slow alike, for certain.

        Of two, a slow one leaves more than half of the sum, and a lost one is told by the sum; what more of them carry
        is told by streams on single members only.
        """
        told_apart = self.is_steered or self._count < 2 or (self._count == 2 and self.faults[0].left <= HALF)
        return told_apart and [each.component for each in self.faults] == [self.component]

    def say_members(self, share: float) -> str:
        """How many of equal members would carry ``share``."""
        count, noun = self._count, "legs" if self.component.kind is ComponentKind.NIC else "members"
        if count < 2 or not share:
            return ""
        if self._is_alike:
            return f", each of its {count} {noun} alike"
        members = self.count_members_up(share)
        if self.faults[0].is_lost or (members is not None and members < count):
            return f", what {members} of {count} {noun} {_say_carry(members)}"
        left = self._count_left()
        loss = "" if left is None else f"; that {left} of {count} {noun} {_say_carry(left)} fits as well"
        return f", as {share * count:.1f} of {count} {noun} would{loss}"

    def say_unknown(self) -> str:
        """The question that the measurements leave open."""
        link = self.links[0]
        if self.component.kind is ComponentKind.SWITCH:
            return "whether the switch is at fault or each link by itself"
        if self.component.kind is ComponentKind.NIC:
            legs = " or ".join(f"to {each.b}" for each in self.links)
            if self.is_lost:
                return f"which leg ({legs}) carries nothing: needs the counters of the bond"
            if self._is_alike:
                return f"whether the ports of {link.a}, their slot or their settings are at fault"
            return f"whether one leg ({legs}) carries nothing or each gives less: needs the counters of the bond"
        if self.component.kind is ComponentKind.LINK and link.is_lag:
            if self._is_alike:
                return f"whether {link.a}, {link.b} or each cable by itself is at fault"
            if self.is_lost:
                return f"which of the {link.count} members is down: needs the port counters"
            return f"which of the {link.count} members, and whether it is down or slow: needs the port counters"
        if self.is_node:
            return f"whether the port of {link.a}, the cable or the port of {link.b} is at fault"
        if len(self.links) > 1:
            links = " or ".join(f"{each.a} to {each.b}" for each in self.links)
            if self._is_alike:
                return f"whether a switch at an end of them or each link by itself ({links}) is at fault"
            return f"whether one link ({links}) is down or slow, or each gives less: needs the port counters"
        return f"whether {link.a}, the cable or {link.b} is at fault"

    def say_meaning(self, value: str, carried: float, nodes: Sequence[str]) -> str:
        if self.is_node:
            return f"{self.low} cannot move more than {value} {self._over}, whoever its partner is"
        get = f"{counted(len(nodes), 'node')} below {{}} {'gets' if len(nodes) == 1 else 'get'}"
        if self.component.kind is ComponentKind.SWITCH:
            return f"{get.format(self.component.device)} less than described"
        lower = " and ".join(dict.fromkeys(link.a for link in self.links))
        if len(nodes) < 2:
            return f"{get.format(lower) if nodes else self.where + ' carries'} {value} {self._over} at most"
        act = ("receive" if self._back else "send") if self.component.is_one_way else "send or receive"
        part = f"{get.format(lower)} {network_rate(carried / len(nodes))} each {self._over}"
        return f"{part} when all {act} at once; one alone may not notice"

    @property
    def _over(self) -> str:
        if self.members:
            return "over this member"
        if self._is_leg:
            return "over this leg"
        if not self.is_node:
            return "over these links" if len(self.links) > 1 else "over this link"
        return "this way" if self.component.is_one_way else "in its slower direction"

    def say_look(self) -> str:
        if self.component.kind is ComponentKind.SWITCH:
            return f"{self.component.device} first: load, errors, configuration"
        parts = (
            "speed, duplex, error counters and cable"
            if self.is_node
            else "port state, error counters, optics and cables"
        )
        lower, upper = (" and ".join(dict.fromkeys(getattr(link, end) for link in self.links)) for end in ("a", "b"))
        return f"{parts} from {lower} to {upper}"


def _say_carry(members: int | None) -> str:
    return "carries" if members == 1 else "carry"


def _say_ties(context: JudgingContext, cause: Cause) -> str:
    names = [Place(context, each, cause).where for each in cause.components]
    comma = "; " if any(", " in name for name in names) else ", "
    listed = comma.join(names[:TIES]) + (f" and {len(names) - TIES} more" if len(names) > TIES else "")
    return f"which of {listed}: no test loaded one of them without the others"


def _find_below(fabric: Fabric, devices: Iterable[str]) -> tuple[str, ...]:
    """The nodes below these switches."""
    found: list[str] = []
    below = list(dict.fromkeys(devices))
    while below:
        here = below.pop()
        for other in (each.other(here) for each in fabric.links_at[here]):
            if NodeId(other) in fabric.nodes:
                found.append(other)
            elif fabric.tier(other) < fabric.tier(here):
                below.append(other)
    return tuple(dict.fromkeys(found))


def describe_low(verdict: Verdict) -> str:
    """Round, subject and both numbers of a low throughput."""
    value = show(verdict.value or 0.0, verdict.unit, verdict.shown) if verdict.unit else ""
    wanted = show(verdict.expected or 0.0, verdict.unit, verdict.shown) if verdict.unit else ""
    return f"round {verdict.round}, {verdict.subject}: {value} of {wanted}, {percent(verdict.share or 0.0)}"


def _ruled_out(context: JudgingContext, cause: Cause) -> tuple[str, ...]:
    """The other elements on the paths of the low flows: none of them lost what is missing."""
    graph = context.routes.graph
    guilty = {context.parts.way(part) for component in cause.components for part in component.parts}
    crossed = {way for _, flows in cause.seen for each in flows for way in each.route.ways.tolist()}
    ways = [graph.direction(way) for way in sorted(crossed - guilty)]
    ends = {context.fabric.links[way.link].a for way in ways if is_nic(context.fabric, way)}
    nics = sorted(ends - {component.device for component in cause.components})
    trunks = sorted(direction_name(context.fabric, way) for way in ways if not is_nic(context.fabric, way))
    names = [f"the NICs of {fold(nics)}"] if nics else []
    names += [*trunks[:4], f"{len(trunks) - 4} more links"] if len(trunks) > 5 else trunks
    return (f"{', '.join(names)}: carried more in other rounds, or too little of what is missing",) if names else ()


TIES = 6
"""Components that a tie names; what is beyond is counted."""


def _make_tie_finding(context: JudgingContext, cause: Cause) -> Finding:
    """A cause that is one of several components which the tests cannot tell apart."""
    places = [Place(context, each, cause) for each in cause.components]
    suspects = {each.suspect for each in places}
    return replace(
        make_unexplained_finding(cause.seen),
        suspect=suspects.pop() if len(suspects) == 1 else Suspect.LINK,
        element=places[0].element,
        where=" or ".join(each.where for each in places[:2]) + (" or others" if len(places) > 2 else ""),
        what=describe_low(cause.seen[0][0]).split(", ", 1)[1],
        cannot_tell=_say_ties(context, cause),
        means=f"one of these {len(places)} gives less than described",
        do="test them with other partners, or read their port counters",
    )


def make_unexplained_finding(seen: Sequence[LowVerdict]) -> Finding:
    """A low throughput that no link explains; of several the first is named."""
    first = seen[0][0]
    return replace(
        _make_fabric_finding(seen),
        what=f"{describe_low(first).split(', ', 1)[1]}; no single link explains it",
        cannot_tell="the cause: every link on the way was full, carried more in another round, or lost too little",
        means="something disturbed this round, or load from elsewhere shared its links",
        do="repeat it, and see whether it stays",
    )


def make_unsteered_finding(seen: Sequence[LowVerdict], steered: int) -> Finding:
    """So many slow streams, of all ``steered`` ones, that their source ports cannot mean the ways described."""
    return replace(
        _make_fabric_finding(seen),
        where="source ports",
        level=Level.UNKNOWN,
        what=f"{len(seen):,} of {steered:,} steered streams are slow, and no fault explains them together",
        cannot_tell="which cables a steered stream took, and so which member of a LAG is slow or lost",
        means="the devices choose members otherwise than `hash: steered` describes, or others load the fabric",
        do="describe `hash: l3l4` or `unknown` unless port counters show that ports choose members; repeat when idle",
    )


def _make_fabric_finding(seen: Sequence[LowVerdict]) -> Finding:
    """Low throughputs that no element explains, without words; the first stands for all."""
    verdicts = [verdict for verdict, _ in seen]
    first = verdicts[0]
    return Finding(
        suspect=Suspect.FABRIC,
        element=first.subject,
        where=first.subject,
        what="",
        probe=first.probe,
        level=_worst(verdicts),
        confidence=Confidence.POSSIBLE,
        nodes=tuple(dict.fromkeys(node for verdict in verdicts for node in verdict.nodes)),
        tests=tuple(dict.fromkeys(each.result.test.id for _, flows in seen for each in flows)),
        evidence=tuple(dict.fromkeys(name for verdict in verdicts for name in verdict.evidence)),
        because=tuple(map(describe_low, verdicts)),
        value=first.value,
        expected=first.expected,
        unit=first.unit,
    )


_SETTINGS = (
    "nic.mtu", "nic.driver", "nic.firmware", "cpu.governor", "kernel.", "bios.", "os.", "sysctl.", "module.",
    "irqbalance.", "tuned.", "mpi.", "gcc.", "gfortran.", "clang.", "icx.", "nvc.", "lustre.", "beegfs.", "ceph.",
    "gpfs.", "qemu.", "openstack.", "apptainer.", "slurm.",
)  # fmt: skip
"""Software and settings of a machine, by the beginning of the fact; everything else is a part of it."""


def make_hardware_finding(nodes: Sequence[str], parts: Sequence[tuple[tuple[str, str, str], list[Verdict]]]) -> Finding:
    """The finding on ``parts``, alike on ``nodes`` and not as declared: metric, found, declared, with the verdicts."""
    words = [f"{metric} {text or 'nothing'}, declared {wanted}" for (metric, text, wanted), _ in parts]
    members = [verdict for _, group in parts for verdict in group]
    where = fold(nodes)
    is_setting = all(metric.startswith(_SETTINGS) for (metric, _, _), _ in parts)
    return Finding(
        suspect=Suspect.NODE,
        element=nodes[0],
        where=where,
        what="; ".join(words[:3]) + (f" and {len(words) - 3} more" if len(words) > 3 else ""),
        probe=members[0].probe,
        nodes_at=tuple(nodes[:1]),
        level=Level.FAIL,
        confidence=Confidence.CERTAIN,
        nodes=tuple(nodes),
        tests=tuple(dict.fromkeys(verdict.test for verdict in members)),
        because=tuple(f"{where} reports {line}" for line in words),
        metrics=tuple(sorted({metric for (metric, _, _), _ in parts})),
        means=f"{'a setting' if is_setting else 'the machine'} is not the one that the topology file declares",
        do=f"{'change it on the node' if is_setting else 'look at the hardware'}, or correct the class in the file",
    )


def rank_low(verdict: Verdict) -> tuple[int, float]:
    """How bad a low verdict is: its level, then how far it is off on its bad side, whichever that is."""
    return verdict.level.severity, find_loss(verdict.value, verdict.expected)


def find_loss(value: float | None, expected: float | None) -> float:
    """The share by which a value is off on its bad side, whichever that is; 0 where there are no numbers."""
    if value is None or not expected or value <= 0.0:
        return 0.0 if value is None or not expected else 1.0
    return 1.0 - min(value / expected, expected / value)


def list_metrics(verdicts: Iterable[Verdict]) -> tuple[str, ...]:
    """The metrics of ``verdicts``, each once and sorted."""
    return tuple(sorted({verdict.metric for verdict in verdicts}))


def make_node_finding(context: JudgingContext, node: str, group: Sequence[Verdict]) -> Finding:
    """A node below a fixed criterion, by all low verdicts of one probe."""
    worst = max(group, key=rank_low)
    storage = context.fabric.nodes[NodeId(node)].role is NodeRole.STORAGE
    labels = " ".join(tell_labels(worst.labels))
    value = show(worst.value or 0.0, worst.unit, worst.shown) if worst.unit else worst.text
    asked = show(worst.expected or 0.0, worst.unit, worst.shown) if worst.unit else worst.expected_text
    more = f"; {len(group) - 1} more of its values too" if len(group) > 1 else ""
    return Finding(
        suspect=Suspect.STORAGE if storage else Suspect.NODE,
        element=node,
        where=node,
        what=f"{worst.metric} {labels} {value}, asked {asked}{more}".replace("  ", " "),
        probe=worst.probe,
        nodes_at=(node,),
        level=_worst(group),
        confidence=Confidence.LIKELY if len(group) == 1 else Confidence.CERTAIN,
        nodes=(node,),
        tests=tuple(dict.fromkeys(verdict.test for verdict in group)),
        evidence=tuple(name for verdict in group for name in verdict.evidence),
        because=tuple(
            f"{verdict.metric} {' '.join(tell_labels(verdict.labels))}: {verdict.because}" for verdict in group
        ),
        cannot_tell="which part of the node limits it: its own tests alone do not say" if not storage else
        "which disk or controller limits it: needs their own tests",
        means=f"{node} does not meet {worst.source}",
        do=f"compare its {worst.probe} output with a node that passes, then repeat the test",
        value=worst.value,
        expected=worst.expected,
        unit=worst.unit,
        metrics=list_metrics(group),
    )  # fmt: skip
