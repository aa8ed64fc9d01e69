"""Boxes, clusters and labels of a diagram, the same for all diagram languages.

Small fabrics are written whole, larger ones as their outline with multiplicities: Mermaid draws 500 edges at
most, D2 declines thousands, and nobody reads that many.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from benchconsole.topology.model.device_group import Group
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.outline.fold import Box, Edge, Join, Outline, make_outline, make_unfolded_outline
from benchconsole.topology.tables.fabric_tables import make_tables

MOST_EDGES = 200
"""Edges that are drawn one by one."""
_KINDS = ("site", "pod", "rack", "chassis")


@dataclass(slots=True)
class Cluster:
    """Boxes that stand together, and clusters within; ``id`` is made up and safe in any language."""

    id: str
    label: str
    boxes: list[Box] = field(default_factory=list)
    inner: dict[str, "Cluster"] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Diagram:
    """``root`` holds every box once; ``paths`` are the clusters that a box stands in, from the outside."""

    outline: Outline
    root: Cluster
    paths: Mapping[str, tuple[Cluster, ...]]
    folded: bool

    def label(self, box: Box) -> list[str]:
        """The lines in a box."""
        count = f" x {box.count:,}" if box.count > 1 else ""
        first = [f"{box.name}{count}", box.sort]
        if not self.folded:
            return [replace_unprintable(line) for line in first]
        inside = [f"= {', '.join(edge.words)}" for edge in self.outline.edges if edge.lower == edge.upper == box.id]
        unlike = [] if box.exact else ["not all alike"]
        worst = ["the worst ratio"] if self.heavy(box) else []
        around = {cluster.label for cluster in self.paths[box.id]}
        notes = [note for note in box.notes if replace_unprintable(note) not in around]
        return [replace_unprintable(line) for line in (*first, *unlike, *notes, *inside, *box.carried, *worst)]

    def edges(self) -> list[Edge]:
        """The edges between different boxes."""
        return [edge for edge in self.outline.edges if not edge.inside]

    def words(self, edge: Edge) -> list[str]:
        """The lines beside an edge; those of one storage system, or one virtual machine, need none."""
        if self.folded:
            return [replace_unprintable(line) for line in edge.words]
        return [replace_unprintable(line) for line in (edge.cabling, *edge.notes)] if edge.join is Join.CABLE else []

    def heavy(self, box: Box) -> bool:
        """Whether a device of ``box`` has the highest oversubscription of all."""
        return box.worst is not None and box.worst == self.outline.worst


def make_diagram(fabric: Fabric) -> Diagram:
    """The diagram that is drawn of ``fabric``."""
    joined = sum(node.host is not None for node in fabric.nodes.values())
    joined += sum(len(storage.servers) for storage in fabric.storage.values())
    devices = len(fabric.nodes) + len(fabric.switches) + len(fabric.storage)
    small = len(fabric.links) + joined <= MOST_EDGES and devices <= MOST_EDGES + 1
    cabled = make_tables(fabric)
    drawn = make_unfolded_outline(cabled) if small else make_outline(cabled)
    groups = {kind: fabric.group_of(kind) for kind in _KINDS}
    root = Cluster("", drawn.name)
    paths = {box.id: tuple(_fill_clusters(root, _name_members(fabric, box, groups))) for box in drawn.boxes}
    for box in drawn.boxes:
        (root, *paths[box.id])[-1].boxes.append(box)
    for number, cluster in enumerate(_list_inner(root)):
        cluster.id = f"g{number}"
    return Diagram(drawn, root, paths, folded=not small)


def _fill_clusters(cluster: Cluster, names: Iterable[str]) -> Iterator[Cluster]:
    """The clusters of those names, one within the other, made where they are not there yet."""
    for name in names:
        cluster = cluster.inner.setdefault(name, Cluster("", replace_unprintable(name)))
        yield cluster


def write_clusters(
    cluster: Cluster, indent: str, box: Callable[[Box], str], begin: Callable[[Cluster], Sequence[str]], end: str
) -> Iterator[str]:
    """The lines of what is in ``cluster``: boxes, then each cluster between the lines that ``begin`` and ``end`` it."""
    yield from (indent + box(each) for each in cluster.boxes)
    for inner in cluster.inner.values():
        yield from (indent + line for line in begin(inner))
        yield from write_clusters(inner, f"{indent}  ", box, begin, end)
        yield indent + end


def _list_inner(cluster: Cluster) -> Iterator[Cluster]:
    """Every cluster within, each before those that it holds."""
    for each in cluster.inner.values():
        yield each
        yield from _list_inner(each)


def _name_members(fabric: Fabric, box: Box, groups: Mapping[str, Mapping[str, Group]]) -> list[str]:
    """The groups that all of a box is in, the largest kind first; a storage system is where its servers are."""
    devices = box.members
    if box.what == "storage":
        devices = tuple(server for name in box.members for server in fabric.storage[name].servers)
    found = []
    for kind, members in groups.items():
        names = {members[device].name if device in members else None for device in devices}
        if len(names) == 1 and None not in names:
            found.append(f"{kind} {names.pop()}")
    return found


def replace_unprintable(text: str) -> str:
    """``text`` with a sign in the place of every character that does not print, line ends among them."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
