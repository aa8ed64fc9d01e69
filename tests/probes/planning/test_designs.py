"""Designs: who sends to whom, what is refused, and how even a sample is."""

from collections import Counter
from itertools import permutations
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import FULL, Round
from benchconsole.probes.planning.designs import DESIGNS
from benchconsole.probes.planning.plan_rounds import DESIGN_OPTIONS
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.access import Caps
from benchconsole.topology.model.fabric import Fabric, Flow, NodeId
from benchconsole.topology.routing.routes import Routes
from tests.fabrics import SMALL, are_connected, fabric
from tests.probes.judging.rounds import star
from tests.probes.planning.suites import Both, clos, planned

TWO_TO_ONE = SMALL.replace(
    '"leaf[1-2]", to: "spine[1-2]", speed: 10 Gb/s, count: 2', '"leaf[1-2]", to: "spine[1-2]", speed: 10 Gb/s'
)


def routed(routes: Routes, source: str, sink: str) -> bool:
    """Whether there is a path, and none that goes down to a switch and up from it again."""
    if not are_connected(routes, source, sink):
        return False
    tier = routes.fabric.tier
    ways = [(way.source, routes.fabric.links[way.link].other(way.source)) for way in routes.shares(source, sink)]
    entered = {there for here, there in ways if tier(there) < tier(here)}
    return entered.isdisjoint(here for here, there in ways if tier(there) > tier(here) > 0)


def pairs(rounds: tuple[Round, ...]) -> list[tuple[str, str]]:
    return [(test.target.node.id, test.target.peer.id) for each in rounds for test in each.tests if test.target.peer]


def test_a_star_has_every_node_with_every_server_both_ways(tmp_path: Path) -> None:
    """But the servers with each other: their spines are joined by way of a leaf only."""
    rounds = planned(fabric(tmp_path), "star", servers="st[1-2]")
    nodes = [f"n{i}" for i in range(1, 9)]
    wanted = {pair for server in ("st1", "st2") for node in nodes for pair in ((server, node), (node, server))}
    assert set(pairs(rounds)) == wanted
    assert len(pairs(rounds)) == len(wanted)


def test_a_star_serves_as_many_at_once_as_the_links_of_the_server_carry(tmp_path: Path) -> None:
    """st1 has 40 Gb/s, a node 10."""
    rounds = planned(fabric(tmp_path), "star", servers="st1")
    served = Counter(each.number for each in rounds for test in each.tests if test.target.node.id == "st1")
    assert max(served.values()) == 4
    assert len(rounds) == 2


@pytest.mark.parametrize(("fit", "at_once"), [(0.99, 1), (1.99, 1), (2.0, 2), (2.01, 2), (3.0, 3)])
def test_a_star_serves_as_many_at_once_as_the_cap_of_the_storage_system_allows(
    tmp_path: Path, fit: float, at_once: int
) -> None:
    """``fit`` nodes at their full rate, whether they read or write: none is slowed down for another one."""
    text = SMALL.replace("links:", 'storage: {fs: {servers: "st1"}}\nlinks:')
    plain = fabric(tmp_path, text)
    rate = plain.payload(plain.links_at["n1"][0])
    rounds = planned(replace(plain, caps=Caps(None, MappingProxyType({"fs": fit * rate}))), "star", servers="st1")
    assert max(len(each.tests) for each in rounds) == at_once


def test_a_permutation_at_two_to_one_takes_two_rounds(tmp_path: Path) -> None:
    rounds = planned(fabric(tmp_path, TWO_TO_ONE), "permutation", shift=4, nodes=[f"n{i}" for i in range(1, 9)])
    assert [len(each.tests) for each in rounds] == [4, 4]
    assert set(pairs(rounds)) == {(f"n{i}", f"n{(i + 3) % 8 + 1}") for i in range(1, 9)}


@pytest.mark.parametrize(("most", "sizes"), [(7, [7, 1]), (8, [8]), (9, [8])])
def test_a_round_has_as_many_tests_as_are_made_ready_at_once(most: int, sizes: list[int]) -> None:
    rounds = planned(star(), "permutation", shift=1, most=most)
    assert sorted((len(each.tests) for each in rounds), reverse=True) == sizes
    assert set(pairs(rounds)) == {(f"n{place}", f"n{place % 8 + 1}") for place in range(1, 9)}


