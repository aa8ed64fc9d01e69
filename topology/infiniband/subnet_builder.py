"""Collects what a dump tells of nodes and ports, and refuses what is no whole subnet.

A dump tells each cable from both of its ends. So one that was cut has ends that nobody answers, and two dumps in one
file have parts that no cable joins.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from benchconsole.topology.copying import replace
from benchconsole.topology.description.document import Lines
from benchconsole.topology.errors import Position, Problem, TopologyError, refuse
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.infiniband.rates import LinkRate
from benchconsole.topology.infiniband.subnet import NodeKind, PortEnd, Subnet, SubnetCable, SubnetNode

MAX_PROBLEMS = 1000
MAX_PORTS = 1_000_000
MAX_DESCRIPTION = 256
_LONG = 120
_WHOLE = "every cable told by both of its ends, as a whole dump has it (this one may be cut: save it again)"

_SWITCHES_ONLY = "the dump has entries of switches only, so it may be cut in the last of them and lack adapters"


@dataclass(frozen=True, slots=True)
class _ToldEnd:
    """The facts that one end of a cable tells: the other end, and the rate."""

    far: PortEnd
    rate: LinkRate | None
    where: Position


class SubnetBuilder:
    """One dump; ``finish`` gives the subnet or every problem at once.

    ``lists_switches``: a dump of this format may leave out the entries of all adapters. ``partial`` says why a dump
    that ends here may not be whole, where its format does not show that.
    """

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.lists_switches = False
        self.partial = ""
        self.lines = Lines(text, file)
        self.end = self.lines.at(len(text.rstrip()))
        self.nodes: dict[str, SubnetNode] = {}
        self.problems: list[Problem] = []
        self.remarks: list[str] = []
        self.lids: dict[int, str] = {}
        self.port_guids: dict[str, PortEnd] = {}
        self.lanes: Counter[int] = Counter()
        self._told: dict[PortEnd, _ToldEnd] = {}
        self._guessed: dict[str, SubnetNode] = {}

    def problem(self, where: Position, found: str, expected: str) -> None:
        """Note something that is wrong. TopologyError when it is wrong all over."""
        short = found if len(found) <= _LONG else f"{found[:_LONG]}..."
        self.problems.append(Problem(where, short, expected))
        if len(self.problems) >= MAX_PROBLEMS:
            raise TopologyError(
                [*self.problems, Problem(where, f"{MAX_PROBLEMS:,} problems", "a dump of an InfiniBand subnet")]
            )

    def remark(self, text: str) -> None:
        """Note what was taken for granted; of remarks that begin alike up to a colon the first is kept."""
        kind = text.partition(":")[0]
        if all(known.partition(":")[0] != kind for known in self.remarks):
            self.remarks.append(text)

    def node(self, node: SubnetNode) -> None:
        """A node that has an entry of its own."""
        first = self.nodes.get(node.guid)
        if first is not None:
            found = f"the GUID {node.guid} a second time (first in line {first.where.line})"
            self.problem(node.where, found, "each GUID once: one dump of one subnet, no two nodes with one GUID")
            return
        self.nodes[node.guid] = node
        if len(node.description) > MAX_DESCRIPTION:
            found = f"a description of {len(node.description):,} characters"
            self.problem(node.where, found, "at most 64, as the standard has it")

    def far_node(self, node: SubnetNode) -> None:
        """A node that another one names as its neighbour."""
        if len(node.description) > MAX_DESCRIPTION:
            node = replace(node, description=node.description[:MAX_DESCRIPTION])
        self._guessed.setdefault(node.guid, node)

    def cable(self, own: PortEnd, far: SubnetNode, port: int, rate: LinkRate | None, where: Position) -> None:
        """Note the facts that the port ``own`` tells of its cable, which leads to ``port`` of ``far``."""
        self.far_node(far)
        first = self._told.get(own)
        if first is not None:
            found = f"the port {self.name(own)} a second time (first in line {first.where.line})"
            self.problem(where, found, "each port of a node once")
            return
        if len(self._told) >= MAX_PORTS:
            raise refuse(where, f"more than {MAX_PORTS:,} ports", "a smaller dump")
        self._told[own] = _ToldEnd(PortEnd(far.guid, port), rate, where)

    def name(self, end: PortEnd) -> str:
        """A port in the words of a problem."""
        node = self.nodes.get(end.guid) or self._guessed.get(end.guid)
        called = f" ({node.called!r})" if node is not None and node.called != end.guid else ""
        return f"{end.port} of {end.guid}{called}"

    def finish(self) -> Subnet:
        """The subnet. Raises TopologyError with every problem."""
        if not self.nodes and not self.problems:
            self.problem(Position(self.file, 1, 1), "no switch and no adapter", "a dump of an InfiniBand subnet")
        cables = list(self._pair_ends())
        partial = self._find_missing_ends() if not self.problems else ""
        if not cables and not self.problems:
            self.problem(self.end, "no cable", "a dump that tells what is cabled to what")
        if not self.problems:
            self._refuse_several(cables)
        if self.problems:
            raise TopologyError(self.problems)
        nodes = {**self.nodes, **{guid: node for guid, node in self._guessed.items() if guid not in self.nodes}}
        return Subnet(
            self.file, nodes, tuple(cables), tuple(self.remarks), partial, self.lids, self.port_guids, self.lanes
        )

    def _pair_ends(self) -> Iterable[SubnetCable]:
        """Each cable once, in the order in which its first end was told."""
        for own, told in self._told.items():
            back = self._told.get(told.far)
            if back is None:
                yield SubnetCable(own, told.far, told.rate, told.where)
            elif back.far != own:
                found = f"port {self.name(own)} leads to {self.name(told.far)}, which leads to {self.name(back.far)}"
                self.problem(told.where, found, "two ends of one cable that name each other (one dump of one subnet)")
            elif (told.where, own) <= (back.where, told.far):
                yield SubnetCable(own, told.far, self._slower(own, told, back), told.where)

    def _slower(self, own: PortEnd, told: _ToldEnd, back: _ToldEnd) -> LinkRate | None:
        rates = [rate for rate in (told.rate, back.rate) if rate is not None]
        if len(set(rates)) > 1:
            self.remark(
                f"ends that tell different rates are taken for the slower: port {self.name(own)} {told.rate}, "
                f"the other end {back.rate}, and so on"
            )
        return min(rates, key=lambda rate: rate.data, default=None)

    def _find_missing_ends(self) -> str:
        """Words for the gap of a dump of switches alone; a problem for any other one with cables that one end tells."""
        silent = [(own, told) for own, told in self._told.items() if told.far not in self._told]
        far = [self.nodes.get(told.far.guid) or self._guessed[told.far.guid] for _, told in silent]
        switches = [node.kind is NodeKind.SWITCH for node in self.nodes.values()]
        if self.lists_switches and all(switches) and all(node.kind is not NodeKind.SWITCH for node in far):
            return _SWITCHES_ONLY
        if not silent:
            return self.partial
        own, told = silent[0]
        found = f"no line of the other end for {len(silent):,} of {len(self._told):,} ports, such as {self.name(own)}"
        self.problem(self.end, f"{found} (line {told.where.line})", _WHOLE)
        return ""

    def _refuse_several(self, cables: Iterable[SubnetCable]) -> None:
        """A problem for nodes that no cable and no common box joins to the first ones."""
        parts = _find_parts(self.nodes, cables)
        if len(parts) < 2:
            return
        first, second = sorted(parts, key=lambda guids: min(self.nodes[guid].where for guid in guids))[:2]
        where = min(self.nodes[guid].where for guid in second)
        found = (
            f"{len(parts)} parts that no cable joins: {len(second):,} nodes from here on, {len(first):,} before them"
        )
        self.problem(where, found, "one subnet: give the dump of each by itself")


def _find_parts(nodes: Mapping[str, SubnetNode], cables: Iterable[SubnetCable]) -> list[set[str]]:
    """The nodes with entries that have a cable, by what is joined: cables, and boxes that several chips are in."""
    of: dict[str, str] = {guid: guid for guid in nodes}

    def find_root(guid: str) -> str:
        while of[guid] != guid:
            of[guid] = of[of[guid]]
            guid = of[guid]
        return guid

    joins = [(cable.a.guid, cable.b.guid) for cable in cables]
    boxes = group_by_key((node.system, guid) for guid, node in nodes.items() if node.system)
    joins += [(guids[0], guid) for guids in boxes.values() for guid in guids[1:]]
    for a, b in joins:
        for guid in (a, b):
            of.setdefault(guid, guid)
        of[find_root(a)] = find_root(b)
    cabled = {guid for cable in cables for guid in (cable.a.guid, cable.b.guid)}
    parts = group_by_key((find_root(guid), guid) for guid in nodes if guid in cabled)
    return [set(guids) for guids in parts.values()]
