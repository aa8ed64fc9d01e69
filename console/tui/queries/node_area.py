"""The area of one node: how it stands, its results beside their yardsticks, and every fact that it told of itself."""

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import Column, number, words
from benchconsole.console.tui.queries.area import Area, Record, Row, take_finite
from benchconsole.console.tui.queries.node_columns import NodeRow, stage_names, under_of
from benchconsole.console.tui.queries.node_facts import NodeFact, list_node_facts
from benchconsole.console.tui.queries.node_results import NodeResult, list_node_results
from benchconsole.console.view.blame import Blame
from benchconsole.console.view.run_view import NodeView, RunView
from benchconsole.console.view.wording import SIGNS, format_expected
from benchconsole.topology.model.fabric import NodeId


def list_node(view: RunView, node: NodeId) -> Area:
    """One row for the node, then its results, the worst first, then its facts. KeyError for a node that is not there.

    StoreError where the facts cannot be read.
    """
    columns = {
        "kind": Column("kind"), "state": Column("state"), "what": words("what"), "of": words("of"),
        "measured": number("measured"), "expected": number("expected"), "share": number("share"),
        "limit": words("limit"), "why": words("why", 20),
    }  # fmt: skip
    seen = view.nodes.get(node) or NodeView(view.fabric.nodes[node])
    results = map(_make_result, list_node_results(view, seen))
    facts = map(_make_fact, list_node_facts(seen))
    return Area(f"Node {sanitize(node)}", columns, (_make_node(view, seen), *results, *facts), {})


def _make_node(view: RunView, seen: NodeView) -> Row:
    under = under_of(view.fabric).get(seen.node.id, "")
    row = NodeRow(seen, under, (), Blame(view.findings), stage_names(view))
    text = {
        "kind": "node", "state": row.words("state"), "what": row.words("node"), "of": row.words("role"),
        "limit": row.words("limit"), "why": row.words("why"),
    }  # fmt: skip
    finding = None if seen.finding is None else seen.finding.what
    record: Record = {
        "kind": "node", "state": seen.state.value, "node": seen.node.id, "role": row.words("role"), "under": under,
        "class": seen.node.hardware.name, "finding": finding, "why": row.words("why"), "tests": len(seen.results),
    }  # fmt: skip
    return Row(text, {}, record)


def _make_result(each: NodeResult) -> Row:
    verdict = each.verdict
    text = {
        "kind": "result", "state": SIGNS[each.state].word, "what": f"{each.probe} {each.metric}", "of": each.source,
        "measured": each.measured, "expected": each.expected, "share": each.share, "limit": each.limit,
        "why": each.verdict_words,
    }  # fmt: skip
    unit = None if verdict is None or verdict.unit is None else verdict.unit.value
    record: Record = {
        "kind": "result", "state": each.state.value, "probe": each.probe, "metric": each.metric, "test": each.test,
        "unit": unit, "value": None if verdict is None else take_finite(verdict.value),
        "expected": None if verdict is None else take_finite(verdict.expected), "source": each.source,
        "limit": each.limit, "verdict": each.verdict_words,
    }  # fmt: skip
    return Row(text, {}, record)


def _make_fact(each: NodeFact) -> Row:
    declared = "" if each.verdict is None else format_expected(each.verdict)
    text = {
        "kind": "fact", "state": "" if each.state is None else SIGNS[each.state].word, "what": each.fact,
        "of": each.of, "measured": each.value, "expected": declared,
    }  # fmt: skip
    state = None if each.state is None else each.state.value
    record: Record = {
        "kind": "fact", "state": state, "fact": each.fact, "of": each.of, "value": each.value, "declared": declared
    }  # fmt: skip
    return Row(text, {}, record)
