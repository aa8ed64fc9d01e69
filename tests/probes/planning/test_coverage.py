"""The gaps of a plan: links by the directions that its flows cross, each with its reason."""

from pathlib import Path

import pytest

from benchconsole.probes.planning.plan_summary import list_uncrossed_links, summarise
from benchconsole.probes.tools.iperf3.probe import Iperf3
from tests.fabrics import fabric
from tests.probes.planning.suites import planned

PROBES = {"iperf3": Iperf3()}


@pytest.mark.parametrize("both", [False, True])
def test_a_link_is_crossed_only_if_data_goes_both_ways(tmp_path: Path, *, both: bool) -> None:
    described = fabric(tmp_path)
    rounds = planned(described, "sample", pairs=1, nodes=["n1", "n2"], bidir=int(both))
    own = {link.id for node in ("n1", "n2") for link in described.links_at[node]}
    uncrossed = {link.id for link in list_uncrossed_links(described, rounds)}
    assert {link.id for link in described.links.values()} - own <= uncrossed
    assert uncrossed & own == (set() if both else own)
    one_way = [set(left.what) for left in summarise(described, rounds, PROBES).links if "one direction" in left.why]
    assert one_way == ([] if both else [own])


def test_a_plan_without_flows_misses_no_link(tmp_path: Path) -> None:
    assert list_uncrossed_links(fabric(tmp_path), ()) == ()
