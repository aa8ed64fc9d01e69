"""The area of one node: how it stands, its results worst first, and its facts, as its page has them."""

import json

from benchconsole.console.text.table import format_table
from benchconsole.console.tui.queries.node_area import list_node
from benchconsole.console.tui.queries.node_facts import list_node_facts
from benchconsole.console.tui.queries.node_path import find_binding, find_node_path, list_pair_tests
from benchconsole.console.tui.queries.node_results import list_node_results
from benchconsole.console.view.events import SessionOpened
from benchconsole.console.view.reducer import advance_all, opened
from benchconsole.console.view.run_view import RunView, State
from benchconsole.probes.model.judgement import ClosedRound, CloseReason
from benchconsole.probes.model.measuring import FailedAt, Failure, Result, Round, Target, Test
from benchconsole.topology.model.fabric import NodeId
from tests.console.reports import fixture
from tests.console.tui.fabrics import mini
from tests.console.tui.looking import faulty
from tests.console.tui.queries.test_areas import NASTY


def view() -> RunView:
    story = faulty()
    return advance_all(RunView(story.fabric), story.events())


def test_its_rows_are_those_of_its_page() -> None:
    seen = view()
    for name, node in seen.nodes.items():
        rows = list_node(seen, name).rows
        found = [row for row in rows if row.words("kind") == "result"]
        assert [row.words("measured") for row in found] == [each.measured for each in list_node_results(seen, node)]
        facts = [row.words("what") for row in rows if row.words("kind") == "fact"]
        assert facts == [each.fact for each in list_node_facts(node)]
        assert (rows[0].words("kind"), rows[0].record["state"]) == ("node", node.state.value)


def test_a_node_with_a_fault_says_so_first() -> None:
    seen = view()
    name = next(name for name, node in seen.nodes.items() if node.state is State.FAIL and node.finding is not None)
    rows = list_node(seen, name).rows
    assert rows[0].words("state") == "fail"
    assert rows[0].record["finding"]
    assert rows[1].record["state"] == "fail"


def test_a_test_without_a_number_names_the_other_end() -> None:
    fabric = mini(leaves=1, per_leaf=2)
    sender, receiver = (fabric.nodes[NodeId(name)] for name in ("n001", "n002"))
    test = Test("t", "iperf3", Target(sender, receiver), 1)
    result = Result(test, failure=Failure(FailedAt.TIMEOUT, "60 s", sender.id))
    planned = Round(1, "iperf3", "iperf3", (test,), 1.0, "")
    seen = advance_all(
        opened(SessionOpened("s", "", fabric, "default", (planned,), 0.0)),
        [ClosedRound(planned, (result,), CloseReason.COMPLETE, 0.0, 1.0)],
    )
    told = [list_node_results(seen, seen.nodes[each.id])[0].metric for each in (sender, receiver)]
    assert told == ["to n002", "from n001"]


def test_a_node_that_was_not_tested_passes_nothing() -> None:
    seen = fixture.empty()
    (row,) = list_node(seen, next(iter(seen.fabric.nodes))).rows
    assert row.record["state"] == "skipped"
    assert row.record["tests"] == 0


def test_hostile_text_is_shown_as_text_and_records_are_json() -> None:
    seen = fixture.poisoned(NASTY)
    for name in seen.nodes:
        area = list_node(seen, NodeId(name))
        assert all(line.isprintable() and "\u202e" not in line for line in format_table(area.table, 120))
        json.dumps(area.records, allow_nan=False)


def test_the_hops_of_a_test_stand_with_load_and_capacity_and_one_limits() -> None:
    seen = view()
    lost = next(link for link, each in seen.links.items() if each.members_up is not None)
    for name, node in seen.nodes.items():
        for peer, test in list_pair_tests(seen, node).items():
            path = find_node_path(seen, test)
            assert path is not None
            rows = [row for row in list_node(seen, name, path).rows if row.words("kind") == "hop"]
            assert [row.record["link"] for row in rows] == [hop.link for hop in path.hops]
            assert {rows[0].record["source"], rows[-1].record["sink"]} == {name, peer}
            assert sum(row.words("limit") == "limits" for row in rows) == 1
            assert find_binding(path.hops, {}) in path.hops
            assert all(row.record["load"] <= row.record["capacity"] * 1.01 for row in rows)  # type: ignore[operator]
            down = [row.words("of") for row in rows if row.record["link"] == lost]
            assert down in ([], ["1 of 2 members"])


def test_a_node_without_a_path_has_no_hops() -> None:
    seen = view()
    name = next(iter(seen.nodes))
    assert not [row for row in list_node(seen, name).rows if row.words("kind") == "hop"]
