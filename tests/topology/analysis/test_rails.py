"""Rails and planes: what each carries, what its loss means, who lacks one; the order of the file changes nothing."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.analysis.rails import RailSet, analyse_rails, list_findings
from benchconsole.topology.analysis.static_finding import Severity
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.network import Parallel

GIGABIT = 1.25e8


def analyse(*links: str, switches: str, nodes: str = '"g[1-8]": {}', network: str = "") -> tuple[RailSet, ...]:
    head = f"schema: 1\nfabric: x\nnetwork: {{goodput: 100 %{network}}}\nswitches: {{{switches}}}\nnodes: {{{nodes}}}\n"
    return analyse_rails(load_text(head + "links:\n" + "".join(f"  - {{{link}}}\n" for link in links), "x.yaml"))


RAILS = 'from: "g[1-8]:p[1-4]", to: "rail[1-4]", speed: 100G'
UP = 'from: "rail[1-4]", to: s, speed: 200G'
SWITCHES = '"rail[1-4]": {}, s: {role: spine}'


def test_rails_do_not_stand_in_for_each_other() -> None:
    (found,) = analyse(RAILS, UP, switches=SWITCHES)
    assert (found.kind, found.is_inferred) == (Parallel.RAILS, True)
    assert [rail.name for rail in found.rails] == ["p1", "p2", "p3", "p4"]
    first = found.rails[0]
    assert (first.switches, first.capacity, first.left) == (("rail1",), 800 * GIGABIT, 0.75)
    assert first.halves is not None
    assert first.halves.bound == pytest.approx(400 * GIGABIT)  # half of the ports; what goes over the spine comes back
    (finding,) = list_findings([found])
    assert (finding.severity, finding.code) == (Severity.WARNING, "rail-loss")
    assert finding.text.startswith(
        "the loss of one rail of 4 (p[1-4] to rail[1-4]) stops collectives over all rails of 8 nodes; "
        "75 % of their capacity remains for what uses the others (rails by their names; legs: planes of the network"
    )


def test_the_file_says_what_legs_are() -> None:
    (found,) = analyse(RAILS, UP, switches=SWITCHES, network=", legs: planes")
    assert (found.kind, found.is_inferred) == (Parallel.PLANES, False)
    (finding,) = list_findings([found])
    assert (finding.severity, finding.code) == (Severity.NOTE, "plane-loss")
    assert finding.text.endswith(
        "cuts off none of 8 nodes with ports in several: planes stand in; 75 % of their capacity remains"
    )
    links = [each.replace("rail", "leaf") for each in (RAILS, UP)]
    switches = SWITCHES.replace("rail", "leaf")
    (found,) = analyse(*links, switches=switches, network=", legs: rails")
    assert (found.kind, found.is_inferred) == (Parallel.RAILS, False)
    assert not analyse(*links, switches=switches)  # ports into one fabric: nothing says what they are to each other


def test_planes_are_parts_without_a_cable_between_them() -> None:
    links = 'from: "g[1-8]", to: "a,b", speed: 25G'
    (found,) = analyse(links, switches="a: {}, b: {}")
    assert (found.kind, [rail.name for rail in found.rails]) == (Parallel.PLANES, ["a", "b"])
    assert [rail.halves and rail.halves.bound for rail in found.rails] == pytest.approx([100 * GIGABIT] * 2)
    assert not analyse(links, "from: a, to: b, speed: 25G", switches="a: {}, b: {}")
    assert not analyse('from: "g[1-8]", to: "a,b", speed: 25G, bond: active-backup', switches="a: {}, b: {}")


def test_rails_without_names_of_ports_are_leaf_switches() -> None:
    (found,) = analyse('from: "g[1-8]", to: "rail[1-4]", speed: 100G', UP, switches=SWITCHES)
    assert [rail.name for rail in found.rails] == ["rail1", "rail2", "rail3", "rail4"]
    (finding,) = list_findings([found])
    assert "one rail of 4 (rail[1-4])" in finding.text


def test_nodes_that_lack_a_rail_of_their_like_are_named() -> None:
    some = 'from: "g[5-8]:p[1-3]", to: "rail[1-3]", speed: 100G'
    (found,) = analyse(RAILS.replace("1-8", "1-4"), some, UP, switches=SWITCHES)
    finding = next(each for each in list_findings([found]) if each.code == "rail-missing")
    assert finding.text == "4 of 8 nodes that have ports of one kind lack p4: g[5-8]"
    assert found.rails[3].left == 0.75
    assert found.rails[0].left == pytest.approx(1 - 800 / 2800)
    one = 'from: "g[5-8]:p1", to: rail1, speed: 100G'
    (found,) = analyse('from: "g[1-4]:p[1-2]", to: "rail[1-2]", speed: 100G', one, UP, switches=SWITCHES)
    finding = next(each for each in list_findings([found]) if each.code == "rail-missing")
    assert finding.text == "4 of 8 nodes that have ports of one kind lack p2: g[5-8]"
    others = '"g[1-4]": {}, "g[5-8]": {role: storage}'
    (found,) = analyse(RAILS.replace("1-8", "1-4"), some, UP, switches=SWITCHES, nodes=others)
    assert not any(rail.lacking for rail in found.rails)


@given(st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_the_order_of_the_file_changes_nothing(chance: random.Random) -> None:
    links = [
        f'from: "g{node}:p{port}", to: rail{port}, speed: {chance.choice((50, 100))}G'
        for node in range(1, 9)
        for port in range(1, 5)
        if chance.random() < 0.9
    ]

    def describe(each: list[str]) -> object:
        return [
            (
                found.kind,
                sorted(
                    (rail.name, sorted(rail.nodes), rail.capacity, round(rail.left, 9), sorted(rail.lacking),
                     rail.halves and rail.halves.bound)
                    for rail in found.rails
                ),
            )
            for found in analyse(*each, UP, switches=SWITCHES)
        ]  # fmt: skip

    assert describe(links) == describe(chance.sample(links, len(links)))
