"""Links in full: ports, LAGs, bonds, WAN lines and channels; what cannot be cabled is refused with its place."""

from collections import Counter
from pathlib import Path

import pytest

from benchconsole.topology.errors import TopologyError
from benchconsole.topology.model.cable import Cable, Channel, Wan
from benchconsole.topology.model.fabric import Bond, Fabric, HashPolicy, Link, LinkId, NodeId
from benchconsole.topology.routing.graph import Graph
from tests.fabrics import fabric

HEAD = """\
schema: 1
fabric: x
network: {hash: l3l4}
networks: {ib: {type: Infiniband, goodput: 80 %}}
switches:
  leaf[1-4]: {ports: {"Eth[1-48]": 10 Gb/s, "Eth[49-52]": {speed: 40 Gb/s, breakout: 4}}}
  spine[1-4]: {role: spine}
nodes:
  n[1-4]: {}
  vm[1-8]: {host: "n[1-4]"}
links:
"""


def described(folder: Path, *links: str) -> Fabric:
    return fabric(folder, HEAD + "".join(f"  - {link}\n" for link in links))


def link(folder: Path, name: str, *links: str) -> Link:
    return described(folder, *links).links[LinkId(name)]


def problems(folder: Path, *links: str) -> list[str]:
    with pytest.raises(TopologyError) as caught:
        described(folder, *links)
    return [str(problem).split("topology.yaml:")[1] for problem in caught.value.problems]


def test_ports_are_given_out_in_order(tmp_path: Path) -> None:
    found = described(tmp_path, '{from: "leaf1:Eth[49-52]", to: "spine[1-2]", speed: 40 Gb/s, count: 2}')
    assert found.links[LinkId("leaf1--spine1")].ports_a == ("Eth49", "Eth50")
    assert found.links[LinkId("leaf1--spine2")].ports_a == ("Eth51", "Eth52")
    assert found.links[LinkId("leaf1--spine2")].ports_b == ()
    assert found.switches["leaf1"].ports[1].breakout == 4  # type: ignore[index]


def test_ports_stay_with_their_device_when_the_ends_are_turned(tmp_path: Path) -> None:
    found = link(tmp_path, "leaf1--spine1", '{from: "spine1:p1", to: "leaf1:Eth49", speed: 40 Gb/s}')
    assert (found.a, found.ports_a, found.ports_b) == ("leaf1", ("Eth49",), ("p1",))


def test_one_to_one(tmp_path: Path) -> None:
    found = described(tmp_path, '{from: "leaf[1-4]", to: "spine[1-4]", wiring: one-to-one, speed: 40 Gb/s}')
    assert list(found.links) == [f"leaf{i}--spine{i}" for i in range(1, 5)]


def test_everything_a_link_can_say(tmp_path: Path) -> None:
    found = link(
        tmp_path,
        "spine1--spine2",
        "{from: spine1, to: spine2, speed: 100 Gb/s, rtt: 50.5 ms, available: 40 Gb/s, network: ib,"
        " hash: l3, cable: {type: DAC, length: 50 cm}, channels: {265: 50 Gb/s, 266: 50 Gb/s}}",
    )
    assert found.wan == Wan(50.5 * 1e-3, 5e9)
    assert found.capacity == 5e9
    assert found.channels == (Channel(265, 6.25e9), Channel(266, 6.25e9))
    assert (found.hash, found.network, found.cable) == (HashPolicy.L3, "ib", Cable("DAC", 0.5))


def test_goodput_is_that_of_the_network(tmp_path: Path) -> None:
    found = described(tmp_path, "{from: n1, to: leaf1, speed: 10G}", "{from: n2, to: leaf1, speed: 10G, network: ib}")
    assert found.goodput_of(found.links[LinkId("n1--leaf1")]) == pytest.approx(1448 / 1538)
    assert found.goodput_of(found.links[LinkId("n2--leaf1")]) == 0.8


def test_payload_is_the_capacity_times_the_goodput_of_the_network(tmp_path: Path) -> None:
    fabric = described(
        tmp_path,
        "{from: n1, to: leaf1, speed: 8G, count: 2, network: ib}",
        "{from: n2, to: leaf1, speed: 10G, available: 4G, rtt: 1 ms, network: ib}",
    )
    lag, shared = (fabric.links[LinkId(name)] for name in ("n1--leaf1", "n2--leaf1"))
    assert (fabric.payload(lag), fabric.payload(shared)) == pytest.approx((1.6e9, 0.4e9))
    assert (fabric.member_payload(lag), fabric.payload(lag, 1e9)) == pytest.approx((0.8e9, 0.8e9))
    assert Graph(fabric).payload.tolist() == [fabric.payload(link) for link in fabric.links.values() for _ in "ab"]


