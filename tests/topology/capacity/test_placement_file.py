"""Given placements: the rates of twelve members with known loads, and rows that say what cannot be."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.capacity.flow_streams import Members
from benchconsole.topology.capacity.maxmin import compute_fairness
from benchconsole.topology.capacity.placement_file import read_placement
from benchconsole.topology.description.resolve import load, load_text
from benchconsole.topology.errors import SelectionError
from benchconsole.topology.model.fabric import Fabric, Flow, NodeId
from benchconsole.topology.routing.routes import Routes
from tests.topology import referee

SC11 = Path("topology/examples/sc11-lag.yaml")
LOADS = (5, 4, 4, 3, 3, 3, 2, 2, 2, 1, 1, 0)
"""Flows on each of the twelve members, as somebody counted them."""

SMALL = """\
schema: 1
fabric: small
network: {mtu: 9000}
switches: {leaf: {role: leaf}, spine: {role: spine}, far: {role: leaf}}
nodes: {"n[1-4]": {}}
links:
  - {from: "n[1-3]", to: leaf, speed: 100G}
  - {from: n4, to: far, speed: 100G}
  - {from: "leaf:Eth[1-2]", to: "spine:te[7-8]", speed: 40G, count: 2}
  - {from: far, to: spine, speed: 100G}
"""


def read(described: Fabric, flows: list[Flow], folder: Path, text: str) -> Members:
    file = folder / "placement.csv"
    file.write_text(text)
    return read_placement(file, Routes(described), flows)


def test_known_loads_of_a_lag_give_known_rates(tmp_path: Path) -> None:
    """30 flows over twelve members and a line of 100 Gb/s: 5 at 2, 8 at 5/2, 9 at 10/3, 8 at 5 Gb/s; 100 in all."""
    described = load(SC11)
    flows = [Flow(NodeId(f"c-sea{i:02}"), NodeId(f"c-ind{i:02}")) for i in range(1, 31)]
    text, first = "from,to,link,member\n", 1
    for member, load_of in enumerate(LOADS, start=1):
        if load_of:
            last = first + load_of - 1
            text += f"c-sea[{first:02}-{last:02}],c-ind[{first:02}-{last:02}],vdx-sea to mlxe-sea,{member}\n"
            first = last + 1
    rates = expect(described, flows, members=read(described, flows, tmp_path, text))
    found = [each.value * 8e-9 / described.goodput for each in rates]
    capacity = {("line", "", ""): Fraction(100), **{("member", str(m), ""): Fraction(10) for m in range(12)}}
    shares: list[referee.Shares] = [
        {("line", "", ""): Fraction(1), ("member", str(m), ""): Fraction(1)} for m, load_of in enumerate(LOADS)
        for _ in range(load_of)
    ]  # fmt: skip
    filled = [float(each) for each in referee.fill(capacity, shares)]
    assert found == pytest.approx(filled, rel=1e-9)
    assert sorted({round(each, 6) for each in filled}) == [2.0, 2.5, round(10 / 3, 6), 5.0]
    assert sum(found) == pytest.approx(100, rel=1e-9)
    assert compute_fairness(np.array(found)) == pytest.approx(0.9009, abs=5e-5)
    assert rates[0].model == "known members"


def test_members_are_numbers_or_ports_and_streams_have_their_own(tmp_path: Path) -> None:
    described = load_text(SMALL, "small.yaml")
    flows = [Flow(NodeId("n1"), NodeId("n4"))] * 2 + [Flow(NodeId("n4"), NodeId("n2"))]
    text = "from,to,link,member,stream\nn1,n4,leaf to spine,Eth2,1\nn1,n4,spine--leaf,1,2\nn4,n2,leaf--spine,te8,\n"
    found = read(described, flows, tmp_path, text)
    assert {place: [(way.source, member) for way, member in own.items()] for place, own in found.items()} == {
        0: [("leaf", 1)], 1: [("leaf", 0)], 2: [("spine", 1)],
    }  # fmt: skip
    text = "from,to,link,member\nn1,n4,leaf to spine,2\n"  # both streams on one
    rates = expect(described, flows, members=read(described, flows, tmp_path, text))
    assert [each.value * 8e-9 / described.goodput for each in rates] == pytest.approx([20, 20, 80], rel=1e-9)


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("n1,n4,leaf to spime,1", "csv:2: unknown link 'leaf to spime', expected one such as 'leaf1 to spine1', did you mean leaf--spine?"),
        ("n1,n4,leaf to spine,3", "csv:2: member '3' of leaf to spine, expected 1 to 2, or the name of a port"),
        ("n1,n4,leaf to spine,", "csv:2: member ''"),
        ("n3,n4,leaf to spine,1", "csv:2: n3>n4 is no flow of the question"),
        ('"n1,n2",n4,leaf to spine,1', "csv:2: 2 nodes to 1, expected as many, paired in order"),
        ("n1,n4,n2--leaf,1", "csv:2: n1>n4 does not cross n2 to leaf"),
        ("n1,n4,leaf to spine,1\nn1,n4,leaf to spine,2", "csv:3: n1>n4 on a second member of leaf to spine"),
        ("n1,n9,leaf to spine,1", "csv:2: "),
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_is_named(row: str, what: str, tmp_path: Path) -> None:
    flows = [Flow(NodeId("n1"), NodeId("n4"))]
    with pytest.raises(SelectionError) as error:
        read(load_text(SMALL, "small.yaml"), flows, tmp_path, f"from,to,link,member\n{row}\n")
    assert what in str(error.value)


def test_a_stream_that_is_not_sent_is_named(tmp_path: Path) -> None:
    text = "from,to,link,member,stream\nn1,n4,leaf to spine,1,2\n"
    with pytest.raises(SelectionError, match="stream '2' of n1>n4, expected 1 to 1"):
        read(load_text(SMALL, "small.yaml"), [Flow(NodeId("n1"), NodeId("n4"))], tmp_path, text)
