"""The offer to a flow that runs alone: its path, its streams on members of LAGs, and the caps of the file."""

from pathlib import Path
from types import MappingProxyType

import pytest

from benchconsole.probes.judging.round_flows import limit_flows
from benchconsole.probes.planning.flow_classes import FlowClasses
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.access import Caps
from benchconsole.topology.model.ceiling import CeilingSide
from benchconsole.topology.model.fabric import Flow, NodeId
from benchconsole.topology.routing.routes import Routes
from tests.fabrics import are_connected, fabric

BONDED = load_text(
    """\
schema: 1
fabric: bonded
networks: {flat: {goodput: 100 %}}
switches: {leaf: {role: leaf}}
nodes: {"n[1-2]": {}, "st1": {role: storage}}
links: [{from: "n[1-2]", to: leaf, speed: 8 Gb/s, count: 4, network: flat}, {from: st1, to: leaf, speed: 32 Gb/s, network: flat}]
storage: {fs: {servers: st1}}
""",
    "bonded.yaml",
)
ROUTES = Routes(BONDED)


def nominal(kinds: FlowClasses, sink: str = "n2") -> float:
    kind = kinds.find_class(NodeId("n1"), NodeId(sink))
    assert kind is not None
    return kind.nominal


@pytest.mark.parametrize(("streams", "rate"), [(1, 1e9), (2, 2e9), (3, 3e9), (4, 4e9), (5, 4e9), (None, 4e9)])
def test_each_stream_is_on_one_member_until_all_are_used(streams: int | None, rate: float) -> None:
    assert nominal(FlowClasses(ROUTES).sending(streams)) == pytest.approx(rate)


def test_a_cap_on_links_is_a_share_of_each() -> None:
    assert nominal(FlowClasses(ROUTES, caps=Caps(0.5))) == pytest.approx(2e9)


@pytest.mark.parametrize(("cap", "rate"), [(0.9e9, 0.9e9), (4e9, 4e9), (4.1e9, 4e9)])
def test_a_cap_on_storage_binds_who_sends_to_its_servers(cap: float, rate: float) -> None:
    kinds = FlowClasses(ROUTES, caps=Caps(None, MappingProxyType({"fs": cap})))
    assert nominal(kinds, "st1") == pytest.approx(rate)
    assert nominal(kinds, "n2") == pytest.approx(4e9)


def test_no_flow_goes_down_to_a_switch_and_up_from_it_again(tmp_path: Path) -> None:
    text = """\
schema: 1
fabric: valley
switches: {"leaf[1-3]": {role: leaf}, "spine[1-2]": {role: spine}}
nodes: {a: {}, b: {}, c: {}}
links:
  - {from: a, to: leaf1, speed: 10G}
  - {from: b, to: leaf2, speed: 10G}
  - {from: c, to: leaf3, speed: 10G}
  - {from: "leaf[1-2]", to: spine1, speed: 10G}
  - {from: "leaf[2-3]", to: spine2, speed: 10G}
"""
    routes = Routes(fabric(tmp_path, text))
    assert are_connected(routes, "a", "c")
    classes = FlowClasses(routes)
    assert classes.find_class(NodeId("a"), NodeId("b")) is not None
    assert classes.find_class(NodeId("a"), NodeId("c")) is None