def test_active_backup_leaves_the_first_leg_active(tmp_path: Path) -> None:
    found = described(tmp_path, '{from: n1, to: "leaf[1-2]", speed: 10G, bond: active-backup}')
    assert [found.links[LinkId(f"n1--leaf{i}")].standby for i in (1, 2)] == [False, True]
    assert found.links[LinkId("n1--leaf2")].bond is Bond.BACKUP


@pytest.mark.parametrize(
    ("links", "active"),
    [
        (['{from: n1, to: "leaf2,leaf1", speed: 10G, bond: active-backup}'], {"n1--leaf2"}),
        (
            [
                '{from: "n1:eth0", to: "leaf1:Eth5", speed: 10G, bond: active-backup}',
                '{from: "n1:eth1", to: "leaf2:Eth7", speed: 10G, bond: active-backup}',
            ],
            {"n1--leaf1"},
        ),
        (
            [
                "{from: n1, to: leaf2, speed: 10G, bond: active-backup}",
                "{from: n1, to: leaf1, speed: 1G, bond: active-backup}",
                "{from: n1, to: leaf3, speed: 1G, bond: active-backup}",
            ],
            {"n1--leaf2"},
        ),
        (['{from: "leaf[1-2]", to: "n[1-3]", speed: 10G, bond: active-backup}'], {"n1--leaf1", "n2--leaf1", "n3--leaf1"}),
        (
            [
                '{from: "leaf2", to: "n[1-2]", speed: 10G, bond: active-backup}',
                '{from: "n[1-2]", to: leaf1, speed: 10G, bond: active-backup}',
            ],
            {"n1--leaf2", "n2--leaf2"},
        ),
        (  # a bond in each network
            [
                "{from: n1, to: leaf1, speed: 10G, bond: active-backup}",
                '{from: n1, to: "leaf[2-3]", speed: 10G, bond: active-backup, network: ib}',
            ],
            {"n1--leaf1", "n1--leaf2"},
        ),
        (  # members of the LAG of the active leg are part of it
            [
                "{from: n1, to: leaf1, speed: 10G, lag: po1, bond: active-backup}",
                "{from: n1, to: leaf2, speed: 10G, lag: po1, bond: active-backup}",
                "{from: n1, to: leaf1, speed: 40G, lag: po1, bond: active-backup}",
            ],
            {"n1--leaf1"},
        ),
        (  # other bonds know no standby
            ['{from: n1, to: "leaf[1-2]", speed: 10G, bond: lacp}'],
            {"n1--leaf1", "n1--leaf2"},
        ),
    ],
)  # fmt: skip
def test_a_node_has_one_active_leg_in_each_network(tmp_path: Path, links: list[str], active: set[str]) -> None:
    found = described(tmp_path, *links)
    assert {link.id for link in found.links.values() if not link.standby} == active
    assert {link.id for node in found.nodes.values() for link in Graph(found).active_legs(node.id)} == active


def test_members_of_mixed_speed_are_one_lag(tmp_path: Path) -> None:
    found = link(
        tmp_path,
        "leaf1--spine1",
        '{from: "leaf1:Eth49", to: spine1, speed: 40G, lag: po1}',
        '{from: "leaf1:Eth[1-2]", to: spine1, speed: 10G, count: 2, lag: po1}',
    )
    assert (found.members, found.capacity, found.speed) == ((5e9, 1.25e9, 1.25e9), 7.5e9, 1.25e9)
    assert found.ports_a == ("Eth49", "Eth1", "Eth2")


def test_two_lags_between_the_same_switches(tmp_path: Path) -> None:
    found = described(
        tmp_path,
        "{from: leaf1, to: spine1, speed: 40G, lag: po1}",
        "{from: spine1, to: leaf1, speed: 40G, count: 2, lag: po2}",
    )
    assert {name: each.count for name, each in found.links.items()} == {"leaf1--spine1": 1, "leaf1--spine1/po2": 2}


def test_virtual_machines_share_the_cables_of_their_host(tmp_path: Path) -> None:
    found = described(tmp_path, '{from: "n[1-4]", to: leaf1, speed: 10G}')
    assert [found.nodes[NodeId(f"vm{i}")].host for i in (1, 2, 3, 8)] == ["n1", "n1", "n2", "n4"]
    assert found.legs("vm3") == found.links_at["n2"]


