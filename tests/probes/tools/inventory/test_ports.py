"""The facts from the sources of interfaces, bonds and InfiniBand, worked out by hand."""

import json

import pytest

from benchconsole.probes.tools.inventory.readers.ethtool_json import find_facts as find_json_facts
from benchconsole.probes.tools.inventory.sources import SOURCES
from tests.probes.tools.captures import text
from tests.probes.tools.inventory.cases import Case, check, check_refused, parsed

CASES: list[Case] = [
    (
        "fibre-channel",
        "fibre-channel-6.1.txt",
        {
            ("fc.ports", ""): 2.0, ("fc.speed", "host1"): 2e9, ("fc.speed", "host2"): None,
            ("fc.state", "host2"): "Linkdown", ("fc.port_name", "host1"): "0x21000024ff7b1234",
        },
    ),
    (
        "perfquery",
        "perfquery-1.6.txt",
        {
            ("ib.received", "12 1"): 123456789 * 4.0,
            ("ib.sent", "12 1"): None,
            ("ib.counter", "SymbolErrorCounter 12 1"): None,
            ("ib.counter", "LocalLinkIntegrityErrors 12 1"): None,
            ("ib.counter", "PortXmitDiscards 12 1"): 7.0,
        },
    ),
    (
        "perfquery",
        "perfquery-extended-5.x.txt",
        {("ib.sent", "12 1"): 4711000000000 * 4.0, ("ib.sent_packets", "12 1"): 9223372036.0},
    ),
    (
        "perfquery",
        "perfquery-wide-1.5.txt",
        {
            ("ib.sent", "214 35"): 196508288843 * 4.0,
            ("ib.received", "214 35"): 550793773496 * 4.0,
            ("ib.sent_packets", "214 35"): 6618992385.0,
            ("ib.received_packets", "214 35"): 2242117286.0,
        },
    ),
    (
        "ibstat",
        "ibstat-28.0.txt",
        {
            ("ib.rate", "mlx5_0 1"): 100e9 / 8,
            ("ib.rate", "mlx4_1 1"): 40e9 / 8,
            ("ib.rate", "mlx4_1 2"): None,
            ("ib.state", "mlx4_1 2"): "Down",
        },
    ),
    (
        "ethtool",
        "ethtool-flow-control-3.5.txt",
        {
            ("nic.pause_rx", "eth2"): "off",
            ("nic.pause_tx", "eth2"): "on",
            ("nic.ring_rx", "eth2"): 512.0,
            ("nic.ring_rx_max", "eth2"): 4096.0,
            ("nic.channels_combined", "eth2"): 12.0,
            ("nic.coalesce_rx", "eth2"): 8e-6,
            ("nic.lro", "eth2"): "off",
            ("nic.counter", "rx_missed_errors eth2"): 3456.0,
            ("nic.counter", "rx_packets eth2"): None,
            ("nic.speed", "eth3"): None,
        },
    ),
    ("ip", "ip-addr-6.1.txt", {("nic.address", "eth0"): "192.0.2.2", ("nic.address", "eth0 2"): "fd00::2"}),
    ("ip", "ip-statistics-6.1.json", {("nic.txqueuelen", "eth0"): 1000.0, ("nic.rx_errors", "eth0"): 0.0}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[name for _, name, _ in CASES])
def test_facts(case: Case) -> None:
    check(case)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("ibstat", ""),
        ("perfquery", "PortXmitData:....................4711\n"),
    ],
)  # fmt: skip
def test_what_cannot_be_trusted_is_refused(source: str, said: str) -> None:
    check_refused(source, said)


def test_what_is_set_does_not_pass_for_the_most_that_is_possible() -> None:
    said = text("inventory/ethtool-flow-control-3.5.txt").replace("Current hardware", "Curren\nt hardware")
    assert not {one.fact for one in SOURCES["ethtool"](said)} & {"nic.ring_tx", "nic.ring_tx_max", "nic.ring_rx_max"}


def test_a_counter_with_a_notice_behind_it_may_have_been_cut() -> None:
    said = "Settings for eth2:\nNIC statistics:\n     rx_errors: 34\n     rx_crc_errors: 1\n"
    for notice in ("WARNING: you should run this as root\n", "slurmstepd: error: *** JOB 17 CANCELLED ***\n"):
        assert [one.value for one in SOURCES["ethtool"](said + notice)] == [34.0]


def test_a_link_that_is_down_for_a_reason_is_down() -> None:
    said = "Settings for eth2:\n\tSpeed: Unknown!\n\tLink detected: no (No cable)\n"
    assert [(one.fact, one.value) for one in SOURCES["ethtool"](said)] == [("nic.link", "no")]


def test_a_made_up_speed_stays_marked_when_a_notice_stands_behind_its_driver() -> None:
    said = text("inventory/ethtool-veth-6.1.txt").replace("driver: veth\n", "driver: veth\nnotice from the login\n")
    assert [one.labels for one in SOURCES["ethtool"](said) if one.fact == "nic.speed"] == [
        (("nic", "data0"), ("nominal", "yes"))
    ]


