"""Resources that tests share besides links: parts of nodes, file systems, licences; and tests on sets of nodes."""

from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from benchconsole.probes.api import Demands
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import Round
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric
from tests.fabrics import SMALL, fabric
from tests.probes.planning.suites import ALONE, Both, Played, Together, planned

STORED = SMALL.replace("links:", 'storage: {fs: {servers: "st[1-2]", size: 1 TB, free: 20 %}}\nlinks:')


def shared(**amounts: float) -> Demands:
    return Demands(shared=MappingProxyType({name.replace("_", ":"): amount for name, amount in amounts.items()}))


def keys(rounds: tuple[Round, ...]) -> list[list[str]]:
    return [[test.target.key for test in each.tests] for each in rounds]


@pytest.mark.fault("F46")
def test_a_part_that_a_test_has_to_itself_keeps_its_node_out_of_other_tests(tmp_path: Path) -> None:
    rounds = planned(fabric(tmp_path), "permutation", probe=Both(ALONE), shift=1, nodes=["n1", "n2", "n3", "n4"])
    assert keys(rounds) == [["n1>n2", "n3>n4"], ["n2>n3", "n4>n1"]]


@pytest.mark.fault("F46")
def test_half_of_what_is_free_is_shared_by_all_clients(tmp_path: Path) -> None:
    """200 GB are free, 100 of them ours: three clients of 30 GB at once."""
    rounds = planned(fabric(tmp_path, STORED), probe=Played(shared(filesystem_fs=30e9)))
    assert [len(each) for each in keys(rounds)] == [3, 3, 3, 1]


@pytest.mark.fault("F46")
@pytest.mark.parametrize(
    ("text", "wanted", "words"),
    [
        (SMALL, shared(filesystem_fs=1.0), "unknown storage system 'fs', expected none"),
        (STORED, shared(filesystem_fz=1.0), "unknown storage system 'fz', expected one of fs"),
        (STORED.replace(", free: 20 %", ""), shared(filesystem_fs=1.0), "found no free, expected its size and free"),
        (STORED.replace("size: 1 TB, ", ""), shared(filesystem_fs=1.0), "found no size, expected its size and free"),
        (STORED, shared(filesystem_fs=101e9), "one test asks for 101,000,000,000 of filesystem:fs, and there are"),
        (STORED, shared(disk_fs=1.0), "found a demand on 'disk:fs', expected filesystem:NAME or licence:NAME"),
    ],
)
def test_a_demand_that_cannot_be_met_is_refused(tmp_path: Path, text: str, wanted: Demands, words: str) -> None:
    with pytest.raises(PlanError, match=words):
        planned(fabric(tmp_path, text), probe=Played(wanted))


@pytest.mark.fault("F46")
def test_a_licence_is_held_by_one_test_unless_there_are_more(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    probe = Played(shared(licence_solver=1))
    assert len(planned(described, probe=probe)) == 10
    assert [len(each) for each in keys(planned(described, probe=probe, licences=4))] == [4, 4, 2]
    with pytest.raises(PlanError, match="option licences: found 0"):
        planned(described, probe=probe, licences=0)


def test_tests_of_one_round_are_no_more_than_the_engine_runs_at_once(tmp_path: Path) -> None:
    rounds = planned(fabric(tmp_path), probe=Played(), most=4)
    assert [len(each) for each in keys(rounds)] == [4, 4, 2]
    assert all(len(each) <= 3 for each in keys(planned(fabric(tmp_path), "permutation", most=3)))


def test_an_option_that_nobody_reads_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="unknown option of played 'design'"):
        planned(fabric(tmp_path), "trunks", probe=Played())
    with pytest.raises(PlanError, match=r"unknown option of played 'secnds'.*did you mean seconds"):
        planned(fabric(tmp_path), probe=Together(), secnds=3)


# -- sets


RACKS = SMALL.replace("links:", 'racks: {r1: {members: "n[1-6]"}, r2: {members: "n[7-8],st1"}}\nlinks:')


@pytest.mark.fault("F46")
@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, [["n[1-8],st[1-2]"]]),
        ({"per": "switch"}, [["n[1-4]", "n[5-8]", "st1", "st2"]]),
        ({"per": "switch", "size": 3}, [["n[1-2]", "n[3-4]", "n[5-6]", "n[7-8]", "st1", "st2"]]),
        ({"per": "rack"}, [["n[1-6]"], ["n[7-8],st1"]]),
        ({"size": 5}, [["n[1-5]"], ["n[6-8],st[1-2]"]]),
    ],
)
def test_sets_run_together_where_they_share_no_link(
    tmp_path: Path, options: dict[str, Any], wanted: list[list[str]]
) -> None:
    described = fabric(tmp_path, RACKS)
    rounds = planned(described, probe=Together(), **options)
    assert keys(rounds) == wanted
    for each in rounds:
        for test in each.tests:
            assert test.target.members[0] == test.target.node
            assert test.target.peer is None


def test_sets_of_groups_that_are_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="found 'chassis', but none of the 10 nodes is in a chassis"):
        planned(fabric(tmp_path, RACKS), probe=Together(), per="chassis")
    with pytest.raises(PlanError, match=r"unknown value of option per 'rak'.*did you mean rack"):
        planned(fabric(tmp_path, RACKS), probe=Together(), per="rak")


def test_a_virtual_machine_is_alone_on_its_host() -> None:
    text = "schema: 1\nfabric: guests\nswitches: {leaf: {role: leaf}}\nnodes: {'n[1-2]': {}, v1: {host: n1}}\n"
    described: Fabric = load_text(text + "links: [{from: 'n[1-2]', to: leaf, speed: 10G}]\n", "guests.yaml")
    assert keys(planned(described, probe=Played())) == [["n1", "n2"], ["v1"]]
