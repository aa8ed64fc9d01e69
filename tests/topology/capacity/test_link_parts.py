"""Very many parts of links are what each is by itself, in their order."""

import numpy as np
import pytest

from benchconsole.topology.arrays import NO_INDICES
from benchconsole.topology.capacity.link_parts import LinkPart, LinkParts
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.routing.graph import Graph

TEXT = """\
schema: 1
fabric: two
switches: {"s[1-2]": {role: leaf}}
nodes: {"n[1-2]": {}}
links:
  - {from: n1, to: s1, speed: 10G}
  - {from: n2, to: s2, speed: 10G}
  - {from: s1, to: s2, speed: 10G, count: 2}
"""


def test_parts_come_as_whole_links_then_members_then_others() -> None:
    graph = Graph(load_text(TEXT, "two.yaml"))
    other = LinkPart(graph.direction(0), vlan=5)
    parts = LinkParts(graph, np.array([1, 4]), (np.array([4, 5]), np.array([0, 1])), [other])
    expected = [
        LinkPart(graph.direction(1)),
        LinkPart(graph.direction(4)),
        LinkPart(graph.direction(4), 0),
        LinkPart(graph.direction(5), 1),
        other,
    ]
    assert [str(part.way.source) for part in parts] == ["s1", "s1", "s1", "s2", "n1"]
    assert list(parts) == expected
    assert [parts[at] for at in range(-5, 5)] == expected + expected
    assert list(parts[1:4]) == expected[1:4]
    assert len(parts) == 5
    with pytest.raises(IndexError):
        parts[5]


def test_no_parts_are_nothing() -> None:
    parts = LinkParts(Graph(load_text(TEXT, "two.yaml")), NO_INDICES, (NO_INDICES, NO_INDICES))
    assert not parts
    assert list(parts) == []
