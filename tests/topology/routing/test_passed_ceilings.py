"""Ceilings that directed links pass: of the devices at both ends, each one way, looked up once for each graph."""

from pathlib import Path
from unittest.mock import patch

import pytest

from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.model.ceiling import CeilingSide
from benchconsole.topology.model.fabric import Flow, LinkId, NodeId
from benchconsole.topology.routing import passed_ceilings
from benchconsole.topology.routing.routes import Routes
from tests.fabrics import fabric

TEXT = """\
schema: 1
fabric: x
nodes: {a: {ceilings: {slot: {rate: 5G}}}, b: {}}
switches: {s: {ceilings: {card: {ports: "1,2", rate: 12G}}}}
links:
  - {from: a, to: "s:1", speed: 10G}
  - {from: b, to: "s:2,3", speed: 10G, count: 2}
"""


@pytest.mark.parametrize(
    ("link", "source", "passed"),
    [
        ("a--s", "a", [("a", "slot", False, (True,)), ("s", "card", True, (True,))]),
        ("a--s", "s", [("a", "slot", True, (True,)), ("s", "card", False, (True,))]),
        ("b--s", "b", [("s", "card", True, (True, False))]),
        ("b--s", "s", [("s", "card", False, (True, False))]),
    ],
)
def test_a_link_passes_the_ceilings_of_both_its_ends(
    tmp_path: Path, link: str, source: str, passed: list[tuple[str, str, bool, tuple[bool, ...]]]
) -> None:
    graph = Routes(fabric(tmp_path, TEXT)).graph
    way = graph.way(graph.fabric.links[LinkId(link)], source)
    assert set(graph.columns.passed[way]) == {
        (CeilingSide(device, name, inward), inside) for device, name, inward, inside in passed
    }


def test_questions_to_one_graph_look_at_the_ceilings_once(tmp_path: Path) -> None:
    described = fabric(tmp_path, TEXT)
    routes = Routes(described)
    with patch.object(passed_ceilings, "list_inside", wraps=passed_ceilings.list_inside) as looked:
        for _ in range(3):
            (rate,) = expect(described, [Flow(NodeId("a"), NodeId("b"))], routes=routes)
            assert rate.value < 6.25e8
        assert looked.call_count == 3  # one for each ceiling and cable