def test_counters_that_stand_below_another_part_are_nobodys() -> None:
    said = text("inventory/ethtool-flow-control-3.5.txt").replace(
        "Settings for eth2:\nNIC statistics", "NIC statistics"
    )
    names = {one.fact for one in SOURCES["ethtool"](said)}
    assert "nic.counter" not in names
    assert "nic.ring_rx" in names


def test_the_heading_of_a_member_that_was_torn_gives_its_state_to_no_other() -> None:
    said = text("inventory/bonding-lacp-5.14.txt").replace("Slave Interface: ens1f1", "Slave Int\nerface: ens1f1")
    found = {(one.fact, one.labels) for one in SOURCES["bonding"](said)}
    assert ("bond.member_state", (("bond", "bond0"), ("nic", "ens1f0"))) in found
    assert not any(fact == "bond.member_churn" for fact, _ in found)


def test_a_speed_counts_only_while_there_is_a_link() -> None:
    said = "Settings for eth2:\n\tSpeed: 25000Mb/s\n\tDuplex: Full\n\tLink detected: {}\n"
    up, down = ({one.fact: one.value for one in SOURCES["ethtool"](said.format(link))} for link in ("yes", "no"))
    assert (up["nic.speed"], up["nic.link"]) == (25e9 / 8, "yes")
    assert down == {"nic.duplex": "full", "nic.link": "no"}


def test_a_speed_of_the_kernel_counts_only_while_there_is_a_link() -> None:
    files = "/sys/class/net/{0}/speed:25000\n/sys/class/net/{0}/carrier:{1}\n"
    found = SOURCES["sysfs"](files.format("eth0", 1) + files.format("eth1", 0))
    assert [one.labels for one in found if one.fact == "nic.speed"] == [(("nic", "eth0"),)]


def test_a_member_that_is_down_has_no_speed() -> None:
    member = "Slave Interface: {}\nMII Status: {}\nSpeed: 25000 Mbps\nDuplex: full\n"
    said = "Ethernet Channel Bonding Driver: v5.14\n\n" + member.format("eth0", "up") + member.format("eth1", "down")
    found = SOURCES["bonding"](said)
    assert [one.labels for one in found if one.fact == "bond.member_speed"] == [(("nic", "eth0"),)]


@pytest.mark.parametrize("link", ["yes", "no"])
def test_a_speed_of_lshw_counts_only_while_there_is_a_link(link: str) -> None:
    entry = (
        '{"id":"network","class":"network","logicalname":"eth0","configuration":{"speed":"10Gbit/s","driver":"ixgbe",'
    )
    found = {one.fact: one.value for one in SOURCES["lshw"](entry + f'"link":"{link}"}}}}\n')}
    assert found.get("nic.speed") == (10e9 / 8 if link == "yes" else None)


def test_the_json_of_ethtool_tells_what_its_text_tells() -> None:
    found = parsed("ethtool", "ethtool-features-6.1.json")
    assert {key: found[key, "eth0"].value for key in ("nic.tso", "nic.gro", "nic.lro", "nic.checksum_rx")} == {
        "nic.tso": "on", "nic.gro": "on", "nic.lro": "off", "nic.checksum_rx": "on",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"autonegotiate": False, "rx": True, "tx": False},
         {"nic.pause_autonegotiate": "off", "nic.pause_rx": "on", "nic.pause_tx": "off"}),
        ({"rx-max": 4096, "rx-mini": 0, "tx-max": 4096, "rx": 512, "tx": 256},
         {"nic.ring_rx_max": 4096, "nic.ring_tx_max": 4096, "nic.ring_rx": 512, "nic.ring_tx": 256}),
        ({"other-max": 1, "combined-max": 63, "other": 1, "combined": 16},
         {"nic.channels_other_max": 1, "nic.channels_combined_max": 63, "nic.channels_other": 1,
          "nic.channels_combined": 16}),
        ({"rx-max": 4, "rx": 2}, {}),
        ({"adaptive-rx": True, "rx-usecs": 8, "tx-usecs": 16},
         {"nic.coalesce_adaptive_rx": "on", "nic.coalesce_rx": 8e-6, "nic.coalesce_tx": 16e-6}),
        ({"speed": 25000, "duplex": "Full", "auto-negotiation": True, "port": "FIBRE", "link-detected": True},
         {"nic.link": "yes", "nic.autonegotiation": "on", "nic.port": "FIBRE", "nic.duplex": "full",
          "nic.speed": 25e9 / 8}),
        ({"speed": 25000, "link-detected": False}, {"nic.link": "no"}),
        ({"speed": 65535, "link-detected": True}, {"nic.link": "yes"}),
    ],
)  # fmt: skip
def test_a_part_of_the_json_of_ethtool_is_known_by_its_keys(
    part: dict[str, object], expected: dict[str, object]
) -> None:
    found = list(find_json_facts(json.dumps([{"ifname": "eth0", **part}]), {}))
    assert {one.fact: one.value for one in found} == expected
    assert {one.labels for one in found} <= {(("nic", "eth0"),)}
    cut = json.dumps([{"ifname": "eth0", **part}])[:-3]
    assert list(find_json_facts(cut, {})) == []
