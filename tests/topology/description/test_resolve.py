"""Topology files: one frozen fabric, or every problem at once with its place."""

from pathlib import Path

import pytest

from benchconsole import topology
from benchconsole.topology.description.vocabulary import Vocabulary
from benchconsole.topology.errors import TopologyError
from benchconsole.topology.model.fabric import Comparator, LinkId, NodeId
from benchconsole.topology.units import Unit
from tests.fabrics import SMALL, fabric

WORDS = Vocabulary(
    {"iperf3.throughput": Unit.BYTE_RATE, "fio.read": Unit.BYTE_RATE},
    {"inventory": {}, "iperf3": {"streams": 4, "design": ""}},
    ("neighbours", "trunks"),
)


def problems(folder: Path, text: str | bytes, vocabulary: Vocabulary | None = None) -> list[str]:
    path = folder / "t.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(TopologyError) as caught:
        topology.load(path, None if vocabulary is None else lambda: vocabulary)
    return [str(problem).removeprefix(f"{folder}/") for problem in caught.value.problems]


def test_small_fabric(tmp_path: Path) -> None:
    found = fabric(tmp_path)
    assert list(found.nodes) == [*(f"n{i}" for i in range(1, 9)), "st1", "st2"]
    trunk = found.links[LinkId("leaf1--spine2")]
    assert (trunk.capacity, trunk.count, trunk.is_lag) == (2.5e9, 2, True)
    assert found.criteria[0].comparator is Comparator.AT_LEAST
    assert found.goodput == pytest.approx(0.9415, abs=1e-4)
    assert found.nodes[NodeId("n1")].address == "n1"


BAD = """\
schema: 1
fabrik: lab
fabric: x
classes:
  compute: {memory: 128 GB/s, nic: {sped: 1 Gb/s}}
switches:
  spine[1-2]: {role: spin}
  leaf[1-2]: {role: leaf}
nodes:
  n[1-4]: {class: compte}
  n4: {}
  leaf1: {}
  n[9-: {}
links:
  - {from: "n[1-4]", to: leaf9, speed: 100}
  - {from: "n[1-4]", to: leaf1, speed: 25 GB/s}
  - {from: "leaf[1-2]", to: "spine[1-2]", speeed: 100 Mb/s, count: 2}
criteria:
  - {metric: iperf3.throughput, at_least: 80, of: capacity}
  - {metric: fio.rad, at_least: 10 MB/s, nodes: "@storag"}
suites:
  default:
    - {prob: inventory}
    - {probe: iperf, nodes: "n[1-99]"}
    - {probe: iperf3, stream: 4, design: neighbors}
"""


@pytest.mark.fault("F02", "F03", "F05")
def test_every_mistake_is_listed_at_once_with_its_place_and_what_it_may_have_meant(tmp_path: Path) -> None:
    found = problems(tmp_path, BAD, WORDS)
    wanted = [
        ("2:1", "unknown key 'fabrik'", "did you mean fabric?"),
        ("5:21", "'128 GB/s'", "did you mean 128 GB?"),
        ("5:37", "unknown key 'sped'", "did you mean speed?"),
        ("7:22", "'spin'", "did you mean spine?"),
        ("10:19", "unknown class 'compte'", "did you mean compute?"),
        ("11:3", "the name 'n4' a second time (first in line 10)", ""),
        ("12:3", "the name 'leaf1' a second time (first in line 8)", ""),
        ("13:3", "'n[9-' is not a node set", ""),
        ("15:26", "unknown device 'leaf9'", "did you mean leaf"),
        ("15:40", "100, expected a link speed", "did you mean 100 Gb/s?"),
        ("16:40", "'25 GB/s'", "did you mean 25 Gb/s?"),
        ("17:5", "no key 'speed'", ""),
        ("17:43", "unknown key 'speeed'", "did you mean speed?"),
        ("19:43", "80, expected a percentage", ""),
        ("20:14", "unknown metric 'fio.rad'", "did you mean fio.read?"),
        ("20:49", "unknown group @storag", ""),
        ("23:7", "a stage without a probe", ""),
        ("24:15", "unknown probe 'iperf'", "did you mean iperf3?"),
        ("24:29", "unknown node n[5-99]", ""),
        ("25:23", "unknown option 'stream'", "did you mean streams?"),
        ("25:42", "'neighbors'", "did you mean neighbours?"),
    ]
    assert len(found) == len(wanted), "\n".join(found)
    for line, (place, what, hint) in zip(found, wanted, strict=True):
        assert line.startswith(f"t.yaml:{place}: "), line
        assert what in line
        assert hint in line


