"""Promises that every plan keeps, on fabrics that nobody chose: nothing above its budget, nobody left out (F46)."""

from collections.abc import Sequence
from itertools import permutations
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Demands
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import FULL, Round
from benchconsole.probes.planning.plan_rounds import split_into_waves
from benchconsole.probes.planning.plan_summary import summarise
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.access import Caps
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.routing.routes import Routes
from tests.fabrics import are_connected
from tests.probes.planning.plan_referee import missing, violations
from tests.probes.planning.suites import ALONE, Played, clos, planned
from tests.topology.fabrics import networks

pytestmark = pytest.mark.fault("F46")

PROBES = {"iperf3": Iperf3()}
DESIGNS = ["neighbours", "trunks", "star", "permutation", "all-pairs", "sample", "steered"]


def options(design: str, fabric: Fabric) -> dict[str, Any]:
    wanted: dict[str, dict[str, Any]] = {"star": {"servers": next(iter(fabric.nodes))}, "sample": {"fraction": 0.5}}
    return wanted.get(design, {})


def laid(fabric: Fabric, design: str, streams: int | None) -> tuple[Round, ...]:
    """The plan of a design; no example where the fabric has nothing for it."""
    written = options(design, fabric) | ({"streams": streams} if streams and design != "steered" else {})
    try:
        return planned(fabric, design, **written)
    except PlanError as error:
        assume("nothing to run" not in str(error))
        raise


def kept(fabric: Fabric, rounds: tuple[Round, ...]) -> None:
    assert [str(each) for each in violations(fabric, rounds, PROBES)] == []
    ids = [test.id for each in rounds for test in each.tests]
    assert len(set(ids)) == len(ids)
    assert [each.number for each in rounds] == list(range(1, len(rounds) + 1))


def stays_within(text: str, design: str, streams: int | None) -> None:
    """A plan keeps what it promises, and loads nothing beyond what it carries but on purpose."""
    fabric = load_text(text, "drawn.yaml")
    rounds = laid(fabric, design, streams)
    kept(fabric, rounds)
    summary = summarise(fabric, rounds, PROBES)
    assert 1 <= summary.total.bound <= summary.total.rounds
    if summary.total.link is not None and not summary.total.link.meant:
        assert summary.total.link.share <= 1 + 1e-6


@pytest.mark.fault("I21")
@given(clos(), st.sampled_from(DESIGNS), st.sampled_from([None, 1, 8]))
@settings(max_examples=60, deadline=None)
def test_no_link_is_ever_above_its_budget(text: str, design: str, streams: int | None) -> None:
    stays_within(text, design, streams)


@given(clos(ceilings=True), st.sampled_from(DESIGNS), st.sampled_from([None, 1, 8]))
@settings(max_examples=60, deadline=None)
def test_nor_any_ceiling_inside_a_device(text: str, design: str, streams: int | None) -> None:
    stays_within(text, design, streams)


@pytest.mark.fault("I21")
@given(networks(), st.sampled_from(["all-pairs", "permutation", "sample", "steered", "trunks"]))
@settings(max_examples=30, deadline=None)
def test_nor_on_pairs_of_switches_bonds_and_split_lines(fabric: Fabric, design: str) -> None:
    kept(fabric, laid(fabric, design, None))


@given(clos(), st.sampled_from([None, 1]))
@settings(max_examples=30, deadline=None)
def test_every_pair_runs_exactly_once(text: str, streams: int | None) -> None:
    fabric = load_text(text, "drawn.yaml")
    assume(len(fabric.nodes) > 1)
    routes = Routes(fabric)
    wanted = {pair for pair in permutations(fabric.nodes, 2) if are_connected(routes, *pair)}
    assume(wanted)
    rounds = laid(fabric, "all-pairs", streams)
    assert missing(rounds, wanted) == set()
    assert sum(len(each.tests) for each in rounds) == len(wanted)
    assert all(each.tests for each in rounds), "a round without tests would only cost time"


@given(clos(), st.sampled_from(DESIGNS), st.floats(0.05, 0.95), st.booleans())
@settings(max_examples=40, deadline=None)
def test_with_a_cap_nothing_is_loaded_above_it_whatever_the_design(
    text: str, design: str, share: float, storage: bool
) -> None:
    fabric = load_text(text, "drawn.yaml")
    caps = Caps(share, MappingProxyType({"fs": 1e8} if storage else {}))
    if storage and "st1" in fabric.nodes:
        text = text.replace("links:", 'storage: {fs: {servers: "st[1-2]"}}\nlinks:')
        fabric = load_text(text, "drawn.yaml")
    fabric = replace(fabric, caps=caps if "fs" in fabric.storage else Caps(share))
    rounds = laid(fabric, design, None)
    kept(fabric, rounds)
    for each in rounds:
        assert all(test.target.options["bitrate"] for test in each.tests)
        assert all(bundle.fill <= share * (1 + 1e-9) for bundle in each.bundles)
        assert all(bundle.fill < FULL for bundle in each.bundles if share < FULL)


