"""Writes a fabric as Slurm's topology of type tree: ``topology.conf`` and ``topology.yaml`` (25.05 and later).

Slurm gives a switch one parent, and either nodes or switches below it. The rules that make
every fabric with an order of tiers such a tree:

1. Switches of one tier that share something below them (the spines of a leaf, the pair that a
   node is cabled to) are one entry, called after the first of them in the file.
2. A device cabled to several tiers is below the lowest of them; the higher ones must be above
   that one, else the fabric is no tree and is refused by name.
3. Nodes cabled to a switch that has switches below it stand in an entry ``SWITCH-nodes``.
4. Entries without a parent whose switches are cabled to each other stand under ``SWITCH-top``.

Lost and said in comments: switches that share an entry, links within a tier, speeds, counts.
Virtual machines stand where their host does. Only one network is written, the first for data that has a link.

Source: topology.conf(5), topology.yaml(5); Slurm's ``topology/tree`` plugin.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ClusterShell.RangeSet import RangeSet

from benchconsole.topology.exporters import ExportError
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, SwitchRole
from benchconsole.topology.model.network import DATA, NetworkRole
from benchconsole.topology.selection import fold
from benchconsole.topology.writing.yaml_text import format_comment, format_scalar, quote

_NUMBERED = re.compile(r"(.*?)(\d+)")


@dataclass(slots=True)
class SlurmSwitch:
    """One switch of the tree: what is below it, and what else it stands for."""

    name: str
    nodes: list[str] = field(default_factory=list)
    switches: list[str] = field(default_factory=list)
    note: str = ""


def export_conf(fabric: Fabric) -> str:
    """The text of a ``topology.conf``. Raises ExportError for what cannot be a tree."""
    tree = _Tree(fabric)
    lines = [f"# {line}" for line in tree.remarks]
    for entry in tree.entries():
        if entry.note:
            lines.append(f"# {entry.note}")
        below = f" Nodes={format_hostlist(entry.nodes)}" if entry.nodes else ""
        below += f" Switches={format_hostlist(entry.switches)}" if entry.switches else ""
        lines.append(f"SwitchName={entry.name}{below}")
    return "\n".join(lines) + "\n"


def export_yaml(fabric: Fabric) -> str:
    """The text of a ``topology.yaml`` with one topology. Raises ExportError for what cannot be a tree."""
    tree = _Tree(fabric)
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", fabric.name).strip("-.") or "fabric"
    lines = [*(f"# {line}" for line in tree.remarks), "---", f"- topology: {format_scalar(name, flow=False)}"]
    lines += ["  cluster_default: true", "  tree:", "    switches:"]
    for entry in tree.entries():
        if entry.note:
            lines.append(f"      # {entry.note}")
        lines.append(f"      - switch: {format_scalar(entry.name, flow=False)}")
        if entry.nodes:
            lines.append(f"        nodes: {quote(format_hostlist(entry.nodes))}")
        if entry.switches:
            lines.append(f"        children: {quote(format_hostlist(entry.switches))}")
    return "\n".join(lines) + "\n"


def format_hostlist(names: Iterable[str]) -> str:
    """Names as a hostlist of Slurm: ranges on the last number only, and only where it ends the name."""
    matches = ((name, _NUMBERED.fullmatch(name)) for name in names)
    numbers = group_by_key((match[1], match[2]) if match else (name, "") for name, match in matches)
    return ",".join(part for prefix, each in numbers.items() for part in _fold_numbers(prefix, each))


def _fold_numbers(prefix: str, numbers: Sequence[str]) -> Iterator[str]:
    """One range for each width where numbers are padded with zeros, else one for all."""
    padded = any(len(number) > 1 and number.startswith("0") for number in numbers)
    for each in group_by_key((len(number) if padded else 0, number) for number in numbers).values():
        yield prefix + each[0] if len(each) == 1 else f"{prefix}[{RangeSet.fromlist(each)}]"


class _Tree:
    """The tree of one fabric. ``remarks`` are the comments at its head."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self.network = _choose_network(fabric)
        links = [link for link in fabric.links.values() if link.network == self.network]
        self._order: dict[str, int] = {switch: index for index, switch in enumerate(fabric.switches)}
        self._stands_for = {str(switch): str(switch) for switch in fabric.switches}
        self._above: dict[str, list[str]] = {}
        self._beside: list[tuple[str, str]] = []
        self._skipped: list[tuple[str, str]] = []
        for link in links:
            a, b = sorted((link.a, link.b), key=fabric.tier)
            if fabric.tier(a) < fabric.tier(b):
                self._above.setdefault(a, []).append(b)
            else:
                self._beside.append((a, b))
        for node in fabric.nodes.values():
            if node.host is not None:
                self._above[node.id] = self._above.get(node.host, [])
        if not any(self._above.get(node) for node in fabric.nodes):
            raise ExportError(
                f"{fabric.name} has no node that is cabled to a switch: Slurm's topology has nothing to say"
            )
        self._parent: dict[str, str] = {}
        for tier in range(len(SwitchRole)):
            self._merge(tier)
        self._refuse_what_is_no_tree()
        self._used = {each for node in fabric.nodes for each in self.ancestors(node)}
        self.remarks = list(self._remarks())

    def first(self, switch: str) -> str:
        """The switch that ``switch`` shares an entry with, itself where it is the first."""
        while self._stands_for[switch] != switch:
            switch = self._stands_for[switch]
        return switch

    def _merge(self, tier: int) -> None:
        """Rules 1 and 2 for everything of one tier: one parent each, of the nearest tier above."""
        above: dict[str, list[str]] = {}
        for device in (*self.fabric.nodes, *self.fabric.switches):
            if self.fabric.tier(device) == tier:
                above.setdefault(self.first(device) if tier else device, []).extend(self._above.get(device, ()))
        for device, switches in above.items():
            if switches:
                nearest = min(map(self.fabric.tier, switches))
                near = [switch for switch in switches if self.fabric.tier(switch) == nearest]
                # They share an entry, called after the first of them in the file.
                entries = set(map(self.first, near))
                self._stands_for |= dict.fromkeys(entries, min(entries, key=self._order.__getitem__))
                self._parent[device] = near[0]
                self._skipped += [(device, switch) for switch in switches if switch not in near]

    def parent(self, device: str) -> str | None:
        """The entry above a node or an entry."""
        found = self._parent.get(device)
        return None if found is None else self.first(found)

    def ancestors(self, device: str) -> Iterator[str]:
        """Every entry above a node or an entry, upward."""
        here = self.parent(device)
        while here is not None:
            yield here
            here = self.parent(here)

    def _refuse_what_is_no_tree(self) -> None:
        wrong = [
            f"{device} is cabled to {self.parent(device)} and to {switch}, and one is not above the other"
            for device, switch in self._skipped
            if self.first(switch) not in self.ancestors(device)
        ]
        for a, b in self._beside:
            if a in self._stands_for and b in self._stands_for:
                roots = [self.parent(self.first(switch)) is None for switch in (a, b)]
                if roots[0] != roots[1]:
                    alone, other = (a, b) if roots[0] else (b, a)
                    wrong.append(f"{alone} has no switch above it, and is cabled to {other} of its own tier, which has")
        if wrong:
            raise ExportError(f"{self.fabric.name} is no tree: {'; '.join(dict.fromkeys(wrong))}")

    def entries(self) -> list[SlurmSwitch]:
        """The switches of the tree, those of lower tiers first."""
        found = {
            switch: SlurmSwitch(switch)
            for switch in sorted(self._order, key=self.fabric.tier)
            if self.first(switch) == switch
        }
        for node in self.fabric.nodes:
            parent = self.parent(node)
            if parent is not None:
                found[parent].nodes.append(node)
        for switch in [switch for switch in found if switch in self._used]:
            parent = self.parent(switch)
            if parent is not None:
                found[parent].switches.append(switch)
            shared = [other for other in self._order if self.first(other) == switch]
            if len(shared) > 1:
                found[switch].note = f"{switch} stands for {fold(shared)}, which share something below them"
        kept = [entry for switch, entry in found.items() if switch in self._used]
        taken = {*self.fabric.switches, *self.fabric.nodes}
        return [*self._with_own_nodes(kept, taken), *self._tops(taken)]

    def _with_own_nodes(self, entries: Sequence[SlurmSwitch], taken: set[str]) -> Iterator[SlurmSwitch]:
        """Rule 3: nodes of an upper switch in an entry of their own."""
        for entry in entries:
            if entry.nodes and entry.switches:
                own = _choose_free_name(f"{entry.name}-nodes", taken)
                yield SlurmSwitch(
                    own, nodes=entry.nodes, note=f"{own} is no switch: nodes cabled to {entry.name} itself"
                )
                entry.nodes = []
                entry.switches = [*entry.switches, own]
            yield entry

    def _tops(self, taken: set[str]) -> Iterator[SlurmSwitch]:
        """Rule 4: an entry above roots that are cabled to each other."""
        roots = {switch: {switch} for switch in self._used if self.parent(switch) is None}
        for a, b in self._beside:
            if a in self._stands_for and b in self._stands_for:
                one, two = roots.get(self.first(a)), roots.get(self.first(b))
                if one is not None and two is not None and one is not two:
                    one |= two
                    roots.update(dict.fromkeys(two, one))
        for together in {id(each): each for each in roots.values() if len(each) > 1}.values():
            below = sorted(together, key=self._order.__getitem__)
            top = _choose_free_name(f"{below[0]}-top", taken)
            yield SlurmSwitch(top, switches=below, note=f"{top} is no switch: {fold(below)} are cabled to each other")

    def _remarks(self) -> Iterator[str]:
        yield format_comment(f"Slurm's tree of {self.fabric.name}, written by benchconsole.")
        yield "Speeds, numbers of cables, LAGs and MLAG pairs have no place in it."
        others = self.fabric.used_networks - {self.network}
        if others:
            yield format_comment(f"Of the networks, {self.network} is written; not: {', '.join(sorted(others))}.")
        if self._beside:
            yield f"Links within a tier are not in a tree: {_name_some(self._beside)}."
        if self._skipped:
            yield f"Links past a tier are not in a tree: {_name_some(self._skipped)}."
        alone = [str(node) for node in self.fabric.nodes if self.parent(node) is None]
        if alone:
            yield f"Cabled to no switch, and so not in a tree: {fold(alone)}."
        idle = {switch for switch in self._order.keys() - self._used if self.first(switch) == switch}
        if idle:
            yield f"Nothing is below these switches, and so they are not in a tree: {fold(idle)}."


def _choose_network(fabric: Fabric) -> str:
    """The network that flows take: the first of data with a link, that of links without a name before others."""
    used = [DATA, *dict.fromkeys(link.network for link in fabric.links.values())]
    present = [name for name in used if name in used[1:]] or [DATA]
    order = list(NetworkRole)
    return min(present, key=lambda name: order.index(fabric.networks[name].role) if name in fabric.networks else 0)


def _name_some(links: Sequence[tuple[str, str]]) -> str:
    """The first dozen of several links."""
    found = [f"{a} to {b}" for a, b in dict.fromkeys(links)]
    return ", ".join(found[:12]) + (f" and {len(found) - 12:,} more" if len(found) > 12 else "")


def _choose_free_name(name: str, taken: set[str]) -> str:
    """``name``, or one like it that is not taken; it is taken from now on."""
    further = (f"{name}{number}" for number in itertools.count(2))
    found = next(each for each in itertools.chain([name], further) if each not in taken)
    taken.add(found)
    return found