@pytest.mark.fault("F01", "F02", "F05", "I03", "I10", "X03")
@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("schema: 1\nfabric: [x\nnodes: {}", "t.yaml:3:", "broken YAML"),
        ("schema: 1\n\tfabric: x", "t.yaml:2:1", "broken YAML"),
        ("", "t.yaml:1:1", "an empty file"),
        ("just words", "t.yaml:1:1", "expected a mapping"),
        (b"schema: 1\nfabric: \xff\xfe", "t.yaml:2:9", "the byte 0xff"),
        (
            "schema: 1\nfabric: x\nfabric: y\nnodes: {a: {}}",
            "t.yaml:3:1",
            "key 'fabric' a second time (first in line 2)",
        ),
        ("schema: 1\nfabric: !!python/object/apply:os.system [id]\nnodes: {a: {}}", "t.yaml:2:", ""),
        ("schema: 1\nfabric: !evil x\nnodes: {a: {}}", "t.yaml:2:9", "tag"),
        ("schema: 2\nfabric: x\nnodes: {a: {}}", "t.yaml:1:9", "2, expected 1"),
        ("schema: 1\nfabric: x\nnodes: {'$(touch x)': {}}", "t.yaml:3:9", "is not a host name"),
        ("schema: 1\nfabric: x\nnodes: {'-oProxyCommand=id': {}}", "t.yaml:3:9", "is not a host name"),
        ("schema: 1\nfabric: x\nnodes: {'n[0-9999999]': {}}", "t.yaml:3:9", "more than"),
        ("schema: 1\nfabric: x\nnodes: {'n[3-1]': {}}", "t.yaml:3:9", "runs backwards"),
        ("schema: 1\nfabric: x\nnodes: {'n[01-10,8-12]': {}}", "t.yaml:3:9", "mixes paddings"),
        ("schema: 1\nfabric: x\nnodes: {}", "t.yaml:3:1", "no node"),
        (
            "schema: 1\nfabric: x\nswitches: {s: {}}\nnodes: {'n[01-20]': {}}\nlinks: [{from: 'n[1-8]', to: s, speed: 1G}]",
            "t.yaml:5:16",
            "unknown device 'n[1-8]', expected a node or switch of this file; did you mean n[01-08]?",
        ),
        (
            "schema: 1\nfabric: x\nnodes: {'n[1-2]': {address: '10.0.0.[1-3]'}}",
            "t.yaml:3:29",
            "3 addresses for 2 nodes",
        ),
        ("schema: 1\nfabric: x\nnodes: {a: {address: 10.0.0.1}, b: {address: 10.0.0.1}}", "t.yaml:3:", "10.0.0.1 of a"),
    ],
)
def test_bad_files_name_the_place(tmp_path: Path, text: str | bytes, place: str, what: str) -> None:
    found = problems(tmp_path, text)
    assert any(line.startswith(place) and what in line for line in found), found


@pytest.mark.fault("F01", "I10")
def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    assert problems(tmp_path, "a: " + "[" * 3000 + "]" * 3000)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(TopologyError, match="cannot be read"):
        topology.load(tmp_path / "absent.yaml")


@pytest.mark.fault("F02")
def test_a_link_given_twice_is_a_problem(tmp_path: Path) -> None:
    text = SMALL.replace("criteria:", "  - {from: leaf1, to: spine1, speed: 10G}\ncriteria:")
    assert "a second link from leaf1 to spine1" in problems(tmp_path, text)[0]


def test_names_and_addresses_go_together_in_the_order_in_which_they_are_written(tmp_path: Path) -> None:
    found = fabric(
        tmp_path, "schema: 1\nfabric: x\nnodes:\n  'b,a,c[1-2]': {address: '10.0.0.9,10.0.0.1,10.0.0.[5-6]'}\n"
    )
    assert {node.id: node.address for node in found.nodes.values()} == {
        "b": "10.0.0.9", "a": "10.0.0.1", "c1": "10.0.0.5", "c2": "10.0.0.6",
    }  # fmt: skip


def test_the_first_switch_that_is_written_is_the_active_one(tmp_path: Path) -> None:
    found = fabric(
        tmp_path,
        "schema: 1\nfabric: x\nswitches: {'l[1-2]': {}}\nnodes: {n: {}}\n"
        "links: [{from: n, to: 'l2,l1', speed: 10G, bond: active-backup}]\n",
    )
    assert [link.other("n") for link in found.active_legs("n")] == ["l2"]


def test_many_sets_in_one_are_counted_as_a_sum(tmp_path: Path) -> None:
    found = fabric(tmp_path, "schema: 1\nfabric: x\nnodes: {'a[1-100],b[1-100],c[1-100],d[1-100]': {}}\n")
    assert len(found.nodes) == 400
