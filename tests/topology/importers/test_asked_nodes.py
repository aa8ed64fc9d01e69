"""The fabric that asked nodes tell of: speeds of their own ports, bonds, classes, and what is missing, by its reason."""

from collections.abc import Mapping

import pytest

from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.importers.asked_nodes import (
    MOST_NEIGHBOURS,
    UNADDRESSED,
    AskedFabric,
    AskedNode,
    BondedPort,
    describe_fabric,
)
from benchconsole.topology.model.fabric import Bond, Fabric, LinkId, NodeId, SwitchId
from benchconsole.topology.writing.topology_file import write
from tests.topology.importers.sources import described, heard, told

G25 = 25e9 / 8
HARDWARE: Mapping[str, str | float] = {
    "system.product": "PowerEdge R650", "cpu.model": "Xeon: 6346", "cpu.sockets": 2.0, "cpu.cores": 32.0,
    "memory.total": 256.0 * 2**30, "memory.dimms": 16.0,
}  # fmt: skip


def asked(name: str, *neighbours: dict[str, object], **more: object) -> AskedNode:
    return AskedNode(name, told(*neighbours), **{"data_address": address_of(name), **more})  # type: ignore[arg-type]


def address_of(name: str) -> str:
    return f"10.9.0.{''.join(letter for letter in name if letter.isdigit())}"


def two_legs(name: str, mode: str, *, active: str = "", aggregators: tuple[str, str] = ("1", "1")) -> AskedNode:
    """A node whose two ports, at leaf1 and leaf2, are a bond."""
    bonds = {f"eth{at}": BondedPort("bond0", mode, active, number) for at, number in enumerate(aggregators)}
    return asked(name, heard("eth0", "leaf1", "Eth1"), heard("eth1", "leaf2", "Eth1"), bonds=bonds)


def describe(*nodes: AskedNode, unasked: Mapping[str, str] | None = None, speed: str | None = None) -> AskedFabric:
    return describe_fabric("small", nodes, unasked or {}, speed)


def fabric(told: AskedFabric) -> Fabric:
    return described(told.imported)


def test_a_node_has_its_cables_its_address_and_no_gap() -> None:
    found = describe(asked("n1", heard("eth0", "leaf1", "Eth1"), data_address="10.0.0.1"))
    machine = fabric(found)
    assert (found.gaps, found.imported.remarks) == ((), ())
    assert machine.nodes[NodeId("n1")].data_address == "10.0.0.1"
    (link,) = machine.links.values()
    assert (link.id, link.speed, link.ports_a, link.ports_b) == (LinkId("n1--leaf1"), 1.25e9, ("eth0",), ("Eth1",))


def test_the_speed_of_the_own_port_goes_before_what_the_far_end_says() -> None:
    (link,) = fabric(describe(asked("n1", heard("eth0", "leaf1", "Eth1"), speeds={"eth0": G25}))).links.values()
    assert link.speed == G25


def test_a_node_without_a_data_address_has_a_comment_and_is_a_gap_by_its_reason() -> None:
    cable = heard("eth0", "leaf1", "Eth1")
    found = describe(
        asked("n1", cable), asked("n2", cable, data_address="", unaddressed="several"), asked("n3", data_address="")
    )
    missing = (
        "nodes whose data address is not known, tests go to their names: n2: several",
        "nodes whose data address is not known, tests go to their names: n3: it told of none",
    )
    assert found.unaddressed == missing
    assert found.gaps[:2] == found.imported.remarks[:2] == missing
    assert {name for (_, name), note in found.imported.notes.items() if UNADDRESSED in note} == {"n2", "n3"}
    assert fabric(found).nodes[NodeId("n2")].data_address == "n2"


def test_an_address_that_several_nodes_tell_of_is_nobody_s_and_a_gap() -> None:
    found = describe(*(asked(name, data_address="10.0.0.1") for name in ("n1", "n2")), asked("n3"))
    (missing,) = found.unaddressed
    assert missing.endswith("n[1-2]: 10.0.0.1 is told by several nodes")
    assert [node.data_address for node in fabric(found).nodes.values()] == ["n1", "n2", "10.9.0.3"]


def test_a_link_of_unknown_speed_is_left_out_and_is_a_gap_unless_one_is_given() -> None:
    node = asked("n1", heard("eth0", "leaf1", "p1", current="unknown"))
    found = describe(node)
    assert not fabric(found).links
    assert found.gaps == ("links of unknown speed, left out (init --link-speed gives one): n1 to leaf1",)
    given = describe(node, speed="25.0 Gb/s")
    assert [link.speed for link in fabric(given).links.values()] == [G25]
    assert given.gaps == ()


def test_nodes_that_could_not_be_asked_are_nodes_and_gaps_by_their_reason() -> None:
    found = describe(
        asked("n1", heard("eth0", "leaf1", "Eth1")), unasked={"n2": "unreachable", "n4": "no", "n3": "unreachable"}
    )
    assert set(fabric(found).nodes) == {"n1", "n2", "n3", "n4"}
    assert found.gaps == ("nodes that could not be asked: n[2-3]: unreachable", "nodes that could not be asked: n4: no")
    assert found.imported.remarks[:2] == found.gaps


