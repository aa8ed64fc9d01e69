"""Subnets of InfiniBand as our file: names, roles, rates, parallel cables, directors, routers; read again as written."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.description.document import Imported, read_text
from benchconsole.topology.description.resolve import resolve
from benchconsole.topology.errors import TopologyError
from benchconsole.topology.importers import import_sources, import_text, sniff
from benchconsole.topology.model.fabric import Fabric, HashPolicy, NodeRole, SwitchRole
from benchconsole.topology.model.network import NetworkKind
from benchconsole.topology.writing.topology_file import write
from tests.topology.importers.sources import described
from tests.topology.infiniband.writers import WRITERS, Plan, Planned, plan_fat_tree, write_blocks, write_port_list


def read(plan: Plan) -> Imported:
    return import_text("ib", write_blocks(plan), "f")


def reread(imported: Imported) -> Fabric:
    """The fabric of the file that is written for a source."""
    return resolve(read_text(write(imported, ["head"]), "cluster.yaml"), Path("cluster.yaml"))


def cables(fabric: Fabric) -> set[tuple[str, str, str, str, float]]:
    """Each cable with its ports and its speed in bit/s."""
    return {
        (link.a, link.ports_a[index], link.b, link.ports_b[index], speed * 8)
        for link in fabric.links.values()
        for index, speed in enumerate(link.members)
    }


def star(*hosts: tuple[str, int], switch: str = "MF0;sw:MQM8700/U1", rate: tuple[int, str] = (4, "EDR")) -> Plan:
    """One switch, and adapters by description and GUID on its ports in order."""
    plan = Plan([Planned("S", 0xA0000, switch, 40)])
    for port, (name, guid) in enumerate(hosts, 1):
        plan.nodes.append(Planned("H", guid, name, 1))
        plan.cables.append(((guid, 1), (0xA0000, port), *rate))
    return plan


@pytest.mark.parametrize("name", WRITERS)
def test_each_output_is_recognised_and_becomes_the_same_fabric(name: str) -> None:
    plan = plan_fat_tree(2, 2, 2, trunk=2)
    text = WRITERS[name](plan)
    assert sniff(text) == "ib"
    fabric = reread(import_text("ib", text, "f"))
    assert cables(fabric) == cables(reread(read(plan)))
    assert {name: switch.role for name, switch in fabric.switches.items()} == {
        "leaf1": SwitchRole.LEAF,
        "leaf2": SwitchRole.LEAF,
        "spine1": SwitchRole.SPINE,
        "spine2": SwitchRole.SPINE,
    }
    assert sorted(fabric.nodes) == ["n01", "n02", "n03", "n04"]


@settings(max_examples=25)
@given(
    leaves=st.integers(1, 5), spines=st.integers(1, 3), hosts=st.integers(1, 4), trunk=st.integers(1, 3),
    adapters=st.integers(1, 3),
)  # fmt: skip
def test_generated_fat_trees_are_written_so_that_they_can_be_read_again(
    leaves: int, spines: int, hosts: int, trunk: int, adapters: int
) -> None:
    plan = plan_fat_tree(leaves, spines, hosts, trunk, adapters)
    names = {node.guid: node.name.removeprefix("MF0;").partition(":")[0].partition(" ")[0] for node in plan.nodes}
    ports = {node.guid: f"{node.name.partition(' ')[2]}/" if node.kind == "H" else "" for node in plan.nodes}
    wanted = {
        (names[a[0]], f"{ports[a[0]]}{a[1]}", names[b[0]], f"{ports[b[0]]}{b[1]}", 100e9) for a, b, _, _ in plan.cables
    }
    assert cables(reread(read(plan))) == wanted


def test_the_file_does_not_depend_on_the_order_of_the_dump() -> None:
    plan = plan_fat_tree(3, 2, 3, trunk=2)
    turned = Plan(plan.nodes[::-1], plan.cables[::-1])
    assert write(read(plan), []) == write(import_text("ib", write_port_list(turned), "f"), [])


@pytest.mark.parametrize(
    ("rate", "speed"),
    [
        ((4, "SDR"), "8 Gb/s"),
        ((4, "DDR"), "16 Gb/s"),
        ((4, "QDR"), "32 Gb/s"),
        ((4, "FDR10"), "40 Gb/s"),
        ((4, "FDR"), "54.545 Gb/s"),
        ((4, "EDR"), "100 Gb/s"),
        ((4, "HDR"), "200 Gb/s"),
        ((2, "HDR"), "100 Gb/s"),
        ((4, "NDR"), "400 Gb/s"),
        ((4, "XDR"), "800 Gb/s"),
        ((12, "QDR"), "96 Gb/s"),
        ((1, "SDR"), "2 Gb/s"),
        ((8, "EDR"), "200 Gb/s"),
    ],
)
def test_speeds_are_data_rates_after_the_line_code(rate: tuple[int, str], speed: str) -> None:
    document = read(star(("n1 mlx5_0", 0x100), rate=rate)).document
    assert isinstance(document.data, dict)
    assert document.data["links"][0]["speed"] == speed


def test_parallel_cables_keep_the_flows_of_a_pair_together_and_single_ones_have_no_hash() -> None:
    fabric = reread(read(plan_fat_tree(2, 1, 1, trunk=2)))
    trunk = next(link for link in fabric.links.values() if link.b == "spine1")
    assert (trunk.count, trunk.hash) == (2, HashPolicy.L2)
    assert all(link.hash is HashPolicy.UNKNOWN for link in fabric.links.values() if link.count == 1)
    assert not any("LAG" in note for note in read(plan_fat_tree(2, 1, 1, trunk=2)).notes.values())
    assert {fabric.networks[link.network].kind for link in fabric.links.values()} == {NetworkKind.INFINIBAND}


def test_two_adapters_and_two_ports_are_one_host() -> None:
    plan = star(("n1 mlx5_0", 0x100), ("n1 mlx5_1", 0x200))
    plan.nodes.append(Planned("H", 0x300, "n2 HCA-1", 2))
    plan.cables += [((0x300, 1), (0xA0000, 3), 4, "EDR"), ((0x300, 2), (0xA0000, 4), 4, "EDR")]
    fabric = reread(read(plan))
    assert sorted(fabric.nodes) == ["n1", "n2"]
    assert {cable[:4] for cable in cables(fabric)} == {
        ("n1", "mlx5_0/1", "sw", "1"),
        ("n1", "mlx5_1/1", "sw", "2"),
        ("n2", "HCA-1/1", "sw", "3"),
        ("n2", "HCA-1/2", "sw", "4"),
    }


def test_what_tells_no_name_is_called_by_its_guid_and_so_are_hosts_of_one_name() -> None:
    plan = star(
        ("MT4129 ConnectX7   Mellanox Technologies", 0x100),
        ("localhost HCA-1", 0x200),
        ("localhost HCA-1", 0x300),
        ("n4 (rack 2)", 0x400),
        switch="SwitchIB Mellanox Technologies",
    )
    imported = read(plan)
    fabric = reread(imported)
    assert sorted(fabric.nodes) == [
        "ca-0000000000000100", "localhost-0000000000000200", "localhost-0000000000000300", "n4-rack-2",
    ]  # fmt: skip
    assert list(fabric.switches) == ["switch-00000000000a0000"]
    kinds = {remark.partition(":")[0] for remark in imported.remarks}
    assert {
        "adapters that tell no host are hosts of their own, called by their GUID",
        "adapters that call themselves alike are hosts of their own with their GUID",
        "switches that tell no name are called by their GUID",
    } <= kinds


def test_a_node_name_map_names_what_makers_named(tmp_path: Path) -> None:
    plan = star(("MT4129 ConnectX7 Mellanox Technologies", 0x100), switch="Quantum Mellanox Technologies")
    (tmp_path / "dump").write_text(write_blocks(plan))
    (tmp_path / "map").write_text('# names\n0x00000000000a0000 "edge-1"\n0x0000000000000100 "n7 mlx5_0"\n')
    fabric = described(import_sources("ib", [tmp_path / "dump", tmp_path / "map"]))
    assert (list(fabric.switches), list(fabric.nodes)) == (["edge-1"], ["n7"])


def test_the_chips_of_a_director_are_switches_of_one_chassis() -> None:
    plan = Plan([
        Planned("S", 0xA1, "MF0;core1:CS7500/L01/U1", 36), Planned("S", 0xA2, "MF0;core1:CS7500/L02/U1", 36),
        Planned("S", 0xE1, "MF0;core1:CS7500/S01/U1", 36), Planned("H", 0x10, "n1 mlx5_0", 1),
        Planned("H", 0x20, "oss1 mlx5_0", 1),
    ])  # fmt: skip
    plan.cables = [
        ((0x10, 1), (0xA1, 1), 4, "EDR"), ((0x20, 1), (0xA2, 1), 4, "EDR"),
        ((0xA1, 19), (0xE1, 1), 4, "EDR"), ((0xA2, 19), (0xE1, 2), 4, "EDR"),
    ]  # fmt: skip
    fabric = reread(read(plan))
    assert {name: switch.role for name, switch in fabric.switches.items()} == {
        "core1-L01-U1": SwitchRole.LEAF, "core1-L02-U1": SwitchRole.LEAF, "core1-S01-U1": SwitchRole.SPINE,
    }  # fmt: skip
    (chassis,) = [group for group in fabric.groups if group.kind == "chassis"]
    assert (chassis.name, sorted(chassis.members)) == ("core1", sorted(fabric.switches))
    assert fabric.nodes["oss1"].role is NodeRole.STORAGE  # type: ignore[index]


def test_a_router_is_a_gateway_and_parts_of_a_switch_are_left_out() -> None:
    plan = star(("n1 mlx5_0", 0x100), ("Mellanox Technologies Aggregation Node", 0x200))
    plan.nodes.append(Planned("R", 0x300, "MF0;sw:MQM8700/U1/RT", 2))
    plan.nodes.append(Planned("R", 0x400, "router1", 2))
    plan.cables += [((0x300, 1), (0xA0000, 41), 1, "XDR"), ((0x400, 1), (0xA0000, 4), 4, "EDR")]
    imported = read(plan)
    fabric = reread(imported)
    assert {name: (node.role, node.forwards) for name, node in fabric.nodes.items()} == {
        "n1": (NodeRole.COMPUTE, False),
        "router1": (NodeRole.GATEWAY, True),
    }
    assert "parts of switches that look like adapters or routers are left out: 2 of them" in imported.remarks


def test_a_name_with_leaf_in_it_is_a_leaf_and_a_switch_without_a_word_is_one_by_its_hosts() -> None:
    plan = plan_fat_tree(1, 1, 1)
    for old, new in (("leaf1", "A09-IBLEAF-04"), ("spine1", "sw-x")):
        plan.nodes = [Planned(node.kind, node.guid, node.name.replace(old, new), node.ports) for node in plan.nodes]
    fabric = reread(read(plan))
    assert {name: switch.role for name, switch in fabric.switches.items()} == {
        "A09-IBLEAF-04": SwitchRole.LEAF,
        "sw-x": SwitchRole.SPINE,
    }


def test_cables_without_a_rate_need_one_and_the_place_is_told() -> None:
    text = write_blocks(star(("n1 mlx5_0", 0x100))).replace("4xEDR", "4x???")
    with pytest.raises(TopologyError, match=r"f:\d+:1: no speed for n1 to sw, expected a speed for each"):
        import_text("ib", text, "f")
    assert described(import_text("ib", text, "f", "800 Gb/s")).links


@pytest.mark.parametrize(
    "name",
    ["$(reboot) mlx5_0", "\x1b[31mred mlx5_0", "-oProxyCommand=x mlx5_0", "a'b\\c", "[1-9999]", "x: {y}", "{{ z }}"],
)
def test_descriptions_are_data(name: str) -> None:
    imported = read(star((name, 0x100)))
    text = write(imported, [f"from {name}"])
    assert all(character.isprintable() or character == "\n" for character in text)
    fabric = resolve(read_text(text, "cluster.yaml"), Path("cluster.yaml"))
    assert len(fabric.nodes) == 1


def test_a_dump_of_switches_only_is_told_as_partial() -> None:
    text = write_blocks(plan_fat_tree(2, 1, 2)).partition("caguid")[0].rpartition("vendid")[0]
    imported = import_text("ib", text, "f")
    assert imported.remarks[0].startswith("partial: the dump has entries of switches only")
    assert len(described(imported).nodes) == 4
