"""A plan in words: totals, stages against their bounds, what is left out, rounds folded."""

from pathlib import Path

from benchconsole.console.view.plan_text import format_plan
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.planning.plan_summary import summarise
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric
from tests.fabrics import SMALL, fabric
from tests.probes.planning.suites import planned

PROBES = {"iperf3": Iperf3()}


def lines(described: Fabric, rounds: tuple[Round, ...], *, most: int = 6) -> list[str]:
    return list(format_plan(described, summarise(described, rounds, PROBES), rounds, most=most))


def test_totals_and_bounds_come_first(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    found = lines(described, planned(described, "all-pairs", seconds=5))
    most = "; each round in which a tool hangs takes up to 29.0 s longer"
    assert found[0] == f"plan: 10 rounds (at least 9; ratio 1.111), 88 tests, about 1:10{most}"
    assert found[1] == "iperf3 all-pairs: 10 rounds (at least 9 by n1 out; ratio 1.111), 88 tests, about 1:10"
    assert "heaviest load on a link or ceiling:" in found[2]
    assert "100 % in round" in found[2]
    assert "pairs: 88 of 90 directed pairs meet (97.78%)" in found
    assert "    2 do not: no path between them, or only one that goes down to a switch and up again" in found


def test_stages_say_by_how_much_a_tool_that_hangs_prolongs_them_where_they_differ(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    (network, *_), (nodes, *_) = planned(described, "neighbours", seconds=5), planned(described, "neighbours")
    (longer,) = (replace(nodes, stage="longer", number=2, probe="unknown"),)
    found = lines(described, (network, longer))
    assert found[0].endswith("; each round in which a tool hangs takes up to 2:29 longer")
    (of_network,) = (line for line in found if line.startswith("iperf3 neighbours: "))
    assert of_network.endswith("about 7.00 s; each round in which a tool hangs takes up to 29.0 s longer")


def test_many_rounds_are_folded(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    found = lines(described, planned(described, "all-pairs"), most=2)
    assert sum(line.startswith("round ") for line in found) == 2
    assert found[-1].startswith("... 8 more rounds of 2 to 10 tests")


def test_bundles_say_what_they_fill_and_how_far(tmp_path: Path) -> None:
    text = SMALL.replace('to: "spine[1-2]", speed: 10 Gb/s', 'to: "spine[1-2]", speed: 100 Gb/s')
    described = fabric(tmp_path, text)
    found = lines(described, planned(described, "trunks"))
    assert any(line.startswith("    fills leaf1 to spine1 to 20 %: n1>st1, n2>st1, n3>st1, n4>st1") for line in found)


def test_what_is_left_out_is_named_with_its_reason(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    found = lines(described, planned(described, "neighbours", nodes=["n1", "n2"]))
    assert "not covered: 8 nodes, n[3-8],st[1-2]: in no test: not selected, or none that it could be in" in found
    assert any(line.startswith("not covered: 8 links, n3 NIC, n4 NIC") and "and 4 more" in line for line in found)


def test_names_from_a_file_are_no_commands_to_a_terminal(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    (each, *_) = planned(described, "neighbours")
    hostile = (replace(each, stage="iperf3 \x1b[2J", because="\x1b]0;x\x07"),)
    assert all("\x1b" not in line for line in lines(described, hostile))
