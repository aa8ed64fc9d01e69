"""Sums of plans against counting by hand: rounds and bounds, bytes, loads, and what is left out and why."""

from collections.abc import Mapping
from importlib import resources
from pathlib import Path

import pytest

from benchconsole import topology
from benchconsole.probes.api import Demands
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.planning.plan_rounds import plan, split_into_waves
from benchconsole.probes.planning.plan_summary import LeftOut, summarise
from benchconsole.probes.planning.suites import find_suite
from benchconsole.probes.tools.fio.probe import Fio
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.topology.copying import replace
from benchconsole.topology.model.access import Caps
from benchconsole.topology.selection import expand
from tests.fabrics import SMALL, fabric
from tests.probes.planning.plan_referee import violations
from tests.probes.planning.suites import Played, Together, planned

PROBES = {"iperf3": Iperf3(), "fio": Fio()}
STORED = SMALL.replace("links:", 'storage: {fs: {servers: "st[1-2]", size: 1 TB, free: 20 %}}\nlinks:')


@pytest.mark.parametrize(
    ("chassis", "bound", "by"),
    [
        pytest.param("b[01-04]", 63, "out", id="one rack: the nodes bind"),
        pytest.param("b[01-04],b[05-07]", 192, "tor", id="two racks: 64 x 48 pairs over 16 units bind"),
    ],
)
def test_all_pairs_are_within_three_percent_of_the_bound(chassis: str, bound: int, by: str) -> None:
    """Chassis of the example, 10 Gb/s a test; the whole of it is in benchmarks/scheduling.py."""
    described = topology.load(Path(str(resources.files("benchconsole.topology").joinpath("examples/jetstream.yaml"))))
    nodes = [f"{name}-{number:02}" for name in expand(chassis) for number in range(1, 17)]
    rounds = planned(described, "all-pairs", nodes=nodes, streams=1)
    summary = summarise(described, rounds, PROBES)
    assert summary.total.bound == bound
    assert by in summary.stages[0].bound_by
    assert summary.total.ratio <= 1.03
    assert (summary.pairs.met, summary.pairs.every) == (len(nodes) * (len(nodes) - 1), 347 * 346)
    assert summary.total.link is not None
    assert summary.total.link.share <= 1 + 1e-6
    assert list(violations(described, rounds[:20], PROBES)) == []


def test_the_default_suite_says_what_fills_and_what_it_leaves_out(tmp_path: Path) -> None:
    text = SMALL[: SMALL.index("criteria:")].replace("links:", "links:\n  - {from: spine1, to: far, speed: 40 Gb/s}")
    text = text.replace("switches:", "switches:\n  far: {role: core}").replace("nodes:", "nodes:\n  lone: {}")
    described = fabric(tmp_path, text)
    probes = {"iperf3": Iperf3(), "inventory": Played()}
    summary = summarise(described, plan(described, find_suite(described, "default"), probes), probes)
    assert [stage.stage for stage in summary.stages] == ["played", "iperf3 neighbours", "iperf3 trunks"]
    assert [stage.rounds for stage in summary.stages][:2] == [1, 2]
    trunks = summary.stages[2].link
    assert trunks is not None
    assert trunks.meant
    assert summary.links == (LeftOut(("spine1--far",), "on no shortest path between nodes that send to each other"),)
    assert summary.nodes == (LeftOut(("lone",), "not cabled, so nothing can be sent to it"),)


def test_nodes_and_links_that_were_not_selected_are_told(tmp_path: Path) -> None:
    summary = summarise(fabric(tmp_path), planned(fabric(tmp_path), "all-pairs", nodes=["n1", "n2", "n5"]), PROBES)
    (nodes,) = summary.nodes
    assert set(nodes.what) == {"n3", "n4", "n6", "n7", "n8", "st1", "st2"}
    reasons = {left.why: left.what for left in summary.links}
    assert set(reasons["no test sends to or from its node"]) == {f"{name}--leaf1" for name in ("n3", "n4")} | {
        f"{name}--leaf2" for name in ("n6", "n7", "n8")
    } | {"st1--spine1", "st2--spine2"}
    assert summary.pairs.met == 6
    assert summary.pairs.left == ((84, "one of the two is in no test between nodes"),)


