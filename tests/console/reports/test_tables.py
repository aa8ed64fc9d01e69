"""Facts in which a few nodes differ from their class: from four fifths on the others are the class."""

import pytest

from benchconsole.console.reports.tables import find_unlike_class, make_metric_tables
from benchconsole.console.view.events import SessionOpened
from benchconsole.console.view.reducer import advance, opened
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Level
from benchconsole.probes.model.measuring import Fact, Result, Round, Target, Test
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.units import Shown, Unit
from tests.console.reports.building import GBIT, Story, fabric, verdict

TEXT = """\
schema: 1
fabric: plain
switches: {leaf: {role: leaf}}
nodes: {"n[1-20]": {}}
links: [{from: "n[1-20]", to: leaf, speed: 10 Gb/s}]
"""


def told(*answers: str) -> RunView:
    """A session in which each of so many nodes reports one fact."""
    described = load_text(TEXT, "plain.yaml")
    nodes = list(described.nodes.values())[: len(answers)]
    tests = tuple(Test(f"t-{node.id}", "inventory", Target(node), 1) for node in nodes)
    results = tuple(
        Result(test, facts=(Fact("kernel.release", answer),)) for test, answer in zip(tests, answers, strict=True)
    )
    each = Round(1, "inventory", "inventory", tests, 1.0, "")
    view = opened(SessionOpened("s", "", described, "default", (each,), 0.0, False))
    return advance(view, ClosedRound(each, results, CloseReason.COMPLETE, 0.0, 1.0))


@pytest.mark.parametrize(
    ("usual", "others", "listed"),
    [(4, 1, True), (3, 1, False), (16, 4, True), (15, 4, False), (16, 3, True), (3, 2, False), (4, 0, False)],
)
def test_four_fifths_make_the_class(usual: int, others: int, listed: bool) -> None:
    found = find_unlike_class(told(*["6.1"] * usual, *["5.10"] * others))
    assert [(each.found, each.declared, each.number) for each in found] == ([("5.10", "6.1", others)] if listed else [])


def test_flows_whose_sum_is_judged_stand_in_no_line_of_their_sum() -> None:
    story = Story(fabric())
    flows = story.round("trunks", "iperf3", ["n01>n09", "n02>n10"], bundle="leaf1 to sp1")
    first, _ = [story.answer(flow, "iperf3.throughput", 4.9 * GBIT, Unit.BYTE_RATE) for flow in flows]
    whole = verdict(
        flows[0], first, Level.PASS, subject="leaf1 to sp1", value=9.8 * GBIT, expected=9.9 * GBIT, shown=Shown.NETWORK
    )
    story.judge(flows[0], whole)
    (table,) = make_metric_tables(story.view())
    (line,) = table.spreads
    assert (line.number, line.lowest, line.expected, line.states) == (1, "9.80 Gb/s", "9.90 Gb/s", "1 pass")
