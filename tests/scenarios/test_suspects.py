"""Who is accused when several nodes together are below what is asked: from outputs of tools to the finding."""

from pathlib import Path
from typing import Any

import pytest

from benchconsole.console.exits import Exit
from tests.scenarios.test_judging_trials import TRANSCRIPTS, Site

CLUSTER = """\
schema: 1
fabric: cluster
switches: {leaf: {role: leaf}}
nodes: {"alc[001-056]": {}, "levi[1-4]": {role: storage}}
links: [{from: "alc[001-056],levi[1-4]", to: leaf, speed: 10 Gb/s}]
storage: {levi: {servers: "levi[1-4]", clients: {alc: {nodes: "alc[001-056]"}}}}
"""
ASKED = "metric: ior.throughput, where: {operation: write}, at_least: 1 GB/s, source: milestone 464"
LOW, GOOD = "3.0.1.txt", "3.3.0.txt"
"""Outputs of IOR that wrote 852 MB/s, and 1.52 GB/s."""


def run_sets(folder: Path, *sets: tuple[str, str]) -> list[dict[str, Any]]:
    """The findings of a session of IOR on sets of nodes, each with its output."""
    site = Site(folder, [ASKED], CLUSTER)
    for number, (members, output) in enumerate(sets):
        text = (TRANSCRIPTS / "ior" / output).read_text()
        code, said = site.ingest("ior", text, "--members", members, *(("--session", "last") if number else ()))
        assert code == Exit.BELOW, said
    found: list[dict[str, Any]] = site.report()["findings"]
    return found


def test_28_nodes_below_their_target_are_28_nodes_and_not_the_first_of_them(tmp_path: Path) -> None:
    (finding,) = run_sets(tmp_path, ("alc[001-028]", LOW))
    assert (finding["suspect"], finding["where"], finding["confidence"]) == ("set of nodes", "alc[001-028]", "possible")
    assert finding["what"].startswith("28 nodes together: ior.throughput")
    assert "829 MB/s, asked 1.00 GB/s" in finding["what"]
    assert finding["cannot_tell"].startswith("which of the 28 nodes it is")
    assert len(finding["nodes"]) == 28


def test_the_node_that_all_low_sets_share_is_named_once(tmp_path: Path) -> None:
    sets = [("alc[001-004]", LOW), ("alc[004-007]", LOW), ("alc[001-003,007]", GOOD), ("alc[005-008]", GOOD)]
    (finding,) = run_sets(tmp_path, *sets)
    assert (finding["suspect"], finding["where"], finding["confidence"]) == ("node", "alc004", "certain")
    assert finding["nodes"] == ["alc004"]
    assert len(finding["tests"]) == 2


@pytest.mark.parametrize("member", ["alc001", "alc028"])
def test_the_screens_and_reports_accuse_no_member(tmp_path: Path, member: str) -> None:
    run_sets(tmp_path, ("alc[001-028]", LOW))
    site = Site(tmp_path, [ASKED], CLUSTER)
    _, shown = site.call("show")
    assert "set of nodes alc[001-028]" in shown
    assert f"node {member}" not in shown
    assert site.call("drain", "last", "-w", member)[0] == Exit.BAD_INPUT
