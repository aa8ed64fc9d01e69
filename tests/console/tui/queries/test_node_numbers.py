"""The number beside the mark of a node: the one that made the mark, or the reason of the mark alone."""

import pytest

from benchconsole.console.tui.queries.node_numbers import WorstNumbers
from benchconsole.console.tui.queries.node_row import NO_COLUMNS, NodeRow
from benchconsole.console.tui.queries.view_queries import is_shared
from benchconsole.console.view.blame import Blame
from benchconsole.console.view.run_view import NodeView, RunView, State
from benchconsole.probes.model.judgement import Level, Verdict
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from tests.console.tui.fabrics import G
from tests.console.tui.looking import boxes, faulty, healthy, undecided
from tests.console.tui.story import Story


def numbers(view: RunView) -> WorstNumbers:
    return WorstNumbers(Blame(view.findings))


def seen(view: RunView, name: str) -> NodeView:
    return view.nodes[NodeId(name)]


def with_part(view: RunView, name: str, gigabits: float) -> NodeView:
    """A node that sent another part of the sum of its leaf; the sum stays as it was judged."""
    node = seen(view, name)
    results = tuple(
        each
        if not each.test.bundle
        else replace(each, measurements=tuple(replace(own, value=gigabits * G) for own in each.measurements))
        for each in node.results
    )
    return replace(node, results=results)


@pytest.mark.parametrize(
    ("gigabits", "is_told"), [(0.1, True), (7.43, True), (7.919, True), (7.921, False), (9.9, False)]
)
def test_a_part_of_a_low_sum_is_told_only_where_the_part_is_low(gigabits: float, *, is_told: bool) -> None:
    view = faulty().view()
    node = with_part(view, "n033", gigabits)
    said = numbers(view).describe(node)
    assert said.why == "leaf3 to spine1: 1 of 2 members up"
    if is_told:
        assert (said.metric, said.expected) == ("throughput", "9.90 Gb/s")
        assert said.value == f"{gigabits:.2f} Gb/s" if gigabits > 1 else said.value == "100 Mb/s"
    else:
        assert (said.metric, said.value, said.share) == ("", "", "")
        assert numbers(view).find(node) is None


def test_a_node_that_only_a_finding_drags_down_shows_the_finding_and_no_good_number() -> None:
    view = faulty().view()
    node = seen(view, "n033")
    alone = replace(node, verdicts=tuple(each for each in node.verdicts if not is_shared(each)))
    assert {each.level for each in alone.verdicts} == {Level.PASS}
    assert numbers(view).find(alone) is None
    assert numbers(view).describe(alone).why == "leaf3 to spine1: 1 of 2 members up"


@pytest.mark.parametrize("state", [State.UNREACHABLE, State.UNKNOWN, State.HELD])
def test_nodes_of_which_nothing_counts_show_no_older_number(state: State) -> None:
    view = faulty().view()
    node = replace(seen(view, "n001"), state=state)
    assert numbers(view).find(node) is None
    assert numbers(view).describe(node).value == ""


def test_nodes_that_pass_show_their_worst_number() -> None:
    view = faulty().view()
    found = numbers(view).find(seen(view, "n001"))
    assert isinstance(found, Verdict)
    assert found.level is Level.PASS
    assert numbers(view).describe(seen(view, "n001")).why == ""


@pytest.mark.parametrize("story", [faulty(), healthy(), boxes(), undecided()])
def test_what_stands_beside_a_mark_says_what_the_mark_says(story: Story) -> None:
    view = story.view()
    blame = Blame(view.findings)
    for name, node in view.nodes.items():
        found, said = numbers(view).find(node), numbers(view).describe(node)
        if node.state in (State.FAIL, State.WATCH, State.AFFECTED):
            assert found is None or (isinstance(found, Verdict) and blame.state(name, found) is node.state), name
            assert said.value or said.why, name
        if said.share and node.state is State.AFFECTED:
            assert int(said.share.split()[0]) < 100, name


def test_the_part_of_a_node_has_its_part_of_the_bound() -> None:
    view = faulty().view()
    row = NodeRow(seen(view, "n033"), "", NO_COLUMNS, Blame(view.findings))
    (part,) = [each for each in row.worst.values() if is_shared(each)]
    assert part.expected == pytest.approx(9.9 * G)
    assert part.required == pytest.approx(7.92 * G)
