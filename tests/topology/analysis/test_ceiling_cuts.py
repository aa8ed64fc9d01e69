"""Cuts where ceilings inside devices pass less than their cables, held against a maximum flow by networkx."""

from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.analysis.bisection import analyse_bisection, find_cut, list_findings
from benchconsole.topology.analysis.stated_vs_computed import ClaimOutcome
from benchconsole.topology.analysis.static_analysis import make_static_report
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.tables.fabric_tables import make_tables
from tests.fabrics import fabric

GIGABIT = 1.25e8
TEXT = """
schema: 1
fabric: narrow
switches:
  "leaf[1-2]": {role: leaf}
  "sp[1-2]": {role: spine, SPINE}
nodes: {"n[1-8]": {NODE}}
links:
  - {from: "n[1-4]:p1", to: "leaf1:[1-4]", speed: 100 Gb/s}
  - {from: "n[5-8]:p1", to: "leaf2:[1-4]", speed: 100 Gb/s}
  - {from: "leaf1:5", to: "sp1:1", speed: 400 Gb/s}
  - {from: "leaf1:6", to: "sp2:1", speed: 400 Gb/s}
  - {from: "leaf2:5", to: "sp1:2", speed: 400 Gb/s}
  - {from: "leaf2:6", to: "sp2:2", speed: 400 Gb/s}
STATED
"""


def make_fabric(*, spine: str = "", node: str = "", stated: str = "") -> Fabric:
    text = TEXT.replace("role: spine, SPINE", f"role: spine, ceilings: {{{spine}}}" if spine else "role: spine")
    text = text.replace("NODE", f"ceilings: {{{node}}}" if node else "").replace("STATED", stated)
    return load_text(text, "narrow.yaml")


def halve(described: Fabric) -> tuple[float, list[str], bool]:
    halves = analyse_bisection(make_tables(described)).halves
    assert halves is not None
    return halves.bound / GIGABIT, [str(each) for each in halves.places], halves.exact


def test_cables_alone_where_no_ceiling_is_narrow() -> None:
    assert halve(make_fabric()) == (400, ["4 cables node to leaf"], True)
    assert halve(make_fabric(spine="backplane: {rate: 800 Gb/s}"))[2]


def test_backplanes_of_the_spines() -> None:
    assert halve(make_fabric(spine="backplane: {rate: 150 Gb/s}")) == (300, ["backplane of 2 spine switches"], False)


def test_a_line_card_that_both_cables_pass_is_passed_once_each_way() -> None:
    """Traffic from leaf1 enters by the card and leaves by it: each direction by itself."""
    assert halve(make_fabric(spine='card: {ports: "[1-2]", rate: 120 Gb/s}'))[0] == pytest.approx(240)


def test_slots_of_nodes() -> None:
    bound, places, _ = halve(make_fabric(node="slot: {pcie: {generation: 3, lanes: 8}}"))
    assert bound == pytest.approx(4 * 52.95, rel=1e-3)
    assert places == ["slot (PCIe 3.0 x8) of 4 nodes"]


def test_a_cut_that_fails_its_certificate_is_told_and_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ArithmeticError("the optimum of the linear program fails its certificate")

    monkeypatch.setattr("benchconsole.topology.analysis.bisection.find_limited_cut", fail)
    stated = "stated: [{bisection: 300 Gb/s}]"
    report = make_static_report(make_fabric(spine="backplane: {rate: 150 Gb/s}", stated=stated))
    assert (report.bisection.halves, report.claims[0].outcome) == (None, ClaimOutcome.UNKNOWN)
    assert "fails its certificate" in report.bisection.refused


def test_the_finding_names_the_ceiling() -> None:
    report = analyse_bisection(make_tables(make_fabric(spine="backplane: {rate: 150 Gb/s}")))
    assert next(list_findings(report)).text == (
        "the halves n[1-4] and n[5-8] can exchange at most 300 Gb/s in each direction: backplane of 2 spine switches; "
        "the least that was found, others may have less"
    )


@pytest.mark.parametrize(
    ("stated", "before", "after"),
    [
        ("bisection: 400 Gb/s", ClaimOutcome.HOLDS, ClaimOutcome.CONTRADICTED),
        ("bisection: 300 Gb/s", ClaimOutcome.HOLDS, ClaimOutcome.HOLDS),
        ("bisection: 300 Gb/s, of: leaf", ClaimOutcome.HOLDS, ClaimOutcome.UNKNOWN),
        ('oversubscription: "1:2", of: leaf', ClaimOutcome.HOLDS, ClaimOutcome.UNKNOWN),
        ('oversubscription: "1:1"', ClaimOutcome.HOLDS, ClaimOutcome.UNKNOWN),
        ('oversubscription: "1:3", of: leaf', ClaimOutcome.CONTRADICTED, ClaimOutcome.CONTRADICTED),
    ],
)
def test_claims(stated: str, before: ClaimOutcome, after: ClaimOutcome) -> None:
    (plain,) = make_static_report(make_fabric(stated=f"stated: [{{{stated}}}]")).claims
    (narrow,) = make_static_report(make_fabric(spine="bp: {rate: 150 Gb/s}", stated=f"stated: [{{{stated}}}]")).claims
    assert (plain.outcome, narrow.outcome) == (before, after)