@pytest.mark.fault("F02", "F03")
@pytest.mark.parametrize(
    ("links", "place", "what"),
    [
        (['{from: "leaf1:Eth53", to: spine1, speed: 40G}'], "12:12", "unknown port leaf1:Eth53, expected a port of leaf1; did you mean Eth5"),
        (['{from: "leaf1:Eth1", to: spine1, speed: 40G}', '{from: "leaf1:Eth1", to: spine2, speed: 40G}'], "13:12", "the port leaf1:Eth1 a second time (first in line 12)"),
        (['{from: "leaf1:Eth[1-3]", to: spine1, speed: 40G, count: 2}'], "12:12", "3 ports for 2 cables at leaf1"),
        (['{from: "leaf1:Eth[1-", to: spine1, speed: 40G}'], "12:12", "Eth[1-"),
        (['{from: "leaf1:a;b", to: spine1, speed: 40G}'], "12:12", "is not a port name"),
        (["{from: leaf1, to: leaf1, speed: 40G}"], "12:5", "a link from leaf1 to itself"),
        (["{from: vm1, to: leaf1, speed: 10G}"], "12:5", "a cable of the virtual machine vm1, expected a cable of its host n1"),
        (["{from: leaf1, to: spine1, speed: 40G}", "{from: leaf1, to: spine1, speed: 40G}"], "13:5", "a second link from leaf1 to spine1"),
        (["{from: leaf1, to: spine1, speed: 40G, network: infiniband}"], "12:52", "unknown network 'infiniband', expected one of data, ib"),
        (['{from: "leaf[1-4]", to: "spine[1-2]", wiring: one-to-one, speed: 40G}'], "12:51", "4 devices to 2, one to one"),
        (["{from: leaf1, to: spine1, speed: 40G, channels: {5000: 1G}}"], "12:54", "the VLAN '5000'"),
        (["{from: leaf1, to: spine1, speed: 40G, cable: {type: DAC, length: 3}}"], "12:70", "did you mean 3 m?"),
        (["{from: leaf1, to: spine1, speed: 25 GB/s}"], "12:38", "did you mean 25 Gb/s?"),
        (["{from: leaf1, to: spine1, speed: 400}"], "12:38", "did you mean 400 Gb/s?"),
        (["{from: leaf1, to: spine1, speed: -10 Gb/s}"], "12:38", "'-10 Gb/s'"),
        (["{from: leaf1, to: spine1, speed: 1e99 Gb/s}"], "12:38", "'1e99 Gb/s'"),
        (["{from: leaf1, to: spine1, speed: 900 Tb/s}"], "12:38", "from 1 kb/s to 100 Tb/s"),
        (["{from: leaf1, to: spine1, speed: nan}"], "12:38", "'nan'"),
        (["{from: leaf1, to: spine1, speed: 40G, rtt: 50.5}"], "12:48", "did you mean 50.5 s?"),
        (["{from: leaf1, to: spine1, speed: 40G, count: 0}"], "12:50", "0, expected"),
        (['{from: leaf1, to: "spine[1-2]", speed: 40G, bond: active-backup}'], "12:55", "between leaf1 and spine1, which are both switches, expected one of a node"),
    ],
)  # fmt: skip
def test_what_cannot_be_cabled(tmp_path: Path, links: list[str], place: str, what: str) -> None:
    found = problems(tmp_path, *links)
    assert len(found) == 1, found
    assert found[0].startswith(f"{place}:"), found
    assert what in found[0]


@pytest.mark.parametrize(
    ("machines", "hosts", "each"),
    [
        (8, 4, [2, 2, 2, 2]),
        (7, 4, [2, 2, 2, 1]),
        (3, 4, [1, 1, 1]),
        (166, 320, [1] * 166),
        (993, 320, [4] * 33 + [3] * 287),
    ],
)
def test_hosts_take_as_many_machines_each_and_the_first_ones_what_is_left(
    tmp_path: Path, machines: int, hosts: int, each: list[int]
) -> None:
    nodes = f'{{"h[1-{hosts}]": {{}}, "v[1-{machines}]": {{host: "h[1-{hosts}]"}}}}'
    found = fabric(tmp_path, f"schema: 1\nfabric: x\nnodes: {nodes}\n")
    count = Counter(node.host for node in found.nodes.values() if node.host is not None)
    assert [count[NodeId(f"h{number}")] for number in range(1, len(each) + 1)] == each
    assert sum(count.values()) == machines
    in_order = [node.host for node in found.nodes.values() if node.host is not None]
    assert in_order == sorted(in_order, key=lambda host: int(host[1:]))


