"""Layers of storage systems as limits of flows: against the same fabric with a trunk in their place, and by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.capacity.expect import expect, expect_merged
from benchconsole.topology.capacity.flow_groups import FlowSet
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.capacity.limit_names import list_limits, name_limit
from benchconsole.topology.capacity.storage_limits import (
    UnlimitedLayer,
    add_storage_limits,
    list_read_and_written,
    list_unlimited,
)
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.errors import SelectionError
from benchconsole.topology.model.fabric import Fabric, Flow, NodeId

GIGABIT = 1.25e8
HEAD = """
schema: 1
fabric: store
network: {mtu: 9000, goodput: 1.0}
switches: {sw: {role: leaf}, far: {role: leaf}}
"""
NODES = 'nodes: {"n[1-6]": {}, "oss[1-3]": {role: storage}, "own[1-2]": {role: storage}}\n'


def describe(layers: str, *, servers_at: str = "sw", more: str = "") -> Fabric:
    """Six clients of 25 Gb/s on one switch; three servers of one system, two of another, with 100 Gb/s each."""
    return load_text(
        f"""{HEAD}{NODES}
links:
  - {{from: "n[1-6]", to: sw, speed: 25 Gb/s}}
  - {{from: "oss[1-3]", to: {servers_at}, speed: 100 Gb/s}}
  - {{from: "own[1-2]", to: sw, speed: 100 Gb/s}}
{more}storage:
  scratch: {{servers: "oss[1-3]", replicas: 2, layers: [{layers}]}}
  home: {{servers: "own[1-2]"}}