def test_pairs_that_no_design_chose_or_no_path_joins_are_counted(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    summary = summarise(described, planned(described, "all-pairs"), PROBES)
    assert summary.pairs.left == ((2, "no path between them, or only one that goes down to a switch and up again"),)
    summary = summarise(described, planned(described, "neighbours"), PROBES)
    assert [count for count, _ in summary.pairs.left] == [90 - 56, 56 - 16]
    assert "iperf3 neighbours" in summary.pairs.left[1][1]


def test_bytes_are_what_the_probe_says_it_writes_and_budgets_what_it_takes(tmp_path: Path) -> None:
    described = fabric(tmp_path, STORED)
    rounds = planned(described, probe=Fio(), size="1 GiB", shared="fs", scratch="/fs")
    summary = summarise(described, rounds, PROBES)
    assert summary.total.writes == 10 * 4 * 2**30
    assert summary.total.budget is not None
    assert summary.total.budget.element == "filesystem:fs"
    assert summary.total.budget.share == pytest.approx(10 * 2**30 / 100e9)


def test_a_probe_that_does_not_say_what_it_writes_writes_what_it_needs_space_for(tmp_path: Path) -> None:
    class Spacious(Played):
        def space(self, options: Mapping[str, str | int | float]) -> float:
            return 2.0**30

    described = fabric(tmp_path, STORED)
    rounds = planned(described, probe=Fio(), size="1 GiB", shared="fs", scratch="/fs")
    tests = tuple(replace(test, probe="played") for each in rounds for test in each.tests)
    stored = [replace(rounds[0], probe="played", tests=tests)]
    assert summarise(described, stored, {"played": Spacious(Demands())}).total.writes == 10 * 2**30


def test_a_cap_is_the_heaviest_load(tmp_path: Path) -> None:
    described = replace(fabric(tmp_path), caps=Caps(0.25))
    for design in ("neighbours", "trunks"):
        heaviest = summarise(described, planned(described, design), PROBES).total.link
        assert heaviest is not None
        assert 0.2 < heaviest.share <= 0.25 + 1e-9


def test_a_stored_plan_of_a_probe_that_is_gone_is_still_summed_up(tmp_path: Path) -> None:
    rounds = planned(fabric(tmp_path), "neighbours")
    known, total = (summarise(fabric(tmp_path), rounds, probes).total for probes in (PROBES, {}))
    assert (known.overrun, total.overrun) == (29.0, 149.0)  # a probe that is gone tells no time limit
    assert replace(total, overrun=29.0) == known


def loads(each: Round) -> int:
    return len({test.bundle or test.id for test in each.tests})


def test_waves_double_until_a_stage_is_whole(tmp_path: Path) -> None:
    rounds = planned(fabric(tmp_path), "neighbours")
    grown = split_into_waves(rounds)
    assert [loads(each) for each in rounds] == [8, 8]
    assert [loads(each) for each in grown] == [1, 2, 4, 1, 8]
    assert [each.number for each in grown] == [1, 2, 3, 4, 5]
    assert all(test.id.startswith(f"{each.number:04d}/") for each in grown for test in each.tests)
    assert split_into_waves(()) == ()


def test_waves_do_not_tear_bundles(tmp_path: Path) -> None:
    rounds = planned(fabric(tmp_path), "trunks")
    grown = split_into_waves(rounds)
    assert loads(grown[0]) == 1
    assert len(grown[0].tests) > 1
    for each in grown:
        assert {bundle.name for bundle in each.bundles} == {test.bundle for test in each.tests}
    assert sum(len(each.bundles) for each in grown) == sum(len(each.bundles) for each in rounds)


CHASSIS = """\
schema: 1
fabric: chassis
switches: {{enc1: {{role: chassis, ceilings: {{backplane: {{rate: {rate}}}}}}}}}
nodes: {{"b[01-16]": {{}}}}
links: [{{from: "b[01-16]", to: enc1, speed: 10G}}]
"""


@pytest.mark.parametrize(("rate", "width"), [("5G", 1), ("10G", 1), ("79G", 7), ("80G", 8), ("160G", 16), ("1T", 16)])
def test_what_a_backplane_passes_bounds_the_tests_of_a_round(tmp_path: Path, rate: str, width: int) -> None:
    described = fabric(tmp_path, CHASSIS.format(rate=rate))
    rounds = planned(described, "neighbours")
    assert max(len(each.tests) for each in rounds) == width
    assert len(rounds) == 2 * -(-16 // width)
    assert list(violations(described, rounds, PROBES)) == []
    summary = summarise(described, rounds, PROBES)
    assert summary.total.bound == -(-32 // width)
    if width < 16:
        assert summary.stages[0].bound_by == "enc1 backplane in"


def test_the_heaviest_load_may_be_that_of_a_ceiling(tmp_path: Path) -> None:
    described = fabric(tmp_path, CHASSIS.format(rate="5G"))
    heaviest = summarise(described, planned(described, "neighbours"), PROBES).total.link
    assert heaviest is not None
    assert heaviest.element == "enc1 backplane in"
    assert heaviest.share == pytest.approx(1.0)
    assert not heaviest.meant


def test_sets_of_nodes_share_a_backplane_as_far_as_it_carries_what_they_send(tmp_path: Path) -> None:
    described = fabric(tmp_path, CHASSIS.format(rate="80G"))
    rounds = planned(described, probe=Together(), size=4)
    assert [len(each.tests) for each in rounds] == [2, 2]
    assert summarise(described, rounds, {"played": Together()}).total.bound == 2
