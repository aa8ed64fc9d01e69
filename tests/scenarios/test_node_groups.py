"""Many nodes below one criterion are one finding where they are a group, or many: from outputs to the sentence."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchconsole.console.exits import Exit
from benchconsole.console.view.run_view import State
from tests.scenarios.test_judging_trials import TRIAD, Site, stream
from tests.scenarios.test_session_verdicts import read_view

MACHINE = """\
schema: 1
fabric: machine
switches: {"leaf[1-2]": {role: leaf}, spine: {role: spine}}
nodes: {"n[01-16]": {}}
links:
  - {from: "n[01-08]", to: leaf1, speed: 10 Gb/s}
  - {from: "n[09-16]", to: leaf2, speed: 10 Gb/s}
  - {from: "leaf[1-2]", to: spine, speed: 40 Gb/s}
chassis: {c1: {members: "n[01-04]"}, c2: {members: "n[05-08]"}, c3: {members: "n[09-12]"}, c4: {members: "n[13-16]"}}
"""
NODES = [f"n{number:02}" for number in range(1, 17)]


def bring(folder: Path, triads: Mapping[str, float], threads: int = 24, *more: str, site: Site | None = None) -> Site:
    """Ingest what STREAM prints on each node, in GB/s, as one round."""
    site = site or Site(folder, [TRIAD], MACHINE)
    files = [folder / f"{node}.txt" for node in triads]
    for path, triad in zip(files, triads.values(), strict=True):
        path.write_text(stream(triad).replace("= 24", f"= {threads}"))
    code, said = site.call("ingest", site.topology, "stream", *files, "--labels", f"threads={threads}", *more)
    assert code == (Exit.BELOW if min(triads.values()) < 65.0 else code), said
    return site


def measure(folder: Path, *low: int, nodes: range = range(1, 17)) -> tuple[Site, list[dict[str, Any]]]:
    """The findings where the nodes of these numbers are below the criterion, each a bit more than the one before."""
    triads = {NODES[each - 1]: 40.0 + each if each in low else 100.0 for each in nodes}
    site = bring(folder, triads)
    return site, site.report()["findings"]


@pytest.mark.parametrize(
    ("low", "said"),
    [
        ((5, 6, 7, 8), [("chassis c2 (n[05-08])", "4 of 16 nodes below, all that were measured of chassis c2, worst n05")]),
        (range(9, 17), [("switch leaf2 (n[09-16])", "8 of 16 nodes below, all that were measured of switch leaf2, worst n09")]),
        (range(1, 17), [("n[01-16]", "16 of 16 nodes below, worst n01: ")]),
        ((1, 2, 5, 6, 9, 10), [("n[01-02,05-06,09-10]", "6 of 16 nodes below, worst n01: ")]),
        ((1, 2, 5, 9, 10), [(f"n{each:02}", "stream.triad") for each in (1, 2, 5, 9, 10)]),
        ((5, 6, 7, 8, 13), [("chassis c2 (n[05-08])", "4 of 16 nodes below"), ("n13", "stream.triad")]),
    ],
    ids=["chassis", "switch", "everything", "many", "few", "chassis-and-one"],
)  # fmt: skip
def test_nodes_below_one_criterion(tmp_path: Path, low: tuple[int, ...], said: list[tuple[str, str]]) -> None:
    site, found = measure(tmp_path, *low)
    assert [each["where"] for each in found] == [where for where, _ in said]
    for finding, (_, words) in zip(found, said, strict=True):
        assert finding["what"].startswith(words), finding["what"]
        assert "asked 65.0 GB/s" in finding["what"]
    assert sorted(node for each in found for node in each["nodes"]) == [NODES[each - 1] for each in low]
    view = read_view(site.folder / "s.db")
    failed = {node for node, seen in view.nodes.items() if seen.state is State.FAIL}
    assert failed == {NODES[each - 1] for each in low}
    assert all([each.subject for each in view.nodes[node].verdicts if each.metric == "stream.triad"] == [node]
               for node in failed)  # fmt: skip


def test_a_group_of_which_not_all_were_measured_says_how_many(tmp_path: Path) -> None:
    _, (found,) = measure(tmp_path, 1, 2, 3, nodes=range(1, 4))
    assert found["what"].startswith("3 of 3 nodes below, worst n01: ")
    assert found["suspect"] == "set of nodes"


def test_slow_nodes_are_one_finding_each_at_all_points_of_a_sweep(tmp_path: Path) -> None:
    site: Site | None = None
    for threads in (8, 16, 24):
        triads = {node: 50.0 if node in ("n02", "n07", "n11") else 100.0 for node in NODES}
        triads |= {"n14": 50.0} if threads == 16 else {}
        site = bring(tmp_path, triads, threads, *(["--session", "last"] if site else []), site=site)
    assert site is not None
    found = {each["where"]: each for each in site.report()["findings"]}
    assert set(found) == {"n02", "n07", "n11", "n14"}
    for node in ("n02", "n07", "n11"):
        told = found[node]["because"]
        assert [f"threads={each}" in line for each, line in zip((8, 16, 24), told, strict=True)] == [True] * 3
    assert "threads=16" in found["n14"]["what"]
    assert len(found["n14"]["because"]) == 1
