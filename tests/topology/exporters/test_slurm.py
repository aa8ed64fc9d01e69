"""A fabric as Slurm's tree: a tree comes back as it is, anything else by the documented rules or not at all."""

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole import topology
from benchconsole.topology.description.resolve import load_text, resolve
from benchconsole.topology.exporters import ExportError, find_exporter
from benchconsole.topology.exporters.slurm import export_conf, export_yaml, format_hostlist
from benchconsole.topology.importers import import_text
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.selection import expand
from tests.fabrics import SMALL, fabric
from tests.topology.exporters.machines import machines

EXAMPLES = sorted((Path(topology.__file__).parent / "examples").glob("*.yaml"))


def again(text: str) -> Fabric:
    return resolve(import_text("slurm", text, "f", "1 Gb/s").document, Path("f"))


def edges(described: Fabric) -> set[tuple[str, str]]:
    """The tree: (what is below, what is above)."""
    return {(link.a, link.b) for link in described.links.values()}


@st.composite
def trees(draw: st.DrawFn) -> str:
    """A fabric that is a tree: every switch has nodes or switches below it, and one switch above it at most."""
    cores = draw(st.integers(1, 2))
    spines = [draw(st.integers(1, 3)) for _ in range(cores)]
    lines = ["schema: 1", "fabric: tree", "switches:"]
    links = []
    nodes = []
    for core, below in enumerate(spines):
        lines.append(f"  c{core}: {{role: core}}")
        for spine in range(below):
            lines.append(f"  s{core}-{spine}: {{role: spine}}")
            links.append(f"{{from: s{core}-{spine}, to: c{core}, speed: 1G}}")
            for leaf in range(draw(st.integers(1, 2))):
                name = f"l{core}-{spine}-{leaf}"
                lines.append(f"  {name}: {{role: leaf}}")
                links.append(f"{{from: {name}, to: s{core}-{spine}, speed: 10G, count: 2}}")
                first = draw(st.sampled_from([1, 8, 98]))
                names = f"n{core}{spine}{leaf}-[{first}-{first + draw(st.integers(0, 4))}]"
                nodes.append(f"  '{names}': {{}}")
                links.append(f"{{from: '{names}', to: {name}, speed: 1G}}")
    return "\n".join([*lines, "nodes:", *nodes, "links:", *(f"  - {link}" for link in links)]) + "\n"


@settings(max_examples=40, deadline=None)
@given(text=trees())
def test_a_tree_comes_back_with_the_same_switches_nodes_and_tree(text: str) -> None:
    described = load_text(text, "t")
    for written in (export_conf(described), export_yaml(described)):
        found = again(written)
        assert set(found.switches) == set(described.switches)
        assert set(found.nodes) == set(described.nodes)
        assert edges(found) == edges(described)
        assert found.switches == described.switches, "three tiers: the roles come back from the cabling"


def kept(written: str) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Nodes and switches below each switch of a topology.conf, read by nothing of ours but node sets."""
    nodes: dict[str, set[str]] = {}
    switches: dict[str, set[str]] = {}
    for line in written.splitlines():
        if line.startswith("SwitchName="):
            words = dict(word.split("=", 1) for word in line.split())
            name = words.pop("SwitchName")
            assert len(words) == 1, line
            assert name not in nodes | switches, line
            for key, value in words.items():
                (nodes if key == "Nodes" else switches)[name] = {
                    each for part in re.findall(r"[^,\[]+(?:\[[^\]]*\])?", value) for each in expand(part)
                }
    return nodes, switches


@settings(max_examples=80, deadline=None)
@given(text=machines())
def test_whatever_is_written_is_a_tree_as_slurm_wants_it(text: str) -> None:
    described = load_text(text, "t")
    written = export_conf(described)
    nodes, switches = kept(written)
    below = [child for children in switches.values() for child in children]
    assert len(below) == len(set(below)), "two parents"
    assert set(below) <= nodes.keys() | switches.keys(), "a child that is not there"
    placed = [node for each in nodes.values() for node in each]
    assert len(placed) == len(set(placed)), "a node twice"
    assert set(placed) == {
        node
        for node in described.nodes
        if any(link.other(_host(described, node)) in described.switches for link in described.legs(node))
    }
    assert edges(again(written)) == edges(again(export_yaml(described)))


def _host(described: Fabric, node: NodeId) -> str:
    return described.nodes[node].host or node


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_machines_are_written_in_both_forms(path: Path) -> None:
    described = topology.load(path)
    found = again(export_conf(described))
    assert set(found.nodes) <= set(described.nodes)
    assert edges(found) == edges(again(export_yaml(described)))


def test_parallel_switches_share_an_entry_and_nodes_of_a_spine_get_one(tmp_path: Path) -> None:
    lines = export_conf(fabric(tmp_path)).splitlines()
    assert [line for line in lines if not line.startswith("#")] == [
        "SwitchName=leaf1 Nodes=n[1-4]",
        "SwitchName=leaf2 Nodes=n[5-8]",
        "SwitchName=spine1-nodes Nodes=st[1-2]",
        "SwitchName=spine1 Switches=leaf[1-2],spine1-nodes",
    ]
    assert "# spine1 stands for spine[1-2], which share something below them" in lines
    assert "# spine1-nodes is no switch: nodes cabled to spine1 itself" in lines


def test_a_pair_that_nodes_are_cabled_to_is_one_entry_and_made_up_names_are_free(tmp_path: Path) -> None:
    text = """\