def test_slots_of_nodes_leave_ratios_as_they_are() -> None:
    """They lower what comes up, so a ratio that holds by the cables holds."""
    described = make_fabric(node="slot: {rate: 10 Gb/s}", stated='stated: [{oversubscription: "1:2", of: leaf}]')
    assert make_static_report(described).claims[0].outcome is ClaimOutcome.HOLDS


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_equals_a_maximum_flow(data: st.DataObject) -> None:
    """Switches in any graph, with backplanes, and nodes with slots: two vertices for each device."""
    switches = data.draw(st.integers(2, 5))
    nodes = data.draw(st.integers(2, 6))
    rate = st.sampled_from([10, 25, 40, 100])
    ceiling = st.one_of(st.none(), st.sampled_from([5, 30, 45, 130]))
    homes = [data.draw(st.integers(1, switches)) for _ in range(nodes)]
    cables = [(f"n{number}", f"s{home}", data.draw(rate)) for number, home in enumerate(homes, 1)]
    for low in range(1, switches + 1):
        for high in range(low + 1, switches + 1):
            speeds = data.draw(st.lists(rate, max_size=1))
            cables += [(f"s{low}", f"s{high}", speed) for speed in speeds]
    limits = {f"s{number}": data.draw(ceiling) for number in range(1, switches + 1)}
    limits |= {f"n{number}": data.draw(ceiling) for number in range(1, nodes + 1)}
    sides = [data.draw(st.sampled_from(("near", "far", "none"))) for _ in range(nodes)]
    sides[:2] = ["near", "far"]
    near, far = ([f"n{at}" for at, side in enumerate(sides, 1) if side == name] for name in ("near", "far"))

    def describe(name: str, more: str = "") -> str:
        inside = f"ceilings: {{all: {{rate: {limits[name]} Gb/s}}}}" if limits[name] else ""
        return f"{name}: {{{', '.join(filter(None, (more, inside)))}}}"

    text = (
        "schema: 1\nfabric: x\nswitches: {"
        + ", ".join(describe(f"s{number}", "role: leaf") for number in range(1, switches + 1))
        + "}\nnodes: {"
        + ", ".join(describe(f"n{number}") for number in range(1, nodes + 1))
        + "}\nlinks:\n"
        + "".join(f"  - {{from: {a}, to: {b}, speed: {speed} Gb/s}}\n" for a, b, speed in cables)
    )
    graph = nx.DiGraph()
    for name, limit in limits.items():
        inner = {} if limit is None else {"capacity": limit}
        graph.add_edge(f"{name} in", name, **inner)
        graph.add_edge(name, f"{name} out", **inner)
    for a, b, speed in cables:
        for one, other in ((a, b), (b, a)):
            # A node sends or receives, and passes nothing on.
            if (one[0] != "n" or one in near) and (other[0] != "n" or other in far):
                graph.add_edge(f"{one} out", f"{other} in", capacity=speed)
    for name in near:
        graph.add_edge("source", name)
    for name in far:
        graph.add_edge(name, "sink")
    expected = nx.maximum_flow_value(graph, "source", "sink")
    found = find_cut(make_tables(load_text(text, "drawn.yaml")), near, far)
    assert found.bound / GIGABIT == pytest.approx(expected, rel=1e-9)
    assert (found.near, found.far) == (len(near), len(far))


def test_ceilings_with_ports_in_common(tmp_path: Path) -> None:
    """Neither has all ports of the other: p1 and p2 pass 60 together, p2 and p3 pass 50."""
    text = """\
schema: 1
fabric: x
switches: {s: {role: leaf}}
nodes:
  a: {ceilings: {one: {ports: "p1,p2", rate: 60 Gb/s}, two: {ports: "p2,p3", rate: 50 Gb/s}}}
  b: {}
links:
  - {from: "a:p1", to: "s:1", speed: 40 Gb/s}
  - {from: "a:p2", to: "s:2", speed: 40 Gb/s}
  - {from: "a:p3", to: "s:3", speed: 40 Gb/s}
  - {from: "b:p1", to: "s:4", speed: 400 Gb/s}
"""
    assert find_cut(make_tables(fabric(tmp_path, text)), ["a"], ["b"]).bound / GIGABIT == pytest.approx(90)
