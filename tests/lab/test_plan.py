"""Properties of a laboratory that are known without building one."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.lab import SPECS, LabError, LabSpec, StorageServer, fixtures, host, launchers, slurm
from tests.lab.files import topology
from tests.lab.plan import Plan
from tests.lab.routes import routes

_PORTS = ("spine1-1", "spine1-2", "spine2-1", "spine2-2")


@pytest.mark.parametrize("name", sorted(SPECS))
def test_names_fit_and_addresses_are_unique(name: str) -> None:
    plan = Plan(SPECS[name])
    addresses = [a for n in plan.nodes.values() for a in (n.management, n.data)]
    addresses += [a for m in plan.members for a in (m.leaf_address, m.spine_address)]
    ports = [p for m in plan.members for p in (m.port(m.leaf), m.port(m.spine))]
    ports += [n.management_port for n in plan.nodes.values()]

    assert len(set(addresses)) == len(addresses)
    assert max(map(len, ports)) <= 15


def test_every_parallel_member_is_a_next_hop_and_storage_has_one_spine() -> None:
    plan = Plan(LabSpec())

    leaf1 = routes(plan, plan.members)["leaf1"]

    (to_leaf2,) = (line for line in leaf1 if "10.214.2.0/24" in line)
    (to_st1,) = (line for line in leaf1 if "10.214.201.0/24" in line)
    assert [f"dev {p}" in to_leaf2 for p in _PORTS] == [True] * 4
    assert [f"dev {p}" in to_st1 for p in _PORTS] == [True, True, False, False]


def test_a_leaf_without_cables_is_unreachable() -> None:
    plan = Plan(LabSpec())

    found = routes(plan, [m for m in plan.members if m.leaf != "leaf2"])

    assert "route replace unreachable 10.214.2.0/24" in found["leaf1"]


def test_a_spec_that_cannot_be_built_names_every_problem() -> None:
    with pytest.raises(LabError, match=r"leaves.*members.*spine7"):
        LabSpec(leaves=0, members=99, storage=(StorageServer("st1", 7),))


def test_topology_file_is_the_plan() -> None:
    document = yaml.safe_load(topology(Plan(LabSpec())))

    assert document["switches"] == {"spine[1-2]": {"role": "spine"}, "leaf[1-2]": {"role": "leaf"}}
    assert document["nodes"]["n[5-8]"]["address"] == "10.213.0.[15-18]"
    assert document["nodes"]["n[5-8]"]["data_address"] == "10.214.2.[11-14]"
    assert {"from": "st2", "to": "spine2", "speed": "400 Mb/s"} in document["links"]


def test_slurm_knows_every_compute_node_on_the_management_network() -> None:
    lines = slurm.configuration(Plan(SPECS["slurm"])).splitlines()

    assert "SlurmctldHost=n1" in lines
    assert "NodeName=n8 NodeAddr=10.213.0.18 CPUs=2 RealMemory=1000 State=UNKNOWN" in lines
    assert "PartitionName=lab Nodes=n1,n2,n3,n4,n5,n6,n7,n8 Default=YES MaxTime=INFINITE State=UP" in lines


def test_without_storage_the_file_names_none() -> None:
    assert "@storage" not in topology(Plan(SPECS["slurm"]))
    assert "@storage" in topology(Plan(SPECS["small"]))


def test_where_no_laboratory_can_be_built_ci_fails_and_people_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fixtures, "obstacles", lambda: ["no root"])
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=r"NO LABORATORY.*no root"):
        fixtures.require_lab()

    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception, match=r"NO LABORATORY.*no root"):
        fixtures.require_lab()


def test_a_missing_tool_names_its_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(host, "PATH", str(tmp_path))

    assert "sshd is missing (Debian package openssh-server)" in host.missing_tools()


def test_what_launchers_need_names_its_package_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(slurm, "PATH", str(tmp_path))
    monkeypatch.setattr(launchers, "PATH", str(tmp_path))
    monkeypatch.setattr(launchers, "_MPI4PY", tmp_path / "mpi4py")

    assert "srun is missing (Debian package slurm-client)" in slurm.missing()
    assert launchers.missing() == [
        "mpirun is missing (Debian package openmpi-bin)",
        "hpcc is missing (Debian package hpcc)",
        "mpi4py is missing (Debian package python3-mpi4py)",
    ]