schema: 1
fabric: x
switches: {"mxl[1-2]": {role: chassis}, tor: {}, tor-nodes: {}}
nodes: {"b[01-16]": {}, gw: {}, alone: {}}
links:
  - {from: "b[01-16]", to: "mxl[1-2]", speed: 10G, bond: lacp}
  - {from: "mxl[1-2]", to: "tor", speed: 40G}
  - {from: mxl1, to: mxl2, speed: 40G}
  - {from: gw, to: tor, speed: 40G}
"""
    written = export_conf(fabric(tmp_path, text))
    assert kept(written) == (
        {"mxl1": {f"b{number:02}" for number in range(1, 17)}, "tor-nodes2": {"gw"}},
        {"tor": {"mxl1", "tor-nodes2"}},
    )
    assert "# Links within a tier are not in a tree: mxl1 to mxl2." in written
    assert "# Cabled to no switch, and so not in a tree: alone." in written
    assert "# Nothing is below these switches, and so they are not in a tree: tor-nodes." in written


def test_roots_that_are_cabled_to_each_other_get_a_top(tmp_path: Path) -> None:
    text = "schema: 1\nfabric: x\nswitches: {'s[1-4]': {}}\nnodes: {'n[1-4]': {}}\nlinks:\n"
    text += "  - {from: 'n[1-4]', to: 's[1-4]', wiring: one-to-one, speed: 1G}\n"
    text += "  - {from: 's[1-2]', to: 's[2-3]', wiring: one-to-one, speed: 1G}\n"
    nodes, switches = kept(export_conf(fabric(tmp_path, text)))
    assert nodes == {f"s{number}": {f"n{number}"} for number in range(1, 5)}
    assert switches == {"s1-top": {"s1", "s2", "s3"}}


@pytest.mark.parametrize(
    ("links", "reason"),
    [
        ("- {from: n1, to: l1, speed: 1G}\n  - {from: l1, to: s1, speed: 1G}\n  - {from: l1, to: c1, speed: 1G}",
         "l1 is cabled to s1 and to c1, and one is not above the other"),
        ("- {from: n1, to: l1, speed: 1G}\n  - {from: l1, to: s1, speed: 1G}\n  - {from: 'n2,l1', to: l2, speed: 1G}",
         "l2 has no switch above it, and is cabled to l1 of its own tier, which has"),
        ("- {from: n1, to: n2, speed: 1G}", "no node that is cabled to a switch"),
    ],
)  # fmt: skip
def test_what_is_no_tree_is_refused_by_name(tmp_path: Path, links: str, reason: str) -> None:
    text = "schema: 1\nfabric: x\nswitches: {'l[1-2]': {}, s1: {role: spine}, c1: {role: core}}\n"
    with pytest.raises(ExportError, match=re.escape(reason)):
        export_conf(fabric(tmp_path, f"{text}nodes: {{'n[1-2]': {{}}}}\nlinks:\n  {links}\n"))


def test_a_link_past_a_tier_is_said_where_the_tree_holds_it_anyway(tmp_path: Path) -> None:
    text = SMALL.replace("criteria:", "  - {from: n1, to: spine1, speed: 10G}\ncriteria:")
    assert "# Links past a tier are not in a tree: n1 to spine1." in export_conf(fabric(tmp_path, text))


def test_the_yaml_is_one_topology_of_type_tree(tmp_path: Path) -> None:
    written = yaml.safe_load(export_yaml(fabric(tmp_path)))
    assert [set(each) for each in written] == [{"topology", "cluster_default", "tree"}]
    assert written[0]["tree"]["switches"][0] == {"switch": "leaf1", "nodes": "n[1-4]"}
    assert written[0]["tree"]["switches"][-1] == {"switch": "spine1", "children": "leaf[1-2],spine1-nodes"}


@pytest.mark.parametrize(
    ("names", "written"),
    [
        (["n1"], "n1"),
        (["n9", "n10", "n11"], "n[9-11]"),
        (["n08", "n09", "n10"], "n[08-10]"),
        (["n99", "n100", "n01"], "n[01,99],n100"),
        (["b01-01", "b01-02", "b02-01"], "b01-[01-02],b02-01"),
        (["n1-ib", "n2-ib", "gw"], "n1-ib,n2-ib,gw"),
        (["n0", "n1", "n00"], "n[0-1],n00"),
    ],
)
def test_hostlists_have_ranges_on_the_last_number_only(names: list[str], written: str) -> None:
    assert format_hostlist(names) == written
    assert sorted(name for part in re.findall(r"[^,\[]+(?:\[[^\]]*\])?", written) for name in expand(part)) == sorted(
        names
    )


def test_they_are_listed() -> None:
    assert find_exporter("slurm") is export_conf
    assert find_exporter("slurm-yaml") is export_yaml
