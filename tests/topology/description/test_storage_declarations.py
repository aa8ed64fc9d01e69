"""The section storage: rates in bytes, layers, clients and the fact sheet."""

from pathlib import Path

import pytest

from benchconsole.topology.errors import TopologyError
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.model.storage import Clients, Layer, Rates
from tests.fabrics import fabric

HEAD = (
    "schema: 1\nfabric: x\nnodes: {'c[1-4]': {}, 'oss[1-2]': {role: storage}, 'gw1': {role: gateway, forwards: true}}\n"
)

LUSTRE = """\
storage:
  lustre:
    vendor: DDN
    size: 20 TB
    free: 94 %
    servers: "oss[1-2]"
    interconnect: {type: IB QDR, speed: 40 Gb/s, pingpong: 2200 MB/s}
    layers:
      - {name: FC port, units: 14, write: 150 MB/s, read: 110 MB/s, source: vendor}
      - {name: controller, rate: 1.5 GB/s}
    facts: {raid: 5, disks: 12 x 2 TB SATA, irq_binding: none}
    metadata: {servers: 1, facts: {disks: 1 x 600 GB SSD}}
    clients:
      alc: {nodes: "c[1-4]", gateways: gw1, network: {write: 3158 MB/s}, stated: {read: 1 GB/s}, source: table 2}
    replicas: 3
    required: 50 %
"""


def test_everything_a_system_can_say(tmp_path: Path) -> None:
    found = fabric(tmp_path, HEAD + LUSTRE).storage["lustre"]
    assert found.layers == (
        Layer("FC port", 14, Rates(1.1e8, 1.5e8), "vendor"),
        Layer("controller", 1, Rates(1.5e9, 1.5e9)),
    )
    assert found.clients == (
        Clients("alc", ("c1", "c2", "c3", "c4"), ("gw1",), Rates(None, 3.158e9), Rates(1e9), "table 2"),
    )
    assert (found.size, found.free, found.servers, found.replicas) == (2e13, 0.94, ("oss1", "oss2"), 3)
    assert (found.required, found.target, found.striped) == (0.5, 0.8, False)
    assert (found.interconnect.speed, found.interconnect.pingpong) == (5e9, 2.2e9)
    assert dict(found.sheet.facts) == {"raid": "5", "disks": "12 x 2 TB SATA", "irq_binding": "none"}
    assert (found.metadata_servers, found.metadata.facts["disks"]) == (1, "1 x 600 GB SSD")


@pytest.mark.parametrize(
    ("old", "new", "place", "what"),
    [
        ("write: 150 MB/s", "write: 150", "12:43", "did you mean 150 Gb/s?"),
        ("rate: 1.5 GB/s", "rate: 1.5 GB/s, read: 1 GB/s", "13:9", "either rate, or read and write"),
        ('nodes: "c[1-4]"', 'nodes: "d[1-4]"', "17:20", "unknown node 'd1'"),
        ("free: 94 %", "free: 194 %", "8:11", "at most 100 %"),
        ("size: 20 TB", "size: 20 Tb", "7:11", "a size"),
        ("replicas: 3", "replicas: 0", "18:15", "0, expected"),
        ("vendor: DDN", "vendro: DDN", "6:5", "did you mean vendor?"),
        ("raid: 5", "disk.count: '>= many'", "14:25", "a bound such as"),
    ],
)
def test_mistakes(tmp_path: Path, old: str, new: str, place: str, what: str) -> None:
    assert old in LUSTRE
    with pytest.raises(TopologyError) as caught:
        fabric(tmp_path, HEAD + LUSTRE.replace(old, new))
    found = [str(problem).split("topology.yaml:")[1] for problem in caught.value.problems]
    assert any(line.startswith(f"{place}:") and what in line for line in found), found


def test_lines_that_are_facts_are_asked_of_the_servers_beside_their_class(tmp_path: Path) -> None:
    head = HEAD.replace("nodes:", "classes: {c: {facts: {os.id: debian}}}\nnodes:").replace(
        "{role: storage}", "{role: storage, class: c}"
    )
    text = LUSTRE.replace("raid: 5", "raid: 5, kernel.release: 6.1.0, disk.count: '>= 12', irqbalance.running: 'no'")
    found = fabric(tmp_path, head + text)
    rules = found.nodes[NodeId("oss2")].hardware.rules
    assert list(rules) == ["os.id", "kernel.release", "disk.count", "irqbalance.running"]
    assert (rules["kernel.release"].values, rules["disk.count"].at_least) == (("6.1.0",), 12.0)
    assert not found.nodes[NodeId("c1")].hardware.rules
    assert found.storage["lustre"].sheet.facts["kernel.release"] == "6.1.0"
    with pytest.raises(TopologyError, match=r"os\.id a second time"):
        fabric(tmp_path, head + text.replace("kernel.release: 6.1.0", "os.id: rocky"))
