"""A described fabric beside a subnet that differs from it in a planned way: each fault is found, and nothing else."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.description.document import read_text
from benchconsole.topology.description.resolve import resolve
from benchconsole.topology.errors import TopologyError
from benchconsole.topology.importers import import_text
from benchconsole.topology.infiniband.counters import THRESHOLDS, PortCounters, read_counters
from benchconsole.topology.infiniband.dump_files import read_dump
from benchconsole.topology.infiniband.rates import LinkRate, explain_slower
from benchconsole.topology.infiniband.subnet import PortEnd, Subnet
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.wire.subnet_comparison import SubnetOutcome, SubnetReport, compare_subnet
from tests.topology.importers.sources import described
from tests.topology.infiniband.writers import Plan, Planned, plan_fat_tree, write_blocks, write_tables

PLAN = plan_fat_tree(2, 2, 3, trunk=2)
FILE = described(import_text("ib", write_blocks(PLAN), "f"))

WITHOUT_PORTS = """\
schema: 1
fabric: plain
networks:
  ib: {type: InfiniBand}
  mgmt: {type: Ethernet}
switches:
  spine[1-2]: {role: spine}
  leaf[1-2]: {role: leaf}
  eth: {role: leaf}
nodes:
  n[01-06]: {}
links:
  - {from: "n[01-03]", to: leaf1, speed: 100 Gb/s, network: ib}
  - {from: "n[04-06]", to: leaf2, speed: 100 Gb/s, network: ib}
  - {from: "leaf[1-2]", to: "spine[1-2]", speed: 100 Gb/s, count: 2, network: ib}
  - {from: "n[01-06]", to: eth, speed: 1 Gb/s, network: mgmt}
