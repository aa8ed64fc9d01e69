"""The graph that nrx exports from NetBox: devices by role, cables by interfaces, sites, speeds and LAGs where they are."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from benchconsole.topology.description.document import Imported
from benchconsole.topology.importers import import_text
from benchconsole.topology.model.fabric import LinkId, NodeId, SwitchId
from tests.topology.importers.sources import CYJS, described, graph, problems

Change = Callable[[dict[str, Any]], object]


def read(text: str) -> Imported:
    return import_text("netbox", text, "site.cyjs", "25 Gb/s")


def changed(change: Change) -> str:
    """The sample with something changed in it."""
    data = json.loads(CYJS)
    change(data["elements"])
    return json.dumps(data)


def test_devices_cables_sites_and_addresses() -> None:
    found = read(CYJS)
    fabric = described(found)
    assert fabric.name == "small"
    assert fabric.nodes[NodeId("n1")].address == "10.0.0.1"
    leaf = fabric.switches[SwitchId("leaf1")]
    assert (leaf.role, leaf.model) == ("leaf", "S5248F")
    assert [(group.kind, group.name, set(group.members)) for group in fabric.groups] == [
        ("site", "hall-1", {"leaf1", "spine1", "n1"})
    ]
    link = fabric.links[LinkId("n1--leaf1")]
    assert (link.ports_a, link.ports_b) == (("Gig-E1",), ("ethernet-1/1",))
    assert found.notes["switches", "spine1"] == "role inferred from the one in NetBox"


def test_speeds_are_kilobits_and_the_lag_of_an_interface_is_taken() -> None:
    def with_speeds(elements: dict[str, Any]) -> None:
        for vertex in elements["nodes"]:
            vertex["data"].get("interface", {}).update(speed=10_000_000, lag={"id": 7, "name": "Port-Channel7"})

    fabric = described(import_text("netbox", changed(with_speeds), "f"))
    assert {link.speed for link in fabric.links.values()} == {1.25e9}
    assert {link.lag for link in fabric.links.values()} == {"Port-Channel7"}


def test_a_number_that_is_no_speed_is_none() -> None:
    def with_speeds(elements: dict[str, Any]) -> None:
        for number, vertex in enumerate(elements["nodes"]):
            vertex["data"].get("interface", {}).update(speed=[0, -1, 10**17, True, "10G"][number % 5])

    assert "25 Gb/s was given" in read(changed(with_speeds)).remarks[-1]


def test_a_role_that_says_nothing_is_a_node_where_all_its_cables_lead_to_switches() -> None:
    text = graph(
        {"fw": {"role": "unknown"}, "box": {"role": "ate"}, "sw": {"role": "tor-switch"}, "st9": {"role": "storage"}},
        [("fw", "e1", "sw", "p1"), ("box", "e1", "sw", "p2"), ("st9", "e1", "sw", "p3"), ("fw", "e2", "st9", "e2")],
    )
    found = read(text)
    fabric = described(found)
    assert set(fabric.switches) == {"sw", "fw"}
    assert {node.id: node.role for node in fabric.nodes.values()} == {"box": "compute", "st9": "storage"}
    assert found.notes["switches", "fw"].startswith("taken for a switch: NetBox says nothing; role inferred")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", "f:1:1: no elements.nodes, expected a graph in CYJS"),
        (CYJS[:300], "broken JSON"),
        (changed(lambda each: each["nodes"].append({})), "an element without data"),
        (changed(lambda each: each["nodes"].append({"data": {"type": "panel", "id": "99"}})), "a node of type 'panel'"),
        (changed(lambda each: each["nodes"].append(each["nodes"][0])), "the id '0' a second time"),
        (changed(lambda each: each["edges"].append({"data": {"source": 0, "target": 1}})), "an edge from '0' to '1'"),
        (changed(lambda each: each["edges"].append({"data": {"source": 3, "target": 77}})), "an edge from '3' to '77'"),
        (changed(lambda each: each["edges"].pop(0)), "the interface 'Gig-E 1' of no device"),
        (changed(lambda each: each["nodes"][0]["data"]["device"].pop("name")), "the name ''"),
    ],
)
def test_every_mistake_is_told(text: str, expected: str) -> None:
    found = problems(lambda each: import_text("netbox", each, "f", "1 Gb/s"), text)
    assert any(expected in line for line in found), found
