"""The area of one node: how it stands, its results beside their yardsticks, and every fact that it told of itself."""

from collections.abc import Iterator

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import Column, number, words
from benchconsole.console.tui.queries.area import Area, Record, Row, take_finite
from benchconsole.console.tui.queries.node_columns import stage_names, under_of
from benchconsole.console.tui.queries.node_facts import NodeFact, list_node_facts
from benchconsole.console.tui.queries.node_path import NodePath, find_binding
from benchconsole.console.tui.queries.node_results import NodeResult, list_node_results
from benchconsole.console.tui.queries.node_row import NO_COLUMNS, NodeRow
from benchconsole.console.tui.queries.view_queries import find_link
from benchconsole.console.view.blame import Blame
from benchconsole.console.view.run_view import NodeView, RunView
from benchconsole.console.view.wording import SIGNS, format_expected, format_quantity, format_share
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.units import Shown, Unit, counted


def list_node(view: RunView, node: NodeId, path: NodePath | None = None) -> Area:
    """One row for the node, then its results, the worst first, the hops of ``path``, then its facts.

    KeyError for a node that is not there.

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
    hops = () if path is None else _list_hops(view, path)
    return Area(f"Node {sanitize(node)}", columns, (_make_node(view, seen), *results, *hops, *facts), {})


def _make_node(view: RunView, seen: NodeView) -> Row:
    under = under_of(view.fabric).get(seen.node.id, "")
    row = NodeRow(seen, under, NO_COLUMNS, Blame(view.findings), stage_names(view))
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


def _list_hops(view: RunView, path: NodePath) -> Iterator[Row]:
    """Load beside capacity; ``limits`` stands at the hop that binds."""
    links = {hop.link: find_link(view, hop.link) for hop in path.hops}
    binding = find_binding(path.hops, links)
    for hop in path.hops:
        state = links[hop.link].state
        up = hop.members if hop.members_up is None else hop.members_up
        flows = f"{counted(len(hop.crossing), 'flow')} of the round" if len(hop.crossing) > 1 else ""
        text = {
            "kind": "hop", "state": "" if state is None else SIGNS[state].word,
            "what": f"{sanitize(hop.source)} to {sanitize(hop.sink)}",
            "of": f"{up:,} of {counted(hop.members, 'member')}" if hop.members > 1 else "",
            "measured": format_quantity(hop.load, Unit.BYTE_RATE, Shown.NETWORK),
            "expected": format_quantity(hop.capacity, Unit.BYTE_RATE, Shown.NETWORK),
            "share": format_share(hop.load / hop.capacity) if hop.capacity else "",
            "limit": "limits" if hop is binding else "", "why": ", ".join(filter(None, (flows, sanitize(hop.note)))),
        }  # fmt: skip
        record: Record = {
            "kind": "hop", "test": path.test.id, "source": hop.source, "sink": hop.sink, "link": hop.link,
            "state": None if state is None else state.value, "members": hop.members, "members_up": up,
            "load": take_finite(hop.load), "capacity": take_finite(hop.capacity), "expected": take_finite(hop.expected),
            "unit": Unit.BYTE_RATE.value, "limits": hop is binding, "flows": len(hop.crossing), "note": hop.note,
        }  # fmt: skip
        yield Row(text, {}, record)


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