@given(clos(), st.sampled_from(DESIGNS), st.integers(1, 12), st.sampled_from([None, 0.3]))
@settings(max_examples=40, deadline=None)
def test_no_round_has_more_tests_than_are_allowed_whatever_the_design(
    text: str, design: str, most: int, share: float | None
) -> None:
    fabric = replace(load_text(text, "drawn.yaml"), caps=Caps(share))
    try:
        rounds = planned(fabric, design, most=most, **options(design, fabric))
    except PlanError as error:
        assume("nothing to run" not in str(error))
        raise
    kept(fabric, rounds)
    assert max(len(each.tests) for each in rounds) <= most
    total = summarise(fabric, rounds, PROBES, most=most).total
    assert -(-total.tests // most) <= total.bound <= total.rounds


@pytest.mark.fault("I21")
@given(clos(), st.sampled_from(["neighbours", "trunks", "all-pairs"]))
@settings(max_examples=30, deadline=None)
def test_waves_keep_every_promise_and_every_test(text: str, design: str) -> None:
    fabric = load_text(text, "drawn.yaml")
    rounds = laid(fabric, design, None)
    grown = split_into_waves(rounds)
    kept(fabric, grown)

    def keys(found: tuple[Round, ...]) -> list[str]:
        return [test.target.key for each in found for test in each.tests]

    assert keys(grown) == keys(rounds)


TWO = """\
schema: 1
fabric: two
switches: {"leaf[1-2]": {role: leaf}, spine: {role: spine}}
nodes: {"a[1-3]": {}, "b[1-3]": {}}
storage: {fs: {size: 1 TB, free: 10 %}}
links:
  - {from: "a[1-3]", to: leaf1, speed: 10G}
  - {from: "b[1-3]", to: leaf2, speed: 10G}
  - {from: "leaf[1-2]", to: spine, speed: 10G}
"""


def at_once(rounds: Sequence[Round]) -> list[Round]:
    """The tests of all rounds in one, as an operator in a hurry would run them."""
    tests = tuple(test for each in rounds for test in each.tests)
    return [replace(rounds[0], tests=tests, bundles=tuple(bundle for each in rounds for bundle in each.bundles))]


CARDS = """\
schema: 1
fabric: cards
switches:
  "leaf[1-2]": {role: leaf, ceilings: {"card[1-2]": {ports: "[1-6]", rate: 22G}, uplinks: {ports: "u[1-4]", rate: 35G}}}
  spine: {role: spine, ceilings: {"card[1-2]": {ports: "[1-8]", rate: 24G}, plane: {rate: 70G}}}
nodes:
  "a[1-5]": {}
  a6: {ceilings: {"slot[1-2]": {ports: "p[1-2]", rate: 6G}}}
  "b[1-6]": {ceilings: {numa: {rate: 9G}}}
links:
  - {from: "a[1-5]", to: "leaf1:[1-5]", speed: 10G}
  - {from: "a6:p[1-2]", to: "leaf1:6,7", speed: 10G, count: 2}
  - {from: "b[1-6]", to: "leaf2:[1-6]", speed: 10G}
  - {from: "leaf[1-2]:u[1-4]", to: "spine:[1-8]", speed: 10G, count: 4}
"""


@pytest.mark.parametrize("streams", [None, 1])
@pytest.mark.parametrize("design", DESIGNS)
def test_line_cards_and_slots_are_never_above_what_they_pass(design: str, streams: int | None) -> None:
    fabric = load_text(CARDS, "cards.yaml")
    kept(fabric, laid(fabric, design, streams))


def test_the_verifier_sees_links_above_what_they_carry() -> None:
    fabric = load_text(TWO, "two.yaml")
    found = {each.what: each for each in violations(fabric, at_once(planned(fabric, "all-pairs")), PROBES)}
    over = found["leaf1--spine from leaf1 in B/s"]
    assert over.found == pytest.approx(9 * over.allowed)


def test_the_verifier_sees_ceilings_above_what_they_pass() -> None:
    fabric = load_text(
        TWO.replace("spine: {role: spine}", "spine: {role: spine, ceilings: {plane: {rate: 8G}}}"), "x.yaml"
    )
    found = {each.what: each for each in violations(fabric, at_once(planned(fabric, "all-pairs")), PROBES)}
    over = found["ceiling plane into spine in B/s"]
    assert over.found == pytest.approx(18 * over.allowed)


def test_the_verifier_sees_strangers_on_the_links_of_a_bundle() -> None:
    fabric = load_text(TWO, "two.yaml")
    rounds = [*planned(fabric, "trunks"), *planned(fabric, "permutation", shift=3)]
    assert any("is in" in each.what for each in violations(fabric, at_once(rounds), PROBES))


@pytest.mark.parametrize(
    ("wanted", "what"),
    [
        (ALONE, "a1 in tests, one of which wants it alone"),
        (Demands(shared={"filesystem:fs": 20e9}), "filesystem:fs"),
        (Demands(shared={"licence:solver": 1}), "licence:solver"),
    ],
)
def test_the_verifier_sees_what_nodes_and_budgets_cannot_give(wanted: Demands, what: str) -> None:
    fabric = load_text(TWO, "two.yaml")
    probe = Played(wanted=wanted)
    rounds = at_once([*planned(fabric, probe=probe), *planned(fabric, probe=probe)])
    assert what in {each.what for each in violations(fabric, rounds, {"played": probe})}


def test_the_verifier_sees_caps_passed_and_pairs_missed() -> None:
    fabric = load_text(TWO, "two.yaml")
    rounds = planned(fabric, "all-pairs")
    capped = replace(fabric, caps=Caps(0.5))
    assert {each.round for each in violations(capped, rounds, PROBES)} == {each.number for each in rounds}
    last = rounds[-1].tests[-1].target
    assert last.peer is not None
    without = [*rounds[:-1], replace(rounds[-1], tests=rounds[-1].tests[:-1])]
    assert missing(without, set(permutations(fabric.nodes, 2))) == {(last.node.id, last.peer.id)}
