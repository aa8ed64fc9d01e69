"""The page of ``expect``: equal flows as one row, the slowest first, and no more rows than a reader takes in."""

import pytest

from benchconsole.console.static_report.expected_flows import (
    MOST_ROWS,
    collect_flows,
    collect_merged,
    format_page,
    make_record,
)
from benchconsole.topology.capacity.expect import expect, expect_merged
from benchconsole.topology.capacity.flow_groups import FlowSet
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Flow, NodeId

LEAVES = 60
HEAD = """\
schema: 1
fabric: racks
switches: {"leaf[01-60]": {role: leaf}, spine: {role: spine}}
nodes: {"n[001-120]": {}, st: {role: storage}}
links:
  - {from: st, to: spine, speed: 100000G}
"""


def page(uplink: str) -> tuple[list[str], dict[str, object]]:
    """60 leaves of two nodes that send to one server; ``uplink`` is the speed of the number of a leaf, in Gb/s."""
    links = [
        f'  - {{from: "n[{2 * leaf - 1:03}-{2 * leaf:03}]", to: leaf{leaf:02}, speed: 100G}}\n'
        f"  - {{from: leaf{leaf:02}, to: spine, speed: {uplink.format(leaf)}}}\n"
        for leaf in range(1, LEAVES + 1)
    ]
    fabric = load_text(HEAD + "".join(links), "racks.yaml")
    nodes = tuple(node for node in fabric.nodes if node.startswith("n"))
    merged = expect_merged(fabric, [FlowSet(nodes, (NodeId("st"),))])
    found = collect_merged(fabric, merged)
    return list(format_page(found, 100)), make_record(found, merged)


def test_limits_of_one_kind_are_one_row_where_their_names_would_fill_the_screen() -> None:
    lines, _ = page("10G")
    row = next(line for line in lines if "leaf to spine" in line)
    assert row.split() == ["120", "n[001-120]", "st", "4.71", "Gb/s", "leaf", "to", "spine"]


def test_the_slowest_flows_come_first_and_the_rest_is_summed() -> None:
    lines, record = page("{}G")
    rows = [line for line in lines if "leaf to spine" in line]
    assert len(rows) == MOST_ROWS
    assert rows[0].split()[1:4] == ["n[001-002]", "st", "471"]
    assert rows[1].split()[1:4] == ["n[003-004]", "st", "941"]
    assert "40 flows more in 20 groups: 19.3 Gb/s to 28.2 Gb/s each; all groups are in the JSON." in " ".join(lines)
    groups = record["groups"]
    assert isinstance(groups, list)
    assert len(groups) == LEAVES
    assert [group["expected_bps"] for group in groups] == sorted(group["expected_bps"] for group in groups)
    assert groups[-1]["expected_bps"] == pytest.approx(30e9 * 1448 / 1538, rel=1e-5)


def test_every_flow_is_listed_with_its_own_limits() -> None:
    _, record = page("10G")
    flows = record["flows"]
    assert isinstance(flows, list)
    assert len(flows) == 120
    assert flows[119]["from"] == "n120"
    assert flows[119]["limited_by"] == ["leaf60 to spine"]


def test_a_system_that_is_read_and_written_at_once_is_told() -> None:
    fabric = load_text(HEAD + "  - {from: n001, to: spine, speed: 10G}\n", "x.yaml")
    flows = [Flow(NodeId("n001"), NodeId("st"))]
    found = replace(collect_flows(fabric, flows, expect(fabric, flows), None), read_and_written=("scratch",))
    assert "Storage scratch is read and written at once" in " ".join(format_page(found, 300))
    assert make_record(found, None)["read_and_written"] == ["scratch"]
