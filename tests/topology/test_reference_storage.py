"""Storage systems from published reports: every number that they print or that follows from them, to 1e-9."""

import math
from pathlib import Path

import pytest

from benchconsole import topology
from benchconsole.topology.analysis.static_finding import Severity
from benchconsole.topology.analysis.storage_ceilings import (
    Ceiling,
    GroupCeilings,
    Origin,
    compute_ceilings,
    list_findings,
)
from benchconsole.topology.model.fabric import Fabric

EXAMPLES = Path(topology.__file__).parent / "examples"
MB = 1e6
TIGHT = 1e-9


@pytest.fixture(scope="module")
def llnl() -> Fabric:
    return topology.load(EXAMPLES / "llnl.yaml")


@pytest.fixture(scope="module")
def groups(llnl: Fabric) -> dict[str, GroupCeilings]:
    return {group.clients: group for group in compute_ceilings(llnl)}


def limit(ceiling: Ceiling) -> tuple[str, Origin]:
    assert ceiling.limiting is not None
    return ceiling.limiting.name, ceiling.limiting.origin


@pytest.mark.parametrize("clients", ["alc", "ubgl"])
@pytest.mark.parametrize(
    ("operation", "value", "required", "target"), [("write", 2100, 1260, 1680), ("read", 1540, 924, 1232)]
)
def test_llnl_is_limited_by_its_disks(
    groups: dict[str, GroupCeilings], clients: str, operation: str, value: float, required: float, target: float
) -> None:
    found = groups[clients].of(operation)
    assert found.value == pytest.approx(value * MB, rel=TIGHT)
    assert found.required == pytest.approx(required * MB, rel=TIGHT)
    assert found.target == pytest.approx(target * MB, rel=TIGHT)
    assert limit(found) == ("FC port", Origin.DECLARED)


def test_llnl_slic_writes_at_the_speed_of_its_network(groups: dict[str, GroupCeilings]) -> None:
    found = groups["slic"].write
    assert found.value == pytest.approx(2003 * MB, rel=TIGHT)
    assert limit(found) == ("network", Origin.MEASURED)
    assert found.second is not None
    assert found.second.name == "FC port"
    assert found.second.rate == pytest.approx(2100 * MB, rel=TIGHT)
    assert found.network == pytest.approx(2003 * MB, rel=TIGHT)
    assert found.disk == pytest.approx(2100 * MB, rel=TIGHT)
    assert groups["slic"].read.value == pytest.approx(1540 * MB, rel=TIGHT)
    assert limit(groups["slic"].read) == ("FC port", Origin.DECLARED)


def test_llnl_slic_is_stated_wrong_and_nothing_else(llnl: Fabric) -> None:
    found = list(list_findings(compute_ceilings(llnl)))
    assert [(finding.severity, finding.code, finding.where) for finding in found] == [
        (Severity.ERROR, "storage-stated-above", "levi")
    ]
    assert found[0].text == (
        "levi slic write: stated 2.10 GB/s (table of bandwidths, disk limited),"
        " the smallest layer allows 2.00 GB/s, limited by network (measured); after it come 2.10 GB/s of FC port"
    )


@pytest.mark.parametrize(
    ("clients", "operation", "measured", "required", "target"),
    [
        ("alc", "write", 1810, 143.65, 107.74),
        ("ubgl", "write", 1671, 132.62, 99.46),
        ("alc", "read", 1197, 129.55, 97.16),
        ("ubgl", "read", 1268, 137.23, 102.92),
    ],
)
def test_llnl_percentages(
    groups: dict[str, GroupCeilings], clients: str, operation: str, measured: float, required: float, target: float
) -> None:
    ceiling = groups[clients].of(operation)
    shares = [100 * measured * MB / (bound or math.nan) for bound in (ceiling.required, ceiling.target)]
    assert [round(share, 2) for share in shares] == [required, target]


def test_llnl_traffic_of_alc_crosses_its_gateways(groups: dict[str, GroupCeilings], llnl: Fabric) -> None:
    parts = {part.name: part.rate for part in groups["alc"].write.parts}
    assert parts["gateways"] == pytest.approx(32 * 125e6 * llnl.goodput, rel=TIGHT)
    assert parts["server ports"] == pytest.approx(28 * 125e6 * llnl.goodput, rel=TIGHT)
    assert parts["client ports"] == pytest.approx(140 * 400e6 * 0.85, rel=TIGHT)
    assert "gateways" not in {part.name for part in groups["ubgl"].write.parts}