def test_nodes_without_lldp_and_nodes_that_hear_nobody_are_gaps() -> None:
    found = describe(asked("n1", deaf="lldpd does not run"), asked("n2", deaf="lldpd does not run"), asked("n3"))
    assert set(fabric(found).nodes) == {"n1", "n2", "n3"}
    assert found.gaps == (
        "nodes whose cables are not known: n[1-2]: lldpd does not run",
        "nodes whose cables are not known: n3: its lldpd hears no neighbour that can be named",
    )


def test_a_node_is_called_as_it_was_asked_for_whatever_it_says_of_itself() -> None:
    chassis = '{"local-chassis": [{"chassis": [{"id": [{"type": "mac", "value": "x"}], "name": [{"value": "n9"}]}]}]}'
    found = describe(AskedNode("n1", f"{chassis}\n{told(heard('eth0', 'leaf1', 'Eth1'))}"))
    assert set(fabric(found).nodes) == {"n1"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "its lldpctl cannot be read: broken JSON: the end of the file"),
        ('{"other": 1}', "its lldpctl cannot be read: JSON without lldp"),
        ("\x1b[31m", "its lldpctl cannot be read: "),
        (told(*(heard(f"eth{n}", f"s{n}", "p") for n in range(MOST_NEIGHBOURS + 1))), "more than 512 neighbours"),
    ],
)
def test_what_one_node_tells_and_cannot_be_read_costs_its_own_cables_only(text: str, why: str) -> None:
    found = describe(AskedNode("n1", text, data_address="10.9.0.1"), asked("n2", heard("eth0", "leaf1", "Eth2")))
    machine = fabric(found)
    assert (set(machine.nodes), set(machine.links)) == ({"n1", "n2"}, {"n2--leaf1"})
    (gap,) = found.gaps
    assert gap.startswith("nodes whose cables are not known: n1: ")
    assert why in gap


@pytest.mark.parametrize("name", ["leaf1; reboot", "$(id)", "\x1b[31mred", "leaf[1-9999999]", "x" * 300, "@all", "-w"])
def test_a_name_that_our_file_cannot_hold_is_left_out_and_is_a_gap(name: str) -> None:
    found = describe(asked("n1", heard("eth0", name, "Eth1"), heard("eth1", "leaf2", "Eth1")))
    machine = fabric(found)
    assert (set(machine.switches), set(machine.links)) == ({"leaf2"}, {"n1--leaf2"})
    assert found.gaps == (f"neighbours whose names our file cannot hold: {name[:60]!r} on n1",)


def test_two_ports_at_one_switch_in_a_bond_are_a_lag_and_nothing_is_taken_for_granted() -> None:
    bonds = {port: BondedPort("bond0", "802.3ad") for port in ("eth0", "eth1")}
    found = describe(asked("n1", heard("eth0", "leaf1", "Eth1"), heard("eth1", "leaf1", "Eth2"), bonds=bonds))
    (link,) = fabric(found).links.values()
    assert (link.count, link.ports_a, link.bond) == (2, ("eth0", "eth1"), None)
    assert not any(at[0] == "links" for at in found.imported.notes)
    bare = describe(asked("n1", heard("eth0", "leaf1", "Eth1"), heard("eth1", "leaf1", "Eth2")))
    assert bare.imported.notes["links", 0] == "parallel cables, taken as one LAG"


def test_legs_to_two_switches_that_aggregate_as_one_make_these_an_mlag_pair() -> None:
    machine = fabric(describe(two_legs("n1", "802.3ad")))
    assert [link.bond for link in machine.links.values()] == [Bond.LACP, Bond.LACP]
    assert [set(pair.switches) for pair in machine.mlags] == [{SwitchId("leaf1"), SwitchId("leaf2")}]


def test_legs_that_aggregate_each_by_itself_make_no_pair() -> None:
    assert not fabric(describe(two_legs("n1", "802.3ad", aggregators=("1", "2")))).mlags
    assert not fabric(describe(two_legs("n1", "802.3ad", aggregators=("", "")))).mlags


def test_a_switch_is_in_one_pair_and_a_second_one_is_a_gap() -> None:
    ports = {port: BondedPort("bond0", "802.3ad", aggregator="1") for port in ("eth0", "eth1")}
    other = asked("n2", heard("eth0", "leaf1", "Eth2"), heard("eth1", "leaf3", "Eth2"), bonds=ports)
    found = describe(two_legs("n1", "802.3ad"), other)
    assert [set(pair.switches) for pair in fabric(found).mlags] == [{"leaf1", "leaf2"}]
    assert found.gaps == ("switches that would be in two MLAG pairs, see which is right: leaf[1,3]",)