"""
PLAIN = resolve(read_text(WITHOUT_PORTS, "cluster.yaml"), Path("cluster.yaml"))
BOTH = pytest.mark.parametrize("fabric", [FILE, PLAIN], ids=["ports", "no ports"])


def changed(*changes: Callable[[Plan], None]) -> Subnet:
    plan = Plan(list(PLAN.nodes), list(PLAN.cables))
    for change in changes:
        change(plan)
    return read_dump(write_blocks(plan), "dump")


def rows(report: SubnetReport) -> list[tuple[str, tuple[str, ...], str, str, str]]:
    return [(row.kind, row.devices, row.described, row.seen, row.text) for row in report.differences]


def without_host(guid: int) -> Callable[[Plan], None]:
    def change(plan: Plan) -> None:
        plan.nodes[:] = [node for node in plan.nodes if node.guid != guid]
        plan.cables[:] = [cable for cable in plan.cables if cable[0][0] != guid]

    return change


def without_cable(a: tuple[int, int]) -> Callable[[Plan], None]:
    def change(plan: Plan) -> None:
        plan.cables[:] = [cable for cable in plan.cables if cable[0] != a]

    return change


def trained(a: tuple[int, int], width: int, speed: str) -> Callable[[Plan], None]:
    def change(plan: Plan) -> None:
        plan.cables[:] = [(x, y, width, speed) if x == a else (x, y, w, s) for x, y, w, s in plan.cables]

    return change


def moved(ends: dict[tuple[int, int], tuple[int, int]]) -> Callable[[Plan], None]:
    def change(plan: Plan) -> None:
        plan.cables[:] = [(a, ends.get(a, b), width, speed) for a, b, width, speed in plan.cables]

    return change


N1, N2, N4 = 0x10000, 0x10100, 0x10300
LEAF1, LEAF2, SPINE1 = 0xA0000, 0xA0001, 0xE0000


@BOTH
def test_a_subnet_as_described_has_no_difference(fabric: Fabric) -> None:
    report = compare_subnet(fabric, changed())
    assert (rows(report), report.confirmed, report.described, report.complete) == ([], 14, 14, True)


def test_a_host_that_is_gone_is_told_once() -> None:
    assert rows(compare_subnet(FILE, changed(without_host(N1)))) == [
        ("missing device", ("n01",), "leaf1:1", "", "1 cable")
    ]
    assert rows(compare_subnet(PLAIN, changed(without_host(N1)))) == [
        ("missing device", ("n01",), "leaf1", "", "1 cable")
    ]


def test_a_host_whose_adapter_tells_no_name_is_found_at_its_port() -> None:
    def unnamed(plan: Plan) -> None:
        plan.nodes[:] = [
            Planned("H", N1, "MT4129 ConnectX7 Mellanox Technologies", 1) if node.guid == N1 else node
            for node in plan.nodes
        ]

    assert rows(compare_subnet(FILE, changed(unnamed))) == [
        ("missing device", ("n01",), "leaf1:1", "", "1 cable; ca-0000000000010000 is at leaf1:1"),
        ("not described", ("ca-0000000000010000",), "", "leaf1:1", "1 cable"),
    ]


@BOTH
def test_one_cable_of_two_and_both(fabric: Fabric) -> None:
    fewer = rows(compare_subnet(fabric, changed(without_cable((LEAF1, 4)))))
    assert [(row[:2], row[3]) for row in fewer] == [(("fewer cables", ("leaf1", "spine1")), "1 of 2 cables")]
    gone = rows(compare_subnet(fabric, changed(without_cable((LEAF1, 4)), without_cable((LEAF1, 5)))))
    assert [(row[:2], row[4]) for row in gone] == [(("missing", ("leaf1", "spine1")), "2 cables")]


@BOTH
@pytest.mark.parametrize(
    ("rate", "kind", "seen", "text"),
    [
        ((1, "EDR"), "narrow", "25.0 Gb/s, 1xEDR", "1 of 4 lanes"),
        ((2, "EDR"), "narrow", "50.0 Gb/s, 2xEDR", "2 of 4 lanes"),
        ((4, "DDR"), "slower", "16.0 Gb/s, 4xDDR", "DDR instead of EDR"),
        ((1, "SDR"), "slower", "2.00 Gb/s, 1xSDR", "SDR instead of NDR"),
        ((4, "HDR"), "faster", "200 Gb/s, 4xHDR", ""),
    ],
)
def test_a_link_that_was_trained_to_another_rate(
    fabric: Fabric, rate: tuple[int, str], kind: str, seen: str, text: str
) -> None:
    report = compare_subnet(fabric, changed(trained((N1, 1), *rate)))
    assert rows(report) == [(kind, ("leaf1:1", "n01:mlx5_0/1"), "100 Gb/s", seen, text)]
    assert report.confirmed == 13


def test_what_a_lower_rate_means_where_two_readings_are_possible() -> None:
    assert explain_slower(50e9, LinkRate(4, "HDR")) == "HDR instead of NDR"
    assert explain_slower(50e9, LinkRate(2, "NDR")) == "2 of 4 lanes"
    assert explain_slower(1.0, LinkRate(4, "EDR")) == ""


@BOTH
def test_two_hosts_that_stand_in_each_others_places(fabric: Fabric) -> None:
    found = rows(compare_subnet(fabric, changed(moved({(N1, 1): (LEAF2, 1), (N4, 1): (LEAF1, 1)}))))
    assert [row[0] for row in found] == ["swapped"]
    assert [name.partition(":")[0] for name in found[0][1]] == ["n01", "n04"]


def test_swapped_ports_of_one_switch_are_told_where_the_file_names_ports() -> None:
    subnet = changed(moved({(N1, 1): (LEAF1, 2), (N2, 1): (LEAF1, 1)}))
    assert rows(compare_subnet(FILE, subnet)) == [
        (
            "swapped",
            ("n01:mlx5_0/1", "n02:mlx5_0/1"),
            "n01:mlx5_0/1 at leaf1:1; n02:mlx5_0/1 at leaf1:2",
            "n01:mlx5_0/1 at leaf1:2; n02:mlx5_0/1 at leaf1:1",
            "",
        )
    ]
    assert rows(compare_subnet(PLAIN, subnet)) == []


def test_a_cable_alone_at_another_place() -> None:
    subnet = changed(moved({(N1, 1): (LEAF2, 8)}))
    assert [row[:4] for row in rows(compare_subnet(FILE, subnet))] == [
        ("wrong place", ("n01:mlx5_0/1",), "leaf1:1", "leaf2:8")
    ]
    assert [row[:4] for row in rows(compare_subnet(PLAIN, subnet))] == [("wrong place", ("n01",), "leaf1", "leaf2")]


def test_new_hosts_and_new_cables() -> None:
    def grown(plan: Plan) -> None:
        plan.nodes.append(Planned("H", 0x900, "n99 mlx5_0", 1))
        plan.cables.append(((0x900, 1), (LEAF1, 20), 4, "EDR"))
        plan.cables.append(((LEAF1, 21), (SPINE1, 21), 4, "EDR"))

    assert rows(compare_subnet(FILE, changed(grown))) == [
        ("not described", ("n99",), "", "leaf1:20", "1 cable"),
        ("more cables", ("leaf1", "spine1"), "", "leaf1:21 to spine1:21", "2 described"),
    ]


def test_adapters_of_other_names_are_no_difference_where_their_switch_ports_are_right() -> None:
    def renamed(plan: Plan) -> None:
        plan.nodes[:] = [
            Planned(node.kind, node.guid, node.name.replace("mlx5_0", "HCA-1"), node.ports) for node in plan.nodes
        ]

    assert rows(compare_subnet(FILE, changed(renamed))) == []


def test_unlike_firmware_among_one_kind_of_device() -> None:
    versions = {node.guid: "28.39.1002" for node in PLAN.nodes if node.kind == "H"} | {N2: "28.35.1012"}
    subnet = read_dump(write_tables(PLAN, versions), "dump")
    assert rows(compare_subnet(FILE, subnet)) == [
        ("firmware", ("n02",), "", "28.35.1012", "5 of 6 adapters of this kind have 28.39.1002")
    ]


def test_counters_above_zero_are_told_and_congestion_is_no_error() -> None:
    subnet = changed()
    ports = [PortCounters(PortEnd(f"{LEAF1:016x}", 3), {"LinkDownedCounter": 7}, subnet.cables[0].where)]
    assert rows(compare_subnet(FILE, subnet, ports)) == [("errors", ("leaf1:3",), "", "LinkDownedCounter 7", "")]
    assert "PortXmitWait" not in THRESHOLDS
    assert "PortRcvSwitchRelayErrors" not in THRESHOLDS
    assert set(THRESHOLDS.values()) == {0}


QUERIED = f"""\
Errors for 0x{LEAF1:x} "MF0;leaf1:MQM8700/U1"
   GUID 0x{LEAF1:x} port ALL: [SymbolErrorCounter == 12] [PortXmitWait == 9]
   GUID 0x{LEAF1:x} port 3: [SymbolErrorCounter == 12 (12.000)] [PortRcvSwitchRelayErrors == 4] [PortXmitWait == 9]
       Link info:      1   3[  ] ==( 4X           25.78125 Gbps Active/  LinkUp)==>  0x1 2 1[  ] "n03" ( )