def test_jetstream_is_limited_by_the_ports_of_its_servers() -> None:
    described = topology.load(EXAMPLES / "jetstream.yaml")
    found = compute_ceilings(described)[0].read
    wire = {part.name: part.rate / described.goodput * 8 / 1e9 for part in found.parts}
    assert wire == pytest.approx(
        {"client ports": 6400, "chassis to leaf links": 3200, "leaf to spine links": 800, "server ports": 400},
        rel=TIGHT,
    )
    assert limit(found) == ("server ports", Origin.COMPUTED)
    assert found.second is not None
    assert found.second.name == "leaf to spine links"
    assert found.value is not None
    blades = len(described.storage["ceph"].clients[0].nodes)
    assert blades == 320
    assert found.value / blades / described.goodput == pytest.approx(156.25 * MB, rel=TIGHT)


def test_jetstream_with_two_switches_is_limited_above_them() -> None:
    described = topology.load(EXAMPLES / "jetstream.yaml", None, {"per_tor": 10})
    found = compute_ceilings(described)[0].read
    assert limit(found) == ("leaf to spine links", Origin.COMPUTED)
    assert (found.value or 0.0) / described.goodput * 8 == pytest.approx(320e9, rel=TIGHT)


def test_desy_has_eight_systems_of_which_two_are_known() -> None:
    described = topology.load(EXAMPLES / "desy.yaml")
    assert len(described.storage) == 8
    found = {group.storage: group for group in compute_ceilings(described)}
    assert [name for name, group in found.items() if group.read.value is not None] == ["fhgfs-2011", "fhgfs-2012"]
    assert found["fhgfs-2012"].write.value == pytest.approx(4 * 2200 * MB, rel=TIGHT)
    assert found["fhgfs-2011"].read.value == pytest.approx(64 * 1000 * MB, rel=TIGHT)
    unknown = [
        each.where for each in list_findings(compute_ceilings(described)) if each.code == "storage-ceiling-unknown"
    ]
    assert unknown == ["dcache-ps-2011", "st1", "st2-nfs3", "st2-nfs41", "st3", "glusterfs"]


def test_desy_sheets_are_kept_as_written() -> None:
    system = topology.load(EXAMPLES / "desy.yaml").storage["fhgfs-2012"]
    assert dict(system.sheet.facts) == {
        "os": "SL 6.3",
        "kernel": "2.6.32-279.5.1.el6.x86_64",
        "disks": "12 x 2 TB SATA",
        "disk_speed": "7.2k",
        "transfer_speed": "3.00 Gb/s",
        "raid": "5",
        "filesystem": "xfs",
        "irq_binding": "none",
    }
    assert (system.size, system.free, system.metadata_servers) == (73e12, 0.99, 1)
    assert system.metadata.facts["io_speed"] == "270 MB/s read and 220 MB/s write"


@pytest.mark.parametrize("replicas", [1, 2, 3])
def test_fermilab_writes_a_copy_to_each_replica(replicas: int) -> None:
    described = topology.load(EXAMPLES / "fermilab.yaml", None, {"replicas": replicas})
    found = {(group.storage, group.clients): group for group in compute_ceilings(described)}
    external = found["hadoop", "external-vm"]
    ports = {part.name: part.rate for part in external.write.parts}
    assert ports["server ports"] == pytest.approx(3 * 1.25e9 * described.goodput / replicas, rel=TIGHT)
    assert external.read.value == pytest.approx(7 * 125e6 * described.goodput, rel=TIGHT)


def test_fermilab_clients_on_board_reach_part_of_the_data_without_a_cable() -> None:
    described = topology.load(EXAMPLES / "fermilab.yaml")
    found = {(group.storage, group.clients): group for group in compute_ceilings(described)}
    wire = 1.25e9 * described.goodput
    assert found["orangefs", "on-board-vm"].read.value == pytest.approx(3 * wire * 3 / 2, rel=TIGHT)
    assert found["bluearc", "on-board-vm"].read.value == pytest.approx(wire, rel=TIGHT)


@pytest.mark.parametrize("name", ["llnl", "desy", "fermilab"])
def test_examples_can_be_read_by_people(name: str) -> None:
    machine = (EXAMPLES / f"{name}.yaml").read_text().partition("\ncriteria:")[0].splitlines()
    assert len(machine) <= 60
    assert machine[0].startswith("# ")
