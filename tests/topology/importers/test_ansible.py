"""Ansible inventories in INI and YAML: ranges, groups and what they inherit; templates stay data."""

import pytest

from benchconsole.topology.description.document import Imported
from benchconsole.topology.importers import import_text
from benchconsole.topology.model.fabric import Fabric, NodeId
from tests.topology.importers.sources import INI, INVENTORY, described, problems


def read(text: str) -> Imported:
    return import_text("ansible", text, "hosts")


def roles(fabric: Fabric) -> dict[str, str]:
    return {str(node.id): node.role.value for node in fabric.nodes.values()}


def test_ini_gives_nodes_with_roles_from_their_groups() -> None:
    found = read(INI)
    fabric = described(found)
    assert roles(fabric) == {
        "login1": "login", **{f"node0{number}": "compute" for number in range(1, 5)}, "sta": "storage", "stb": "storage",
    }  # fmt: skip
    assert fabric.access.user == "bench"
    assert found.notes["nodes", "sta"] == "role inferred from its group storage"
    assert "addresses that our file cannot hold are left out: \"{{ lookup('x') }}\" of sta, and so on" in found.remarks


def test_yaml_gives_the_same_with_addresses_and_ports() -> None:
    fabric = described(read(INVENTORY))
    assert roles(fabric) == {**{f"node0{number}": "compute" for number in range(1, 5)}, "st1": "storage"}
    assert {str(node.id): node.address for node in fabric.nodes.values()}["st1"] == "10.0.1.1"
    assert (fabric.access.user, fabric.access.port) == ("bench", 2222)


def test_users_that_differ_are_left_to_the_ssh_config_with_a_remark() -> None:
    found = read("[a]\nx[1:2] ansible_user=one\n[b]\ny:2222\n")
    assert described(found).access.user is None
    assert found.remarks[0] == "users and ports differ, keep them in your ssh_config: one -: x[1-2]; - 2222: y"


def test_a_child_goes_before_its_parent_and_the_host_before_both() -> None:
    text = (
        "[all:vars]\nansible_user=everyone\n[top:vars]\nansible_user=top\n[leafs]\na\nb ansible_ssh_user=own\n"
        "[low:children]\nleafs\n[top:children]\nlow\n[low:vars]\nansible_user='low'\n"
    ).replace("leafs", "low1")
    assert read(text).remarks[0].endswith("low -: a; own -: b")


def test_hosts_of_groups_called_after_switches_are_switches() -> None:
    fabric = described(read("[spine]\nsp[1:2]\n[gpu_nodes]\nn1\n[dc:children]\nspine\ngpu_nodes\n"))
    assert (set(fabric.switches), roles(fabric)) == ({"sp1", "sp2"}, {"n1": "compute"})


@pytest.mark.parametrize(
    ("pattern", "hosts"),
    [
        ("n[1:3]", ["n1", "n2", "n3"]),
        ("n[01:10:4]", ["n01", "n05", "n09"]),
        ("[a:c]-[1:2].x", ["a-1.x", "a-2.x", "b-1.x", "b-2.x", "c-1.x", "c-2.x"]),
        ("n[9:11]", ["n9", "n10", "n11"]),
        ("n1:2200", ["n1"]),
    ],
)
def test_ranges_are_those_of_ansible(pattern: str, hosts: list[str]) -> None:
    assert list(described(read(f"{pattern}\n")).nodes) == hosts
    assert sorted(described(read(f"all:\n  hosts:\n    '{pattern}':\n")).nodes) == sorted(hosts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n1 x", "f:1:1: 'n1 x', expected a host and name=value pairs"),
        ("n[1:10000000]\n", "f:1:1: the range [1:10000000], expected a range that runs forward, of at most 200,000"),
        ("n[1:9999]-[1:9999]\n", "f:1:1: the range [1:9999]"),
        ("n[3:1]\n", "f:1:1: the range [3:1]"),
        ("n[01:100]\n", "f:1:1: the range [01:100]"),
        ("n[1:3:0]\n", "f:1:1: the range [1:3:0]"),
        ("n[a:3]\n", "f:1:1: the range [a:3]"),
        ("n1 x\n", "f:1:1: 'n1 x', expected a host and name=value pairs"),
        ("  n1 x='\n", 'f:1:3: "n1 x=\'", expected quotes that close'),
        ("n1;id\n", "f:1:1: the name 'n1;id'"),
        ("[g:hosts]\nn1\n[g:odd]\n", "f:3:1: the section [g:odd], expected [GROUP], :children or :vars"),
        ("[g:vars]\nx\n", "f:2:1: 'x', expected name=value"),
        ("[a:children]\nb\n[b:children]\na\n[a]\nn1\n", "f:4:1: the group a below itself"),
        ("[g]\n", "f:1:1: no node and no switch, expected at least one"),
        ("all:\n\thosts:\n", "f:2:1: broken YAML"),
        ("all:\n  hosts: [n1]\n", "f:2:10: no mapping"),
        ("all:\n  host:\n    n1:\n", "f:2:3: unknown key 'host', expected one of hosts, vars, children"),
        ("plugin:\nx: 1\n", "f:1:1: no inventory of hosts"),
    ],
)
def test_every_mistake_is_told_with_its_place(text: str, expected: str) -> None:
    found = problems(lambda each: import_text("ansible", each, "f"), text)
    assert any(expected in line for line in found), found


