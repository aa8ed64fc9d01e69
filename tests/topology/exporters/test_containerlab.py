"""A fabric as a containerlab topology: everything that it can hold comes back, the rest is named."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings

from benchconsole import topology
from benchconsole.topology.description.resolve import load_text, resolve
from benchconsole.topology.exporters import ExportError, find_exporter
from benchconsole.topology.exporters.containerlab import export
from benchconsole.topology.importers import import_text
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.writing.topology_file import write
from tests.fabrics import fabric
from tests.topology.exporters.machines import carried, machines

EXAMPLES = sorted((Path(topology.__file__).parent / "examples").glob("*.yaml"))


def again(described: Fabric) -> Fabric:
    return resolve(import_text("containerlab", export(described), "f").document, Path("f"))


@settings(max_examples=120, deadline=None)
@given(text=machines())
def test_an_export_that_is_imported_gives_an_equal_fabric(text: str) -> None:
    described = load_text(text, "t")
    imported = import_text("containerlab", export(described), "f")
    assert carried(resolve(imported.document, Path("f"))) == carried(described)
    assert imported.remarks == ()
    assert imported.notes == {}
    assert carried(load_text(write(imported, ["head"]), "w")) == carried(described)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_machines_come_back(path: Path) -> None:
    described = topology.load(path)
    assert carried(again(described)) == carried(described)


def test_one_veth_pair_for_each_cable_with_names_that_linux_takes(tmp_path: Path) -> None:
    links = """\
  - {from: "n[1-4]", to: "leaf1:Ethernet1/[1-4]", speed: 10 Gb/s}
  - {from: "leaf1:eth[1-2]", to: "spine1:very-long-name-of-a-port-[1-2]", speed: 40 Gb/s, count: 2}
"""
    text = "schema: 1\nfabric: x y\nswitches: {leaf1: {}, spine1: {role: spine}}\nnodes: {'n[1-4]': {}}\nlinks:\n"
    written = yaml.safe_load(export(fabric(tmp_path, text + links)))
    assert written["name"] == "x-y"
    assert set(written) == {"name", "topology"}
    assert set(written["topology"]) == {"kinds", "defaults", "nodes", "links"}
    ends = [end for link in written["topology"]["links"] for end in link["endpoints"]]
    assert len(ends) == len(set(ends)) == 2 * (4 + 2)
    assert all(len(end.partition(":")[2]) <= 15 and "/" not in end and ":eth0" not in end for end in ends)
    assert {"leaf1:eth1", "leaf1:eth2"} <= set(ends)
    first = written["topology"]["links"][0]["vars"]["benchconsole"]
    assert first == {"speed": "10 Gb/s", "from-port": None, "to-port": "Ethernet1/1"}
    for node in written["topology"]["nodes"].values():
        assert set(node) == {"kind", "labels"}
        assert all(isinstance(value, str) for value in node["labels"].values())


def test_a_fabric_without_links_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="has no links"):
        export(fabric(tmp_path, "schema: 1\nfabric: x\nnodes: {a: {}}\n"))


def test_it_is_listed() -> None:
    assert find_exporter("containerlab") is export
