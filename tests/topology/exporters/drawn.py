"""The elements that a checker of a diagram language found in a text, and those that a fabric needs there."""

from collections import Counter
from dataclasses import dataclass, field

from benchconsole.topology.exporters.diagram import Diagram, replace_unprintable


@dataclass
class Drawn:
    """Boxes with their labels, edges by the ids of their ends with their labels, groups with the boxes within."""

    boxes: dict[str, str] = field(default_factory=dict)
    edges: list[tuple[str, str, str]] = field(default_factory=list)
    groups: dict[str, str] = field(default_factory=dict)
    within: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def box(self, id_: str, label: str, path: tuple[str, ...]) -> None:
        """A box may be made once."""
        assert id_ not in self.boxes, id_
        self.boxes[id_] = label
        self.within[id_] = path


def same(found: Drawn, wanted: Diagram) -> None:
    """Fail unless ``found`` has exactly what ``wanted`` says, in labels character by character."""
    outline = wanted.outline
    assert found.boxes == {box.id: "\n".join(wanted.label(box)) for box in outline.boxes}
    edges = [(edge.upper, edge.lower, "\n".join(wanted.words(edge))) for edge in outline.edges if not edge.inside]
    assert Counter(found.edges) == Counter(edges)
    paths = {box: tuple(cluster.id for cluster in path) for box, path in wanted.paths.items()}
    assert found.within == paths
    assert found.groups == {cluster.id: cluster.label for path in wanted.paths.values() for cluster in path}
    assert all(label == replace_unprintable(label) for text in found.boxes.values() for label in text.split("\n"))
