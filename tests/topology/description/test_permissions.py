"""The permissions of a file: production nodes, disks that may be overwritten, caps."""

from pathlib import Path

import pytest

from benchconsole.topology.description.document import Imported, read_text
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.errors import TopologyError
from benchconsole.topology.model.access import Caps
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.selection import select
from benchconsole.topology.writing.topology_file import write
from tests.fabrics import fabric

FILE = """\
schema: 1
fabric: busy
nodes:
  n[1-4]: {production: true}
  n[5-6]: {}
  dt1: {blank_disks: [WD-WX11A4, "12345678"]}
  dt2: {blank_disks: [S3.a_b:c]}
storage:
  home: {servers: n5}
  scratch: {servers: n6}
caps:
  link: 50 %
  storage: {scratch: 2 GB/s}
"""

TEMPLATE = """\
schema: 1
fabric: repeated
parameters: {share: 25}
templates:
  rack:
    nodes:
      "n{r}-[1-2]": {production: true}
      "d{r}": {blank_disks: ["SER-{r:02}"]}
use: [{template: rack, r: 1-3}]
caps: {link: "{share} %"}
"""


def test_tags_and_caps_reach_the_fabric(tmp_path: Path) -> None:
    found = fabric(tmp_path, FILE)
    assert [node.id for node in found.nodes.values() if node.production] == ["n1", "n2", "n3", "n4"]
    assert found.nodes[NodeId("dt1")].blank_disks == ("WD-WX11A4", "12345678")
    assert found.nodes[NodeId("dt2")].blank_disks == ("S3.a_b:c",)
    assert found.nodes[NodeId("n5")].blank_disks == ()
    assert found.caps == Caps(0.5, {"scratch": 2e9})
    assert fabric(tmp_path).caps == Caps()


def test_production_nodes_can_be_selected(tmp_path: Path) -> None:
    found = fabric(tmp_path, FILE)
    assert select(found, "@production") == ("n1", "n2", "n3", "n4")
    assert select(found, None, "@production") == ("n5", "n6", "dt1", "dt2")


def test_templates_write_them_out(tmp_path: Path) -> None:
    found = fabric(tmp_path, TEMPLATE)
    assert len([node for node in found.nodes.values() if node.production]) == 6
    assert [found.nodes[NodeId(f"d{r}")].blank_disks for r in (1, 2, 3)] == [("SER-01",), ("SER-02",), ("SER-03",)]
    assert found.caps.link == 0.25


def test_a_written_file_keeps_them(tmp_path: Path) -> None:
    entries = "".join(f"  n{n}: {{address: 10.0.0.{n}, production: {str(n < 5).lower()}}}\n" for n in range(1, 7))
    text = FILE.replace("  n[1-4]: {production: true}\n  n[5-6]: {}\n", entries)

    def told(described: Fabric) -> object:
        return described.caps, {node.id: node for node in described.nodes.values()}

    written = write(Imported(read_text(text, "t.yaml"), {}, ()), [])
    assert told(load_text(written, "w.yaml")) == told(fabric(tmp_path, text))
    assert "n[1-4]: {address:" in written


@pytest.mark.parametrize(
    ("old", "new", "place", "what", "near"),
    [
        ("production: true", "production: yes please", "4:24", "'yes please', expected true or false", ""),
        ("production: true", "prodution: true", "4:12", "unknown key 'prodution'", "did you mean production?"),
        ("WD-WX11A4", "WD", "6:23", "'WD', expected a serial number of 4 to 64", ""),
        ("WD-WX11A4", "sd a/../b", "6:23", "expected a serial number", ""),
        ("WD-WX11A4", "x" * 65, "6:23", "expected a serial number", ""),
        ("WD-WX11A4", "87654321", "6:23", "87654321, expected text", ""),
        ("WD-WX11A4", "~", "6:23", "an empty list item", ""),
        ("WD-WX11A4", '"12345678"', "6:35", "the disk 12345678 of dt1 again for dt1", ""),
        ("S3.a_b:c", "WD-WX11A4", "7:23", "the disk WD-WX11A4 of dt1 again for dt2 (first in line 6)", ""),
        ("n[5-6]: {}", "n[5-6]: {blank_disks: [ABCD]}", "5:26", "the disk ABCD of n5 again for n6", ""),
        ("[S3.a_b:c]", "S3.a", "7:22", "'S3.a', expected a list", ""),
        ("50 %", "0 %", "12:9", "'0 %', expected a share", ""),
        ("50 %", "100.1 %", "12:9", "at most 100 %", ""),
        ("50 %", "50", "12:9", "50, expected a share", "did you mean 50 %?"),
        ("50 %", "0.5", "12:9", "0.5, expected a share", ""),
        ("50 %", "5 Gb/s", "12:9", "expected a share", ""),
        ("2 GB/s", "2 Gb/s", "13:22", "'2 Gb/s', expected a rate in bytes", "did you mean 2 GB/s?"),
        ("2 GB/s", "2Gbps", "13:22", "expected a rate in bytes", "did you mean 2GBps?"),
        ("2 GB/s", "2 Gbit/s", "13:22", "expected a rate in bytes", "did you mean 2 GB/s?"),
        ("2 GB/s", "2", "13:22", "2, expected a rate", "did you mean"),
        ("2 GB/s", "0 GB/s", "13:22", "a rate in bytes of more than 0", ""),
        ("{scratch: 2", "{scrtch: 2", "13:13", "unknown storage system 'scrtch'", "did you mean scratch?"),
        ("link: 50", "links: 50", "12:3", "unknown key 'links'", "did you mean link?"),
    ],
)  # fmt: skip
def test_mistakes(tmp_path: Path, old: str, new: str, place: str, what: str, near: str) -> None:
    assert old in FILE
    with pytest.raises(TopologyError) as caught:
        fabric(tmp_path, FILE.replace(old, new, 1))
    found = [str(problem).split("topology.yaml:")[1] for problem in caught.value.problems]
    assert len(found) == 1, found
    assert found[0].startswith(f"{place}:"), found
    assert what in found[0]
    assert near in found[0]


def test_a_cap_on_storage_needs_storage(tmp_path: Path) -> None:
    with pytest.raises(TopologyError, match="expected a file with a section storage"):
        fabric(tmp_path, "schema: 1\nfabric: x\nnodes: {a: {}}\ncaps: {storage: {home: 1 GB/s}}\n")
