"""Facts from LLDP: both shapes of JSON, speeds, LAGs, cables seen from both ends, and what cannot be told apart."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchconsole.topology.description.document import Imported
from benchconsole.topology.errors import TopologyError
from benchconsole.topology.importers.draft import Draft
from benchconsole.topology.importers.json_text import parse_documents
from benchconsole.topology.importers.lldp import LldpNeighbour, _combine, _list_neighbours, read
from benchconsole.topology.model.fabric import Fabric, LinkId
from benchconsole.topology.units import network_rate
from tests.topology.importers.sources import described, heard, told

JSON_ONE = """\
{"lldp": {"interface": {"eno1": {"via": "LLDP", "rid": "1", "age": "0 day, 00:00:20",
  "chassis": {"leaf1": {"id": {"type": "mac", "value": "02:00:00:00:00:01"}, "descr": "switch",
    "capability": {"type": "Bridge", "enabled": true}}},
  "port": {"id": {"type": "mac", "value": "02:00:00:00:00:31"}, "descr": "TenGigabitEthernet 1/3", "ttl": "120",
    "aggregation": "7",
    "auto-negotiation": {"supported": true, "enabled": false, "current": "25GbaseCR - SFP28"}}}}}}
"""
JSON_TWO = """\
{"lldp": {"interface": [
  {"eno1": {"via": "LLDP", "chassis": {"leaf1": {"id": {"type": "mac", "value": "02:00:00:00:00:01"}}},
    "port": {"id": {"type": "ifname", "value": "Eth1"}}}},
  {"eno2": {"via": "LLDP", "chassis": {"id": {"type": "mac", "value": "02:00:00:00:00:02"}},
    "port": {"id": {"type": "local", "value": "7"}, "ttl": "x"}}}]}}
