"""Cables that nobody counted, and descriptions without nodes: nothing is concluded, and the reason is said."""

import pytest

from benchconsole.topology.analysis.static_analysis import make_static_report
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.errors import TopologyError

TREE = """\
schema: 1
fabric: tree
switches: {"leaf[1-4]": {role: leaf}, edge: {role: leaf}, "spine[1-2]": {role: spine}}
nodes: {"n[001-400]": {}, "m[1-2]": {}}
links:
  - {from: "n[001-200]", to: leaf1, speed: 100 Gb/s}
  - {from: "n[201-400]", to: leaf2, speed: 100 Gb/s}
  - {from: "m[1-2]", to: edge, speed: 100 Gb/s}
  - {from: edge, to: "spine[1-2]", speed: 100 Gb/s}
  - {from: "leaf[1-4]", to: "spine[1-2]", speed: 100 Gb/s, count: COUNT}
stated:
  - {oversubscription: "2:1", of: end-to-end}
  - {oversubscription: "1:1", of: edge}
  - {bisection: 1 Tb/s}
"""


def test_nothing_is_concluded_from_cables_that_nobody_counted() -> None:
    report = make_static_report(load_text(TREE.replace("COUNT", "unknown"), "t"))
    (finding,) = (each for each in report.findings if each.code == "uncounted-cables")
    assert finding.where == "leaf[1-4] to spine[1-2]"
    assert finding.text.endswith("what a loss leaves are not concluded; write it as count")
    assert [each.switch for each in report.oversubscription] == ["edge"]
    assert not report.oversubscription.tiers
    assert (report.end_to_end, report.losses, report.bisection.halves) == ((), (), None)
    assert {str(each.outcome) for each in report.claims} == {"unknown", "holds"}
    assert not {"bottleneck", "end-to-end", "single-point-of-failure", "claim-contradicted"} & {
        each.code for each in report.findings
    }


def test_counted_cables_are_judged_as_before() -> None:
    report = make_static_report(load_text(TREE.replace("COUNT", "1"), "t"))
    assert {"bottleneck", "end-to-end", "claim-contradicted"} <= {each.code for each in report.findings}


def test_a_link_that_nobody_counted_is_taken_for_one_cable_and_says_so() -> None:
    links = load_text(TREE.replace("COUNT", "unknown"), "t").links.values()
    assert {(link.count, link.counted) for link in links if link.a.startswith("leaf")} == {(1, False)}
    assert all(link.counted for link in links if not link.a.startswith("leaf"))


@pytest.mark.parametrize("written", ["unknow", "0", '"2"', "129"])
def test_a_count_that_is_none_is_one_problem(written: str) -> None:
    with pytest.raises(TopologyError) as caught:
        load_text(TREE.replace("COUNT", written), "t")
    (problem,) = caught.value.problems
    assert "unknown" in problem.expected or "without quotes" in problem.expected


def test_without_a_node_nothing_is_concluded_and_the_remedy_is_said() -> None:
    text = "schema: 1\nfabric: x\nswitches: {leaf1: {}, spine1: {role: spine}}\nnodes: {}\n"
    report = make_static_report(load_text(text + "links: [{from: leaf1, to: spine1, speed: 1G}]\n", "t"))
    (finding,) = (each for each in report.findings if each.code == "no-node")
    assert "add nodes, and links from them to their switches" in finding.text
    assert (report.oversubscription.switches, report.losses) == ((), ())