@pytest.mark.parametrize(
    ("nodes", "what"),
    [
        ("v: {host: v}", "the host v of v, expected a machine that is no virtual machine itself"),
        ("v: {host: w}\n  w: {host: n}\n  n: {}", "the host w of v"),
        ("v: {host: x}", "unknown node 'x'"),
    ],
)
def test_hosts_are_machines(tmp_path: Path, nodes: str, what: str) -> None:
    with pytest.raises(TopologyError) as caught:
        fabric(tmp_path, f"schema: 1\nfabric: x\nnodes:\n  {nodes}\n")
    assert what in str(caught.value)


def test_a_machine_may_be_written_before_its_host(tmp_path: Path) -> None:
    found = fabric(tmp_path, "schema: 1\nfabric: x\nnodes:\n  'v[1-4]': {host: 'n[1-2]'}\n  'n[1-2]': {}\n")
    assert [found.nodes[NodeId(f"v{i}")].host for i in range(1, 5)] == ["n1", "n1", "n2", "n2"]
    assert list(found.nodes) == ["v1", "v2", "v3", "v4", "n1", "n2"]


@pytest.mark.parametrize(
    ("declared", "ports"),
    [
        ("swp[1-4]", "swp1s[0-1],swp2s3"),
        ("Ethernet1/[1-4]", "Ethernet1/1/[1-2],Ethernet1/2/4"),
        ("1/[1-4]", "1/1/[1-2],1/2/4"),
        ("et-0/0/[0-3]", "et-0/0/0:[0-2]"),
        ("ethernet1/1/[1-4]", "ethernet1/1/1:[1-3]"),
    ],
)
def test_parts_of_split_ports_have_the_names_of_their_vendors(tmp_path: Path, declared: str, ports: str) -> None:
    text = HEAD.replace("Eth[49-52]", declared)
    found = fabric(tmp_path, f'{text}  - {{from: "n[1-3]:eth0", to: "leaf1:{ports}", speed: 10G}}\n')
    assert len({found.links[LinkId(f"n{node}--leaf1")].ports_b for node in (1, 2, 3)}) == 3


@pytest.mark.fault("F02")
@pytest.mark.parametrize(
    ("links", "expected"),
    [
        (['{from: n1, to: "leaf1:Eth49/5", speed: 10G}'], "unknown port leaf1:Eth49/5, expected a port of leaf1"),
        (['{from: n1, to: "leaf1:Eth1/1", speed: 10G}'], "unknown port leaf1:Eth1/1, expected a port of leaf1"),
        (
            ['{from: n1, to: "leaf1:Eth49/1", speed: 10G}', '{from: spine1, to: "leaf1:Eth49", speed: 40G}'],
            "the port leaf1:Eth49 whole, split in line 12, expected a part, or a free port",
        ),
        (
            ['{from: spine1, to: "leaf1:Eth49", speed: 40G}', '{from: n1, to: "leaf1:Eth49s0", speed: 10G}'],
            "a part of the port leaf1:Eth49, cabled whole in line 12, expected a free port",
        ),
        (
            ['{from: n1, to: "leaf1:Eth49s0", speed: 10G}', '{from: n2, to: "leaf1:Eth49s0", speed: 10G}'],
            "the port leaf1:Eth49s0 a second time (first in line 12)",
        ),
        (
            ['{from: "n1:p1", to: leaf1, speed: 10G}', '{from: "n1:p1", to: leaf2, speed: 10G}'],
            "the port n1:p1 a second time (first in line 12)",
        ),
        (
            ["{from: n1, to: leaf1, speed: 10G}", '{from: "n1:p2", to: leaf1, speed: 10G}'],
            'NICs with an address each name their ports, as in from: "n1:p1"',
        ),
    ],
)
def test_a_port_is_cabled_once_whole_or_in_parts(tmp_path: Path, links: list[str], expected: str) -> None:
    assert any(expected in each for each in problems(tmp_path, *links))


def test_nics_of_one_node_on_one_switch_are_links_of_their_own(tmp_path: Path) -> None:
    found = described(
        tmp_path, '{from: "n[1-2]:p1", to: leaf1, speed: 10G}', '{from: "n[1-2]:p2", to: leaf1, speed: 10G}'
    )
    assert [(each.id, each.ports_a, each.count) for each in found.links.values()] == [
        ("n1--leaf1", ("p1",), 1),
        ("n2--leaf1", ("p1",), 1),
        ("n1--leaf1/p2", ("p2",), 1),
        ("n2--leaf1/p2", ("p2",), 1),
    ]