Errors for "n02 mlx5_0"
   GUID 0x{N2 + 1:x} port 1: [PortXmitWait == 2]

## Summary: 10 nodes checked, 2 bad nodes found
##          28 ports checked, 2 ports have errors beyond threshold
"""
PERF = "# Port counters: Lid 3 port 3 (CapMask: 0x1A00)\nPortSelect:......................3\nSymbolErrorCounter:..............12\nPortXmitWait:....................9\n"


@pytest.mark.parametrize("text", [QUERIED, PERF, PERF.replace("counters: Lid 3", "extended counters: Lid 3")])
def test_counters_of_each_tool_are_found_at_their_port(text: str) -> None:
    assert PLAN.nodes[2].guid == LEAF1
    (found,) = read_counters(text, "errors", changed())
    assert (found.end, found.errors) == (PortEnd(f"{LEAF1:016x}", 3), {"SymbolErrorCounter": 12})


def test_counters_of_another_subnet_are_refused_with_their_place() -> None:
    with pytest.raises(TopologyError, match="errors:2:1: counters of a port that the dump does not have"):
        list(read_counters('Errors for "x"\n   GUID 0x77 port 1: [LinkDownedCounter == 1]\n', "errors", changed()))


def test_a_partial_dump_is_never_complete_and_a_file_without_infiniband_compares_nothing() -> None:
    text = write_blocks(PLAN).partition("caguid")[0].rpartition("vendid")[0]
    report = compare_subnet(FILE, read_dump(text, "dump"))
    assert (rows(report), report.complete) == ([], False)
    ethernet = WITHOUT_PORTS.replace("type: InfiniBand", "type: Ethernet")
    report = compare_subnet(resolve(read_text(ethernet, "c.yaml"), Path("c.yaml")), changed())
    assert (report.described, report.complete) == (0, False)


@settings(max_examples=60)
@given(data=st.data())
def test_any_planted_fault_is_found_and_nothing_else_is_accused(data: st.DataObject) -> None:
    a, _, _, _ = data.draw(st.sampled_from(PLAN.cables))
    kind = data.draw(st.sampled_from(["cut", "slow"]))
    subnet = changed(without_cable(a) if kind == "cut" else trained(a, 1, "EDR"))
    if kind == "cut" and a[0] not in (LEAF1, LEAF2):
        subnet = changed(without_host(a[0]))
    report = compare_subnet(FILE, subnet)
    expected = SubnetOutcome.NARROW if kind == "slow" else (
        SubnetOutcome.FEWER if a[0] in (LEAF1, LEAF2) else SubnetOutcome.MISSING_DEVICE
    )  # fmt: skip
    assert [row.kind for row in report.differences] == [expected]
    assert report.confirmed == len(PLAN.cables) - 1