def test_a_drawn_permutation_is_drawn_again_alike_and_leaves_nobody_alone(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    one, same, other = (planned(described, "permutation", seed=seed) for seed in (1, 1, 2))
    assert pairs(one) == pairs(same) != pairs(other)
    assert {sender for sender, _ in pairs(one)} == {receiver for _, receiver in pairs(one)} == set(described.nodes)


@given(clos(), st.floats(0.05, 1.0), st.integers(0, 100))
@settings(max_examples=60, deadline=None)
def test_a_sample_meets_every_node_as_often_as_any_other(text: str, fraction: float, seed: int) -> None:
    described = load_text(text, "drawn.yaml")
    routes = Routes(described)
    every = [pair for pair in permutations(described.nodes, 2) if routed(routes, *pair)]
    assume(len(every) == len(described.nodes) * (len(described.nodes) - 1) > 0)
    met = pairs(planned(described, "sample", fraction=fraction, seed=seed))
    assert len(met) == len(set(met)) == max(round(fraction * len(every)), 1)
    quota = -(-len(met) // len(described.nodes))
    for ends in zip(*met, strict=True):
        assert max(Counter(ends).values()) <= quota + max(quota // 4, 1)


@pytest.mark.parametrize("wanted", [267, 268, 269, 305, 306])
def test_a_sample_is_as_large_as_it_was_asked_for_where_groups_differ_in_size(wanted: int) -> None:
    """Four leaves of four and two servers on the spine: all but a few of 306 pairs."""
    lines = ["schema: 1", "fabric: uneven", "switches: {spine: {role: spine}, 'leaf[1-4]': {role: leaf}}", "nodes:"]
    lines += ["  'st[1-2]': {role: storage}", *(f"  l{leaf}n[1-4]: {{}}" for leaf in range(1, 5)), "links:"]
    lines += ['  - {from: "leaf[1-4]", to: spine, speed: 10G}', '  - {from: "st[1-2]", to: spine, speed: 10G}']
    lines += [f'  - {{from: "l{leaf}n[1-4]", to: leaf{leaf}, speed: 10G}}' for leaf in range(1, 5)]
    met = pairs(planned(load_text("\n".join(lines), "uneven.yaml"), "sample", pairs=wanted, seed=0))
    assert len(set(met)) == wanted


def test_a_sample_meets_every_pair_of_leaves_before_any_twice() -> None:
    """Eight leaves of eight: 64 pairs of leaves, 64 nodes, one partner each."""
    lines = ["schema: 1", "fabric: even", "switches: {spine: {role: spine}, 'leaf[1-8]': {role: leaf}}", "nodes:"]
    lines += [f"  l{leaf}n[1-8]: {{}}" for leaf in range(1, 9)]
    lines += ["links:", '  - {from: "leaf[1-8]", to: spine, speed: 100G}']
    lines += [f'  - {{from: "l{leaf}n[1-8]", to: leaf{leaf}, speed: 10G}}' for leaf in range(1, 9)]
    rounds = planned(load_text("\n".join(lines), "even.yaml"), "sample", pairs=64)
    leaves = Counter((one[:2], other[:2]) for one, other in pairs(rounds))
    assert max(leaves.values()) == 2
    assert len(leaves) >= 56
    assert "of 64 pairs of groups" in rounds[0].because


@pytest.mark.parametrize(
    ("design", "options", "words"),
    [
        ("permutaton", {}, "unknown design 'permutaton', expected one of all-pairs, .*did you mean permutation"),
        ("star", {"server": "st1"}, "unknown option of iperf3 star 'server'.*did you mean servers"),
        ("neighbours", {"seed": 3}, "unknown option of iperf3 neighbours 'seed'"),
        ("star", {"servers": "st9"}, "option servers: unknown node st9"),
        ("star", {}, "found none and no management node"),
        ("permutation", {"shift": 99}, "option shift: found 99, expected a whole number 0 to 9"),
        ("permutation", {"shift": 1, "seed": 2}, "expected one of them"),
        ("sample", {}, "found fraction 0 and pairs 0, expected one of them above 0"),
        ("sample", {"fraction": 0.1, "pairs": 3}, "expected one of them"),
        ("sample", {"fraction": 1.5}, "option fraction: found 1.5, expected a number 0 to 1"),
        ("sample", {"pairs": 91}, "expected at most the 90 directed pairs"),
        ("steered", {"partners": 0}, "option partners: found 0"),
        ("steered", {"streams": 4}, "sends one stream for each test, found streams 4"),
        ("stress", {}, "needs the option share"),
        ("stress", {"share": "leaf11"}, "unknown element of option share 'leaf11'.*did you mean leaf1"),
        ("stress", {"share": "spine1"}, "spine1 has no links above it"),
        ("trunks", {"bitrate": "480"}, "iperf3 option bitrate: found '480'"),
    ],
)
def test_what_a_design_does_not_know_is_refused(
    tmp_path: Path, design: str, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(PlanError, match=words):
        planned(fabric(tmp_path), design, **options)


def test_servers_that_were_not_selected_are_not_loaded(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="option servers: found st1, expected nodes of the selection"):
        planned(fabric(tmp_path), "star", servers="st1", nodes=["n1", "n2"])


def test_too_many_pairs_are_refused_with_a_way_out() -> None:
    lines = ["schema: 1", "fabric: many", "switches: {leaf: {role: leaf}}", "nodes: {'n[1-501]': {}}"]
    many = load_text("\n".join([*lines, "links: [{from: 'n[1-501]', to: leaf, speed: 10G}]"]), "many.yaml")
    with pytest.raises(PlanError, match="found 250,500 tests, expected at most 250,000; take design sample"):
        planned(many, "all-pairs")


def test_a_probe_without_source_ports_cannot_be_steered(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="needs a probe with an option for its source port"):
        planned(fabric(tmp_path), "steered", probe=Both())


def test_every_option_of_every_design_has_a_default_that_a_file_may_name() -> None:
    assert {name for design in DESIGNS.values() for name in design.options} <= DESIGN_OPTIONS.keys()
    assert {"per", "size", "licences"} <= DESIGN_OPTIONS.keys()


# -- stress


def stressed(described: Fabric, share: str) -> dict[str, tuple[float, list[str]]]:
    """Name of each bundle to its fill and flows."""
    found: dict[str, tuple[float, list[str]]] = {}
    for each in planned(described, "stress", share=share):
        for bundle in each.bundles:
            flows = [test.target.key for test in each.tests if test.bundle == bundle.name]
            found[bundle.name] = (bundle.fill, flows)
    return found


@pytest.mark.parametrize(
    ("share", "names"),
    [
        ("leaf1 to spine1", ["leaf1 to spine1"]),
        ("leaf1--spine1", ["leaf1 to spine1", "spine1 to leaf1"]),
        ("leaf1", ["leaf1 out", "leaf1 in"]),
        ("n1", ["n1 out", "n1 in"]),
    ],
)
def test_stress_fills_what_it_names_and_no_other_link_between_switches(
    tmp_path: Path, share: str, names: list[str]
) -> None:
    found = stressed(fabric(tmp_path, TWO_TO_ONE), share)
    assert list(found) == names
    assert all(fill >= FULL for fill, _ in found.values())


def test_stress_out_of_a_switch_fills_the_ways_that_begin_there(tmp_path: Path) -> None:
    (each,) = planned(fabric(tmp_path, TWO_TO_ONE), "stress", share="leaf1")
    sources = {bundle.name: {way.source for way in bundle.elements} for bundle in each.bundles}
    assert sources == {"leaf1 out": {"leaf1"}, "leaf1 in": {"spine1", "spine2"}}


def test_stress_offers_more_than_the_element_carries_where_there_are_senders(tmp_path: Path) -> None:
    described = fabric(tmp_path, TWO_TO_ONE)
    routes = Routes(described)
    offered: Counter[str] = Counter()
    (each,) = planned(described, "stress", share="leaf1 to spine1")
    for flow in each.flows:
        for way, share in routes.shares_of(Flow(flow.source, flow.sink)).items():
            if way.link.startswith("leaf"):
                offered[f"{way.link} {way.source}"] += round(share * 100)
    assert offered.pop("leaf1--spine1 leaf1") > 150
    assert max(offered.values()) <= 100


def test_a_storage_system_is_stressed_by_its_clients(tmp_path: Path) -> None:
    text = SMALL.replace("links:", 'storage: {fs: {servers: "st1"}}\nlinks:')
    found = stressed(fabric(tmp_path, text), "fs")
    (name,) = [name for name in found if name.startswith("st1 in")]
    fill, flows = found[name]
    assert fill >= FULL
    assert {flow.partition(">")[2] for flow in flows} == {"st1"}


@pytest.mark.parametrize(("caps", "rounds"), [({}, 1), ({"fs": 1e9}, 2)])
def test_bundles_that_ask_one_capped_storage_system_are_in_rounds_of_their_own(
    tmp_path: Path, caps: dict[str, float], rounds: int
) -> None:
    """Writes to it and reads from it share no link, but its cap."""
    text = SMALL.replace("links:", 'storage: {fs: {servers: "st1"}}\nlinks:')
    described = replace(fabric(tmp_path, text), caps=Caps(None, MappingProxyType(caps)))
    assert len(planned(described, "stress", share="fs")) == rounds


def test_an_element_that_no_flow_crosses_is_said_to_be_so(tmp_path: Path) -> None:
    text = SMALL.replace("links:", "links:\n  - {from: spine1, to: far, speed: 40 Gb/s}")
    text = text.replace("switches:", "switches:\n  far: {role: core}")
    with pytest.raises(PlanError, match="no flow between the 10 selected nodes crosses spine1 to far"):
        planned(fabric(tmp_path, text), "stress", share="spine1--far")


def test_a_virtual_machine_is_no_partner_of_its_host() -> None:
    lines = ["schema: 1", "fabric: guests", "switches: {leaf: {role: leaf}}"]
    lines += ["nodes: {'n[1-2]': {}, 'v[1-2]': {host: n1}}", "links: [{from: 'n[1-2]', to: leaf, speed: 10G}]"]
    rounds = planned(load_text("\n".join(lines), "guests.yaml"), "all-pairs")
    assert set(pairs(rounds)) == {pair for name in ("n1", "v1", "v2") for pair in ((name, "n2"), ("n2", name))}
    assert len(rounds) == 3, "they share the cable of their host"
    assert NodeId("v1") in {test.target.node.id for each in rounds for test in each.tests}


@pytest.mark.parametrize(("beyond", "fill"), [(11, 1.0), (5, 0.5)])
def test_a_trunk_is_filled_by_nodes_further_on_where_the_nearest_are_too_few(beyond: int, fill: float) -> None:
    """The first leaf can fill half of the line between two cores; the next one can fill it, if it has the nodes."""
    lines = ["schema: 1", "fabric: line", "switches: {'core[1-2]': {role: core}, 'leaf[1-3]': {role: leaf}}", "nodes:"]
    lines += ["  a[1-5]: {}", f"  b[1-{beyond}]: {{}}", "  c[1-12]: {}", "links:"]
    lines += ["  - {from: 'leaf[1-2]', to: core1, speed: 200G}", "  - {from: leaf3, to: core2, speed: 200G}"]
    lines += ["  - {from: core1, to: core2, speed: 100G}", "  - {from: 'a[1-5]', to: leaf1, speed: 10G}"]
    lines += [f"  - {{from: 'b[1-{beyond}]', to: leaf2, speed: 10G}}", "  - {from: 'c[1-12]', to: leaf3, speed: 10G}"]
    rounds = planned(load_text("\n".join(lines), "line.yaml"), "trunks")
    found = {bundle.name: bundle.fill for each in rounds for bundle in each.bundles}
    assert found["core1 to core2"] == pytest.approx(fill)