def test_of_an_active_backup_bond_the_active_leg_stands_first_and_the_other_by() -> None:
    machine = fabric(describe(two_legs("n1", "active-backup", active="eth1")))
    assert {link.id: link.standby for link in machine.links.values()} == {"n1--leaf2": False, "n1--leaf1": True}


def test_of_legs_at_ports_of_different_names_one_is_active_too() -> None:
    """Switches name their ports as they like; nodes with the same active leg stand together, others by themselves."""
    nodes = []
    for number, active in enumerate(("eth1", "eth0", "eth1", "eth0"), 1):
        bonds = {port: BondedPort("bond0", "active-backup", active) for port in ("eth0", "eth1")}
        legs = heard("eth0", "leaf1", f"Eth{number}"), heard("eth1", "leaf2", f"Eth{number + 8}")
        nodes.append(asked(f"n{number}", *legs, bonds=bonds))
    found = describe(*nodes)
    active_legs = {"n1--leaf2", "n2--leaf1", "n3--leaf2", "n4--leaf1"}
    written = load_text(write(found.imported, []), "written.yaml")
    for machine in (fabric(found), written):
        assert {link.id for link in machine.links.values() if not link.standby} == active_legs
        assert len(machine.links) == 8
    assert not [note for at, note in found.imported.notes.items() if at[0] == "links"]


def test_a_standby_leg_to_the_same_switch_adds_no_capacity() -> None:
    bonds = {port: BondedPort("bond0", "active-backup", "eth1") for port in ("eth0", "eth1")}
    found = describe(asked("n1", heard("eth0", "leaf1", "Eth1"), heard("eth1", "leaf1", "Eth2"), bonds=bonds))
    (link,) = fabric(found).links.values()
    assert (link.count, link.ports_a) == (1, ("eth1",))
    assert any("standby legs" in remark for remark in found.imported.remarks)


def test_a_bond_whose_active_leg_hears_nobody_is_left_out() -> None:
    found = describe(two_legs("n1", "active-backup", active="eth7"))
    assert not fabric(found).links
    assert found.gaps == ("bonds whose active leg hears no neighbour, left out: bond0 of n1",)


def test_a_mode_without_a_word_of_ours_is_told() -> None:
    found = describe(two_legs("n1", "balance-alb"))
    assert [link.bond for link in fabric(found).links.values()] == [None, None]
    assert any("balance-alb of bond0 of n1" in remark for remark in found.imported.remarks)


def test_nodes_of_one_kind_are_a_class_with_the_facts_that_all_share() -> None:
    nodes = [asked(f"n{n}", heard("eth0", "leaf1", f"Eth{n}"), facts=HARDWARE) for n in (1, 2)]
    other = asked("n3", heard("eth0", "leaf1", "Eth3"), facts={**HARDWARE, "cpu.model": "EPYC 9354"})
    store = asked("st1", heard("eth0", "leaf1", "Eth4"), facts=HARDWARE)
    machine = fabric(describe(*nodes, other, store))
    kinds = {node.id: node.hardware.name for node in machine.nodes.values()}
    assert kinds == {"n1": "node", "n2": "node", "n3": "node-2", "st1": "storage"}
    assert machine.nodes[NodeId("n1")].hardware.facts == {
        "cpu.model": "Xeon: 6346", "cpu.sockets": 2.0, "cpu.cores": 32.0, "memory.total": 256.0 * 2**30,
        "memory.dimms": 16.0,
    }  # fmt: skip


@pytest.mark.parametrize(("own", "said"), [(15.0, "15 on n2"), (None, "not told on n2")])
def test_a_fact_in_which_a_node_differs_is_no_fact_of_its_class_and_is_told(own: float | None, said: str) -> None:
    odd = {name: value for name, value in {**HARDWARE, "memory.dimms": own}.items() if value is not None}
    nodes = [asked(f"n{n}", heard("eth0", "leaf1", f"Eth{n}"), facts=HARDWARE) for n in (1, 3)]
    found = describe(*nodes, asked("n2", heard("eth0", "leaf1", "Eth2"), facts=odd))
    machine = fabric(found)
    assert {node.hardware.name for node in machine.nodes.values()} == {"node"}
    assert "memory.dimms" not in machine.nodes[NodeId("n1")].hardware.facts
    (gap,) = found.gaps
    assert gap.endswith(f"memory.dimms is 16 on n[1,3], {said}")


def test_a_neighbour_that_is_no_switch_and_was_not_asked_is_a_node_and_is_named() -> None:
    direct = heard("eth1", "n7.site", "eth1")
    chassis = direct["chassis"]
    assert isinstance(chassis, list)
    chassis[0]["capability"] = [{"type": "Station", "enabled": True}]
    found = describe(asked("n1", heard("eth0", "leaf1", "Eth1"), direct))
    assert set(fabric(found).nodes) == {"n1", "n7.site"}
    assert found.gaps == ("nodes that were heard and not asked, see that they are yours: n7.site",)