"""
CHASSIS = '{"local-chassis": [{"chassis": [{"id": [{"type": "mac", "value": "x"}], "name": [{"value": "%s"}]}]}]}\n'


def seen_by(sources: Sequence[tuple[str, str]], speed: str | None = None) -> Imported:
    """The fabric that several nodes see: the name and the text of each."""
    return _combine([(node, text, node) for node, text in sources], Draft(sources[0][0], "")).finish(speed)


def neighbours(text: str) -> list[LldpNeighbour]:
    return [neighbour for document in parse_documents(text, "lldpctl") for neighbour in _list_neighbours(document)]


def fabric(*sources: tuple[str, str], speed: str | None = None) -> Fabric:
    return described(seen_by(sources, speed))


def test_json0_gives_every_neighbour_with_everything_that_it_says() -> None:
    (found,) = neighbours(told(heard("eth0", "leaf1", "Eth1")))
    assert found == LldpNeighbour(
        interface="eth0", switch="leaf1", port="Eth1", speed=1.25e9, named=False, via="LLDP",
        forwards=True, server=False, aggregated=False, where=found.where,
    )  # fmt: skip
    assert str(found.where) == "lldpctl:5:9"


def test_json_changes_its_shape_with_the_number_of_neighbours() -> None:
    (one,) = neighbours(JSON_ONE)
    assert (one.interface, one.switch, one.port, one.speed) == ("eno1", "leaf1", "TenGigabitEthernet 1/3", 3.125e9)
    assert (one.forwards, one.aggregated) == (True, True)
    first, second = neighbours(JSON_TWO)
    assert (first.switch, first.port, first.speed, first.forwards) == ("leaf1", "Eth1", None, None)
    assert (second.switch, second.port) == ("02:00:00:00:00:02", "7")


@pytest.mark.parametrize("text", [told(), '{"lldp": {}}', '{"lldp": [{}]}', CHASSIS % "n1"])
def test_no_neighbour_is_no_mistake(text: str) -> None:
    assert neighbours(text) == []


@pytest.mark.parametrize(
    ("current", "speed"),
    [
        ("10GigBaseSR - R fiber over 850 nm optics", "10.0 Gb/s"),
        ("10GBASE-CX4 - X copper over 8 pair 100-Ohm balanced cable", "10.0 Gb/s"),
        ("1000BaseTFD - Four-pair Category 5 UTP, full duplex mode", "1.00 Gb/s"),
        ("100BaseTXFD - 2 pair category 5 UTP, full duplex mode", "100 Mb/s"),
        ("10BaseTFD - UTP MAU, full duplex mode", "10.0 Mb/s"),
        ("40GbaseCR4 - 40GBASE-R PCS/PMA over 4 lane copper", "40.0 Gb/s"),
        ("100GbaseSR4", "100 Gb/s"),
        ("2p5GigT", None),
        ("2.5GBASE-T", "2.50 Gb/s"),
        ("other(1000BaseT)", "1.00 Gb/s"),
        ("25 Gbps", "25.0 Gb/s"),
        ("0 Gbps", None),
        ("999999999 Gbps", None),
        ("unknown", None),
        ("10G/1GbasePRXD1", None),
        ("2BaseTL - Voice grade UTP copper", None),
        ("Foirl - FOIRL MAU", None),
        ("", None),
    ],
)
def test_speeds_come_from_the_operational_mau_type(current: str, speed: str | None) -> None:
    (found,) = neighbours(told(heard("eth0", "leaf1", "Eth1", current)))
    assert (None if found.speed is None else network_rate(found.speed)) == speed


def test_two_cables_to_one_switch_are_one_link_with_a_count_and_ports() -> None:
    sources = [("n1", told(heard("eth1", "leaf1", "Te 1/2"), heard("eth0", "leaf1", "Te 1/1")))]
    found = seen_by(sources)
    link = described(found).links[LinkId("n1--leaf1")]
    assert (link.count, link.speed, link.ports_a) == (2, 1.25e9, ("eth0", "eth1"))
    assert link.ports_b == ("Te1/1", "Te1/2")
    assert found.notes["links", 0] == "parallel cables, taken as one LAG"
    assert found.remarks == ("port names are written as our file allows them: 'Te 1/2' is Te1/2, and so on",)


def test_cables_of_different_speed_to_one_switch_are_two_links() -> None:
    slow = heard("eth0", "leaf1", "Eth1", "1000BaseTFD")
    links = fabric(("n1", told(slow, heard("eth1", "leaf1", "Eth2")))).links
    assert {link.id: (link.speed, link.lag) for link in links.values()} == {
        "n1--leaf1": (0.125e9, None), "n1--leaf1/lag1": (1.25e9, "lag1"),
    }  # fmt: skip


def test_a_cable_that_both_ends_tell_of_is_one() -> None:
    of_leaf = told(heard("Eth1", "n1.cluster.local", "eth0"), heard("Eth49", "spine1", "Eth1"))
    found = fabric(("n1", told(heard("eth0", "leaf1", "Eth1"))), ("leaf1", of_leaf))
    assert set(found.links) == {"n1--leaf1", "leaf1--spine1"}
    assert list(found.nodes) == ["n1"]
    assert found.links[LinkId("n1--leaf1")].count == 1


def test_a_port_that_two_machines_see_is_left_out_with_a_remark() -> None:
    found = seen_by([(node, told(heard("eth0", "leaf1", "Eth1"))) for node in ("n1", "n2")])
    assert {link.id: (link.ports_a, link.ports_b) for link in described(found).links.values()} == {
        "n1--leaf1": (("eth0",), ()), "n2--leaf1": (("eth0",), ()),
    }  # fmt: skip
    assert found.remarks == ("ports that several cables seem to end in are left out: Eth1 of leaf1, and so on",)


def test_the_chassis_in_the_file_names_the_machine() -> None:
    found = fabric(("file-of-somebody", CHASSIS % "n7" + told(heard("eth0", "leaf1", "Eth1"))))
    assert list(found.nodes) == ["n7"]


def test_lldp_goes_before_cdp_and_an_interface_that_sees_two_devices_is_left_out() -> None:
    cisco = {**heard("eth0", "leaf1(FOC123)", "Ethernet1/1"), "via": "CDPv2"}
    assert set(fabric(("n1", told(cisco, heard("eth0", "leaf1", "Eth1")))).links) == {"n1--leaf1"}
    found = seen_by([("n1", told(heard("eth0", "leaf1", "Eth1"), heard("eth0", "leaf2", "Eth1")))])
    assert not described(found).links
    assert found.remarks == (
        "interfaces that see several devices are left out: eth0 of n1 sees leaf1, leaf2, and so on",
    )


def test_neighbours_are_switches_unless_they_say_or_their_files_show_otherwise() -> None:
    quiet = heard("eth1", "n2", "eth1")
    quiet["chassis"] = [{"id": [{"type": "mac", "value": "x"}], "name": [{"value": "n2"}],
                         "capability": [{"type": "Station", "enabled": True}, {"type": "Bridge", "enabled": False}]}]  # fmt: skip
    found = fabric(("n1", told(heard("eth0", "leaf1", "Eth1"), quiet)))
    assert (set(found.nodes), set(found.switches)) == ({"n1", "n2"}, {"leaf1"})
    nameless = seen_by([("n1", JSON_TWO)], "1 Gb/s")
    assert set(described(nameless).switches) == {"leaf1", "02-00-00-00-00-02"}
    assert any("called by their chassis id" in remark for remark in nameless.remarks)
    assert any("taken for switches" in remark for remark in nameless.remarks)


def test_a_directory_is_every_json_in_it_and_names_the_fabric(tmp_path: Path) -> None:
    folder = tmp_path / "hall7"
    folder.mkdir()
    (folder / "n2.json").write_text(told(heard("eth0", "leaf1", "Eth2")))
    (folder / "n1.json").write_text(told(heard("eth0", "leaf1", "Eth1")))
    (folder / "README").write_text("no output")
    found: Imported = read([folder])
    assert found.document.data == {
        "schema": 1, "fabric": "hall7", "switches": {"leaf1": {"role": "leaf"}}, "nodes": {"n1": {}, "n2": {}},
        "links": [{"from": "n1:eth0", "to": "leaf1:Eth1", "speed": "10 Gb/s"},
                  {"from": "n2:eth0", "to": "leaf1:Eth2", "speed": "10 Gb/s"}],
    }  # fmt: skip
    assert found.document.at(("links", 1)).file == str(folder / "n2.json")
    (tmp_path / "empty").mkdir()
    with pytest.raises(TopologyError, match=r"no file \*\.json"):
        read([tmp_path / "empty"])


def test_the_same_machine_twice_is_refused() -> None:
    with pytest.raises(TopologyError, match="the name 'n1' a second time"):
        seen_by([("n1", told()), ("n1", told())])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "n1:1:1: an empty file, expected JSON"),
        ("[]", "n1:1:1: JSON without lldp, expected the output of lldpctl -f json0"),
        ('{"lldp": [', "n1:1:11: broken JSON: the end of the file"),
        ('{"lldp": [{"interface": [{"name": "eth0", "name": "eth1"}]}]}', "n1:1:43: key 'name' a second time"),
        ('{"lldp": [{"interface": [{"name": "\\ud800"}]}]}', "n1:1:35: half of a character"),
        (told(heard("eth0", "a b", "Eth1")), "n1:5:9: the name 'a b', expected letters"),
    ],
)
def test_every_mistake_is_told_with_its_place(text: str, expected: str) -> None:
    with pytest.raises(TopologyError) as caught:
        seen_by([("n1", text)])
    assert any(expected in str(problem) for problem in caught.value.problems), str(caught.value)


def test_a_large_answer_is_read_in_a_moment() -> None:
    text = told(*(heard(f"Eth{number}", f"n{number}", "eth0") for number in range(2000)))
    assert len(neighbours(text)) == 2000
    assert len(json.loads(text)["lldp"][0]["interface"]) == 2000


def described_as(text: str, name: str = "10-20-1-50") -> dict[str, object]:
    """A neighbour that bridges, with the description of its system."""
    neighbour = heard("eth0", name, "eth4")
    chassis = neighbour["chassis"]
    assert isinstance(chassis, list)
    chassis[0]["descr"] = [{"value": text}]
    return neighbour


@pytest.mark.parametrize(
    ("system", "name", "switch"),
    [
        ("Ubuntu 24.04 LTS Linux 6.8.0-31-generic #31 SMP x86_64", "10-20-1-50", False),
        ("Debian GNU/Linux 12 (bookworm) Linux 6.1.0-18-amd64", "web", False),
        ("Debian GNU/Linux 12 (bookworm) Linux 6.1.0-18-amd64", "leaf7", True),
        ("SONiC Software Version: SONiC.202305 - Distribution: Debian 11.6", "10-20-1-1", True),
        ("Cumulus Linux version 5.4 running on Mellanox", "x1", True),
        ("Arista Networks EOS version 4.30", "x1", True),
    ],
)
def test_a_server_that_bridges_is_no_leaf_switch(system: str, name: str, switch: bool) -> None:
    found = seen_by([("n1", told(described_as(system, name)))])
    assert (name in described(found).switches) is switch
    notes = found.notes.get(("nodes", name), "")
    assert notes.startswith("taken for a node: it bridges, and describes itself as a server") is not switch


def test_a_machine_with_a_file_that_bridges_for_its_containers_is_a_node() -> None:
    own = json.loads(CHASSIS % "n1")
    own["local-chassis"][0]["chassis"][0].update(
        descr=[{"value": "Ubuntu 22.04 LTS Linux 5.15"}], capability=[{"type": "Bridge", "enabled": True}]
    )
    found = fabric(("x", json.dumps(own) + told(heard("eth0", "leaf1", "Eth1"))))
    assert set(found.nodes) == {"n1"}


def test_a_given_speed_does_not_paint_ports_whose_name_tells_another() -> None:
    slow = heard("eth0", "leaf1", "GigabitEthernet1/0/17", current="")
    fast = heard("eth1", "leaf2", "Ethernet1/1", current="")
    found = seen_by([("n1", told(slow, fast))], "100 Gb/s")
    links = described(found).links
    assert links[LinkId("n1--leaf1")].speed == 1.25e8
    assert links[LinkId("n1--leaf2")].speed == 1.25e10
    assert found.notes["links", 0] == "speed by the name of the port"
    assert found.notes["links", 1] == "speed as given"


def test_a_cable_of_a_machine_to_itself_is_left_out_with_a_remark() -> None:
    found = seen_by([("n1", told(heard("eth0", "n1", "Eth1")))])
    assert not described(found).links
    assert "cables from a device to itself are left out: n1 in line 5, and so on" in found.remarks
