"""The areas of the screen as tables and records, by the code that the screen shows them with.

An area is a list of rows that can be filtered; one more is a function, and a line in ``AREAS``.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from benchconsole.console.reports.document_json import make_acceptance_record
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import Column, number, words
from benchconsole.console.tui.queries.area import Area, Record, Row, take_finite
from benchconsole.console.tui.queries.finding_remarks import FindingRemarks
from benchconsole.console.tui.queries.log_area import list_log
from benchconsole.console.tui.queries.node_columns import ColumnCache, record_verdict, stage_names, under_of
from benchconsole.console.tui.queries.node_row import NO_COLUMNS, WORD_COLUMNS, ColumnSet, NodeColumn, NodeRow
from benchconsole.console.tui.queries.planning_areas import list_probes, list_suites
from benchconsole.console.tui.queries.result_areas import (
    list_criteria,
    list_curves,
    list_evidence,
    list_pairs,
    list_results,
)
from benchconsole.console.tui.queries.view_queries import Fault, find_link, list_faults, state_of_fault
from benchconsole.console.tui.rows.scales import scale_for
from benchconsole.console.view.blame import Blame
from benchconsole.console.view.remark_words import group_remarks
from benchconsole.console.view.run_view import LinkView, RunView, State
from benchconsole.console.view.wording import NOT_MEASURED, SIGNS, format_share, name_state
from benchconsole.probes.model.judgement import Finding
from benchconsole.probes.model.measuring import Round, TestOutcome
from benchconsole.probes.model.remark import About
from benchconsole.topology.element_names import link_name
from benchconsole.topology.model.fabric import Link
from benchconsole.topology.units import Shown, Unit

if TYPE_CHECKING:
    from benchconsole.probes.api import Probe

# -- nodes


def list_nodes(view: RunView, names: Sequence[str] = ()) -> Area:
    """Every node with its state and the worst value of each judged metric, or with the columns that are named.

    ChoiceError for a name that is no column; StoreError where what nodes told cannot be read.
    """
    blame, stages, under = Blame(view.findings), stage_names(view), under_of(view.fabric)
    rows = [NodeRow(seen, under.get(name, ""), NO_COLUMNS, blame, stages) for name, seen in view.nodes.items()]
    layout = ColumnSet(_choose_columns(view, names, rows) if names else ColumnCache().list_columns(view))
    shown = {name: words(name) if name in ("why", "limit", "under") else Column(name) for name in WORD_COLUMNS}
    for key, column in layout.by_key.items():
        shown[key] = number(column.title) if column.scale is not None else words(column.title)
    shown["remarks"] = words("remarks", 20)
    said = group_remarks(view.remarks, (About.NODE,))
    scales = {name: scale for name, scale in layout.scales.items() if scale is not None}
    for row in rows:
        row.columns = layout
    made = tuple(_make_node(row, shown, said.get(row.view.node.id, ()), is_chosen=bool(names)) for row in rows)
    return Area("Nodes", shown, made, scales)


def _choose_columns(view: RunView, names: Sequence[str], rows: Sequence[NodeRow]) -> tuple[NodeColumn, ...]:
    from benchconsole.console.tui.queries.column_reader import ColumnReader  # here: it brings what judging needs

    offers = ColumnReader().read(view)
    return offers.make(offers.resolve(names), rows)


def _make_node(row: NodeRow, shown: Mapping[str, Column], remarks: Sequence[str], *, is_chosen: bool) -> Row:
    chosen = row.columns.chosen
    numbers = {key: column.number(row) for key, column in row.columns.by_key.items() if column.scale is not None}
    metrics = [
        {
            "metric": metric, "stage": stage, "unit": None if verdict.unit is None else verdict.unit.value,
            **record_verdict(row, verdict),
        }
        for (metric, stage), verdict in row.worst.items()
    ]  # fmt: skip
    record: Record = {
        **{name: row.words(name) for name in WORD_COLUMNS}, "state": row.state.value, "metrics": metrics,
        "remarks": list(remarks),
    }  # fmt: skip
    if is_chosen:
        record["columns"] = {column.key: column.record(row) for column in chosen}
    text = {name: "; ".join(remarks) if name == "remarks" else row.words(name) for name in shown}
    return Row(text, numbers, record)


# -- links


def list_links(view: RunView) -> Area:
    """Every link with its state, its members, and what it carried beside what it should."""
    links = view.fabric.links.values()
    seen = {link.id: find_link(view, link.id) for link in links}
    known = [each for found in seen.values() for each in (found.measured, found.expected) if each is not None]
    scale = scale_for(Unit.BYTE_RATE, Shown.NETWORK, known)
    columns = {
        "state": Column("state"), "link": words("link"), "cables": number("cables"), "up": number("up"),
        "measured": number(f"measured {scale.symbol}"), "expected": number(f"expected {scale.symbol}"),
        "share": number("share"), "why": words("why"), "remarks": words("remarks", 20),
    }  # fmt: skip
    said = group_remarks(view.remarks, (About.LINK,))
    rows = []
    for link in links:
        found = seen[link.id]
        why = "" if found.finding is None else found.finding.what
        remarks = said.get(link.id, ())
        text = {
            "state": name_state(found.state, was_asked=False),
            "link": sanitize(link_name(view.fabric, link)),
            "cables": f"{link.count:,}", "up": "" if found.members_up is None else f"{found.members_up:,}",
            "measured": scale.shown(found.measured), "expected": scale.shown(found.expected),
            "share": NOT_MEASURED if found.share is None else format_share(found.share), "why": sanitize(why),
            "remarks": "; ".join(remarks),
        }  # fmt: skip
        numbers = {"measured": found.measured, "expected": found.expected}
        rows.append(Row(text, numbers, _record_link, found.state, _LinkLine(link, found, remarks)))
    return Area("Links", columns, tuple(rows), {"measured": scale, "expected": scale})


class _LinkLine(NamedTuple):
    """A link as it stands, and the remarks on it."""

    link: Link
    found: LinkView
    remarks: Sequence[str]


def _record_link(line: _LinkLine) -> Record:
    link, found, remarks = line
    return {
        "link": link.id, "a": link.a, "b": link.b, "state": found.state.value, "cables": link.count,
        "members_up": found.members_up, "unit": Unit.BYTE_RATE.value, "measured": take_finite(found.measured),
        "expected": take_finite(found.expected), "why": "" if found.finding is None else found.finding.what,
        "remarks": list(remarks),
    }  # fmt: skip


# -- findings


def list_findings(view: RunView) -> Area:
    """The findings, worst first, then nodes that could not be asked or judged, with acceptances and remarks."""
    columns = {
        "state": Column("state"), "where": words("where"), "what": words("what", 24), "means": words("means"),
        "do": words("do"), "accepted": words("accepted", 20), "remarks": words("remarks", 20),
    }  # fmt: skip
    said = FindingRemarks(view.findings, view.remarks)
    rows = tuple(_make_finding(view, fault, said) for fault in list_faults(view))
    return Area("Findings", columns, rows, {}, said.sentence)


def _make_finding(view: RunView, fault: Fault, said: FindingRemarks) -> Row:
    do = fault.do if isinstance(fault, Finding) else ""
    text = {
        "state": SIGNS[state_of_fault(fault)].word, "where": sanitize(fault.where), "what": sanitize(fault.what),
        "means": sanitize(fault.means), "do": sanitize(do),
        "accepted": said.tell_acceptance(fault) if isinstance(fault, Finding) else "",
        "remarks": "; ".join(said.list_remarks(fault)) if isinstance(fault, Finding) else "",
    }  # fmt: skip
    return Row(text, {}, lambda each: _record_fault(view, each, said), source=fault)


def _record_fault(view: RunView, fault: Fault, said: FindingRemarks) -> Record:
    """The record of a finding for machines; the tests that it rests on are those of the screen."""
    record: Record = {
        "state": state_of_fault(fault).value, "where": fault.where, "what": fault.what, "means": fault.means,
        "do": fault.do if isinstance(fault, Finding) else "", "nodes": [str(name) for name in fault.nodes_at],
        "links": list(fault.links_at),
    }  # fmt: skip
    if isinstance(fault, Finding):
        record |= {
            "suspect": fault.suspect.value, "element": fault.element, "affected": list(fault.nodes),
            "accepted": make_acceptance_record(said.find_acceptance(fault)),
            "remarks": list(said.list_remarks(fault)), "evidence": list_evidence(view, fault).records,
        }  # fmt: skip
    return record


# -- rounds


def list_rounds(view: RunView) -> Area:
    """Every round of the plan: how far it is, and how many of its tests ended in which way."""
    columns = {
        "round": number("round"), "state": Column("state"), "stage": words("stage"), "tests": number("tests"),
        **{each.value: number(each.value) for each in TestOutcome}, "seconds": number("s"), "why": words("why", 20),
    }  # fmt: skip
    return Area("Rounds", columns, tuple(_list_rounds(view)), {})


def _list_rounds(view: RunView) -> Iterator[Row]:
    for each in view.plan:
        ended_as = Counter(view.results[test.id].outcome for test in each.tests if test.id in view.results)
        counts = {outcome.value: ended_as[outcome] for outcome in TestOutcome}
        state = _find_round_state(view, each)
        began, ended = view.closed.get(each.number, (0.0, 0.0))
        record: Record = {
            "round": each.number, "stage": each.stage, "probe": each.probe, "state": state, "tests": len(each.tests),
            **counts, "seconds": ended - began, "because": each.because,
        }  # fmt: skip
        text = {
            "round": f"{each.number:,}", "state": state, "stage": sanitize(each.stage), "tests": f"{len(each.tests):,}",
            **{outcome: f"{count:,}" if count else "" for outcome, count in counts.items()},
            "seconds": f"{ended - began:.1f}" if ended else "", "why": sanitize(each.because),
        }  # fmt: skip
        yield Row(text, {}, record)


def _find_round_state(view: RunView, each: Round) -> str:
    if each.number in view.closed:
        return "closed"
    return SIGNS[State.RUNNING].word if view.current is each else "planned"


AREAS: Mapping[str, Callable[[RunView], Area]] = {
    "nodes": list_nodes,
    "links": list_links,
    "findings": list_findings,
    "rounds": list_rounds,
    "pairs": list_pairs,
    "results": list_results,
    "curves": list_curves,
    "criteria": list_criteria,
    "logs": list_log,
}
"""The areas that ``show --area`` prints, by name."""

OF_PROBES: Mapping[str, Callable[[RunView, "Mapping[str, Probe]"], Area]] = {
    "suites": list_suites,
    "probes": list_probes,
}
"""Areas that take the installed probes, too."""