@pytest.mark.parametrize("streams", [1, 8, None])
@pytest.mark.parametrize("cap", [None, 0.5])
def test_a_test_between_two_addresses_has_one_port_of_a_node_with_rails(
    tmp_path: Path, streams: int | None, cap: float | None
) -> None:
    text = (
        'schema: 1\nfabric: x\nnetwork: {goodput: 100 %}\nswitches: {"rail[1-4]": {}, "leaf[1-4]": {}, s: {role: spine}}\n'
        'nodes: {"g[1-4]": {}, "h[1-4]": {}}\nlinks:\n  - {from: "g[1-4]:p[1-4]", to: "rail[1-4]", speed: 100G}\n'
        '  - {from: "h[1-4]", to: "leaf[1-4]", speed: 100G}\n  - {from: "leaf[1-4]", to: s, speed: 100G}\n'
    )
    routes = Routes(fabric(tmp_path, text))
    classes = FlowClasses(routes, caps=Caps(link=cap)).sending(streams)
    found = classes.find_class(NodeId("g1"), NodeId("g2"))
    assert found is not None
    assert found.nominal == pytest.approx(12.5e9 * (cap or 1.0))
    flow = Flow(NodeId("g1"), NodeId("g2"))
    (limited,) = limit_flows(routes.graph, [flow], [routes.route(flow)], [streams or 64])
    assert limited.demand == pytest.approx(12.5e9)
    # Ports into one fabric that nothing names may all be ways to one address.
    plain = classes.find_class(NodeId("h1"), NodeId("h2"))
    assert plain is not None
    if streams != 1:
        assert plain.nominal == pytest.approx(4 * 12.5e9 * (cap or 1.0))


CEILINGS = """\
schema: 1
fabric: x
network: {goodput: 100 %}
nodes: {"n[1-2]": {}, n3: {ceilings: {slot: {rate: 6G}}}, n4: {ceilings: {slot: {rate: 3G}}}}
switches: {s: {ceilings: {card: {ports: "1,2", rate: 8G}, plane: {rate: 40G}}}}
links: [{from: "n[1-4]", to: "s:[1-4]", speed: 10G}]
"""
CARD, PLANE = (
    (CeilingSide("s", name, inward=True), CeilingSide("s", name, inward=False)) for name in ("card", "plane")
)


@pytest.mark.parametrize(
    ("source", "sink", "gigabits", "loads"),
    [
        ("n1", "n2", 8, {CARD[0]: 1.0, CARD[1]: 1.0, PLANE[0]: 0.2, PLANE[1]: 0.2}),
        ("n1", "n3", 6, {CARD[0]: 0.75, PLANE[0]: 0.15, PLANE[1]: 0.15, CeilingSide("n3", "slot", inward=True): 1.0}),
        ("n3", "n2", 6, {CARD[1]: 0.75, PLANE[0]: 0.15, PLANE[1]: 0.15, CeilingSide("n3", "slot", inward=False): 1.0}),
        (
            "n3",
            "n4",
            3,
            {
                PLANE[0]: 0.075,
                PLANE[1]: 0.075,
                CeilingSide("n3", "slot", inward=False): 0.5,
                CeilingSide("n4", "slot", inward=True): 1.0,
            },
        ),
    ],
)
def test_a_flow_is_bounded_by_the_ceilings_on_its_way_and_loads_each(
    source: str, sink: str, gigabits: float, loads: dict[CeilingSide, float]
) -> None:
    classes = FlowClasses(Routes(load_text(CEILINGS, "x.yaml")))
    found = classes.find_class(NodeId(source), NodeId(sink))
    assert found is not None
    assert found.nominal == pytest.approx(gigabits * 1.25e8)
    assert classes.ceilings(NodeId(source), NodeId(sink)) == pytest.approx(loads)


def test_nodes_share_a_class_only_where_they_pass_alike_ceilings() -> None:
    classes = FlowClasses(Routes(load_text(CEILINGS.replace("1,2", "2,3"), "x.yaml")))
    groups = classes.group_nodes(map(NodeId, ("n1", "n2", "n3", "n4")))
    assert list(groups.values()) == [["n1"], ["n2"], ["n3"], ["n4"]]
    classes = FlowClasses(Routes(load_text(CEILINGS.replace("3G", "6G"), "x.yaml")))
    groups = classes.group_nodes(map(NodeId, ("n1", "n2", "n3", "n4")))
    assert list(groups.values()) == [["n1", "n2"], ["n3", "n4"]]