""",
        "store.yaml",
    )


def nodes(name: str, number: int) -> tuple[NodeId, ...]:
    return tuple(NodeId(f"{name}{index}") for index in range(1, number + 1))


CLIENTS, SERVERS, OWN = nodes("n", 6), nodes("oss", 3), nodes("own", 2)


def flows(sources: tuple[NodeId, ...], sinks: tuple[NodeId, ...]) -> list[Flow]:
    return [Flow(a, b) for a in sources for b in sinks]


def test_what_is_written_passes_every_layer_as_often_as_there_are_copies() -> None:
    fabric = add_storage_limits(describe("{name: disks, units: 30, write: 100 MB/s, read: 200 MB/s}"))
    for rate in expect(fabric, flows(CLIENTS, SERVERS)):
        assert rate.value * 18 == pytest.approx(30 * 100e6 / 2)
        assert [name_limit(fabric, limit) for limit in list_limits(rate)] == [
            "storage scratch, write: disks (30 x 100 MB/s, 2 copies)"
        ]
    assert sum(rate.value for rate in expect(fabric, flows(SERVERS, CLIENTS))) == pytest.approx(30 * 200e6)


def test_the_slower_of_two_layers_limits_and_other_flows_get_what_is_left() -> None:
    layers = "{name: controller, units: 2, rate: 3 GB/s}, {name: disks, units: 10, write: 100 MB/s}"
    fabric = add_storage_limits(describe(layers))
    asked = [*flows(CLIENTS, SERVERS), *flows(CLIENTS, OWN)]
    rates = [rate.value for rate in expect(fabric, asked)]
    assert sum(rates[:18]) == pytest.approx(0.5e9)  # ten disks, two copies
    assert sum(rates[18:]) == pytest.approx(6 * 25 * GIGABIT - 0.5e9)  # nothing is told of the layers of the other
    reading = [rate.value for rate in expect(fabric, flows(SERVERS, CLIENTS))]
    assert sum(reading) == pytest.approx(6e9)


def test_nothing_changes_unless_layers_are_asked_to_limit() -> None:
    fabric = describe("{name: disks, units: 1, rate: 1 MB/s}")
    assert sum(rate.value for rate in expect(fabric, flows(CLIENTS, SERVERS))) == pytest.approx(150 * GIGABIT)


@settings(max_examples=40)
@given(
    units=st.integers(1, 40),
    tenths=st.integers(1, 60),
    writers=st.integers(1, 6),
    readers=st.integers(0, 6),
    model=st.sampled_from([Model.FLUID, Model.STEERED]),
)
def test_a_layer_limits_as_a_trunk_before_the_servers_would(
    units: int, tenths: int, writers: int, readers: int, model: Model
) -> None:
    rate = tenths * 0.1 * GIGABIT
    layered = add_storage_limits(
        describe(f"{{name: disks, units: {units}, write: {2 * rate:.0f} B/s, read: {rate:.0f} B/s}}")
    )
    trunk = describe(
        "{name: disks, units: 1, rate: 1 GB/s}",
        servers_at="far",
        more=f"  - {{from: far, to: sw, speed: {units * rate * 8:.0f} b/s}}\n",
    )
    asked = [*flows(CLIENTS[:writers], SERVERS), *flows(SERVERS, CLIENTS[:readers])]
    # An even number of bytes in each unit: both are written without rounding.
    ours, theirs = (expect(fabric, asked, model=model) for fabric in (layered, trunk))
    assert [each.value for each in ours] == pytest.approx([each.value for each in theirs], rel=1e-6)


def test_servers_of_two_systems_that_are_cabled_alike_stay_apart_where_equal_flows_are_merged() -> None:
    fabric = add_storage_limits(describe("{name: disks, units: 1, rate: 1 GB/s}"))
    asked = [FlowSet(CLIENTS, (*SERVERS, *OWN))]
    merged = {(flow.source, flow.sink): rate.value for flow, rate in expect_merged(fabric, asked)}
    single = flows(CLIENTS, (*SERVERS, *OWN))
    rates = [rate.value for rate in expect(fabric, single)]
    assert [merged[flow.source, flow.sink] for flow in single] == pytest.approx(rates)
    assert len(set(map(round, rates))) == 2


def test_layers_without_a_rate_are_named_where_flows_meet_them() -> None:
    fabric = describe("{name: controller, units: 2, rate: 3 GB/s}, {name: disks, units: 10, write: 100 MB/s}")
    written, read = [FlowSet(CLIENTS, SERVERS)], [FlowSet(SERVERS, CLIENTS)]
    assert list_unlimited(fabric, written) == ()
    assert list_unlimited(fabric, read) == (UnlimitedLayer("scratch", "read", "disks"),)
    assert list_unlimited(fabric, [FlowSet(CLIENTS, OWN)]) == (UnlimitedLayer("home", "write"),)
    assert list_unlimited(fabric, [FlowSet(CLIENTS[:1], CLIENTS[1:])]) == ()


@pytest.mark.parametrize(
    ("layers", "asked", "systems"),
    [
        ("rate: 1 GB/s", [FlowSet(CLIENTS, SERVERS), FlowSet(SERVERS, CLIENTS)], ("scratch",)),
        ("rate: 1 GB/s", [FlowSet(CLIENTS, SERVERS[:1]), FlowSet(SERVERS[1:], CLIENTS)], ("scratch",)),
        ("rate: 1 GB/s", [FlowSet(SERVERS, SERVERS)], ("scratch",)),
        ("rate: 1 GB/s", [FlowSet(CLIENTS, SERVERS)], ()),
        ("rate: 1 GB/s", [FlowSet(CLIENTS, SERVERS), FlowSet(OWN, CLIENTS)], ()),
        ("rate: 1 GB/s", [FlowSet(SERVERS[:1], SERVERS[:1])], ()),
        ("write: 1 GB/s", [FlowSet(CLIENTS, SERVERS), FlowSet(SERVERS, CLIENTS)], ()),
    ],
)
def test_systems_that_are_read_and_written_at_once_are_told(
    layers: str, asked: list[FlowSet], systems: tuple[str, ...]
) -> None:
    assert list_read_and_written(describe(f"{{name: disks, units: 1, {layers}}}"), asked) == systems


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no storage system with servers"),
        ("storage: {s: {layers: [{name: disk, units: 1, rate: 1 GB/s}]}}", "no storage system with servers"),
        ('storage: {s: {servers: "vm1"}}', "vm1 forwards, is a virtual machine or has some"),
        ('storage: {s: {servers: "host"}}', "host forwards, is a virtual machine or has some"),
        ('storage: {s: {servers: "gw"}}', "gw forwards, is a virtual machine or has some"),
    ],
)
def test_systems_whose_cables_are_shared_or_unknown_are_refused(text: str, why: str) -> None:
    described = f"""{HEAD}nodes: {{host: {{}}, vm1: {{host: host}}, gw: {{forwards: true}}}}
links: [{{from: "host,gw", to: sw, speed: 25 Gb/s}}]
{text}
"""
    with pytest.raises(SelectionError, match=why):
        add_storage_limits(load_text(described, "x.yaml"))