def test_templates_and_commands_stay_text() -> None:
    found = read(
        "all:\n  hosts:\n    n1:\n      ansible_user: \"{{ lookup('pipe', 'id') }}\"\n      ansible_host: $(id)\n"
    )
    fabric = described(found)
    assert (fabric.access.user, list(fabric.nodes)) == (None, ["n1"])


def test_inventories_of_switches_only_and_addresses_of_several_hosts() -> None:
    found = import_text("ansible", "[DC1_LEAFS]\nl1\nl2\n[DC1_SPINES]\ns1", "f")
    fabric = described(found)
    assert (set(fabric.switches), len(fabric.nodes)) == ({"l1", "l2", "s1"}, 0)
    assert {switch.id: switch.role for switch in fabric.switches.values()} == {
        "l1": "leaf",
        "l2": "leaf",
        "s1": "spine",
    }
    assert found.remarks[-1].startswith("no device is a node, all are taken for switches: l[1-2],s1; hosts of groups")
    text = "[a]\nn1 ansible_host=10.0.0.1\nn2 ansible_host=10.0.0.1\nn3 ansible_host=10.0.0.3\n"
    shared = import_text("ansible", text, "f")
    assert {node.id: node.address for node in described(shared).nodes.values()} == {
        "n1": "n1", "n2": "n2", "n3": "10.0.0.3",
    }  # fmt: skip
    assert "addresses of several devices are left out: 10.0.0.1 of n[1-2], and so on" in shared.remarks


@pytest.mark.parametrize(
    ("group", "role"),
    [
        ("slurm-nfs-client", "compute"), ("slurm-nfs", "storage"), ("ceph_monitoring", "compute"),
        ("osds", "storage"), ("nfs_mounts", "compute"), ("node_exporter", "compute"),
    ],
)  # fmt: skip
def test_a_group_of_those_who_use_or_watch_a_service_names_no_role(group: str, role: str) -> None:
    fabric = described(import_text("ansible", f"[{group}]\nx1\n", "f"))
    assert [node.role for node in fabric.nodes.values()] == [role]


def test_hosts_that_run_a_network_system_or_are_called_after_switches_are_switches() -> None:
    text = (
        "[fw]\nfgt ansible_network_os=fortios\n[cv_servers]\ncv ansible_network_os=eos\n"
        "[external]\nSW\nR-ISP\n[masters]\nk1\n"
    )
    found = import_text("ansible", text, "f")
    fabric = described(found)
    assert set(fabric.switches) == {"fgt", "SW"}
    assert found.notes["switches", "fgt"].startswith("taken for a switch, it runs fortios")
    assert {node.id: node.role for node in fabric.nodes.values()} == {
        "cv": "compute", "R-ISP": "compute", "k1": "management",
    }  # fmt: skip


def test_of_a_key_that_stands_twice_the_last_counts_as_ansible_has_it() -> None:
    text = "all:\n  vars: {ansible_user: a, ansible_user: b}\n  hosts: {n1: {x: 1}, n2: , n1: {ansible_host: h}}\n"
    found = import_text("ansible", text, "f")
    fabric = described(found)
    assert (fabric.access.user, fabric.nodes[NodeId("n1")].address, len(fabric.nodes)) == ("b", "h", 2)
    assert "of keys that stand twice the last one counts: line 2, and so on" in found.remarks
