"""Nodes in use: what is refused and why, what may pass, and overrides that name what they mean."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Probe, Safety
from benchconsole.probes.model.measuring import Round, Target, Test
from benchconsole.probes.running.guards.in_use import (
    InUse,
    InUseOverride,
    OverrideError,
    find_refusals,
    format_override,
)
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, NodeId
from tests.probes.played import Alone, Pair

pytestmark = pytest.mark.fault("F45")

FILE = """\
schema: 1
fabric: busy
switches: {leaf1: {}}
nodes:
  n[1-4]: {}
  p[1-2]: {production: true}
  vm[1-2]: {host: n4}
links: [{from: "n[1-4],p[1-2]", to: leaf1, speed: 10G}]
"""


class Loads(Pair):
    safety = Safety.LOADS


class Writes(Alone):
    name = "writes"
    safety = Safety.DESTROYS


PROBES: Mapping[str, Probe] = {"iperf3": Loads(), "inventory": Alone(), "writes": Writes()}
NAMES = ["n1", "n2", "n3", "n4", "p1", "p2", "vm1", "vm2"]


@pytest.fixture(scope="module")
def fabric() -> Fabric:
    return load_text(FILE, "busy.yaml")


def a_round(fabric: Fabric, probe: str, *names: str) -> Round:
    nodes = [fabric.nodes[NodeId(name)] for name in names]
    members = tuple(nodes) if len(nodes) > 2 else ()
    target = Target(nodes[0], nodes[1] if len(nodes) == 2 else None, members=members)
    return Round(1, probe, probe, (Test("t", probe, target, 1),), 1.0, "because")


def override(production: str = "", busy: str = "", who: str = "alice") -> InUseOverride:
    return InUseOverride(frozenset(map(NodeId, production.split())), frozenset(map(NodeId, busy.split())), who)


def test_a_production_node_is_refused_and_a_busy_one_too(fabric: Fabric) -> None:
    found = find_refusals(
        fabric, [a_round(fabric, "iperf3", "n1", "p2")], PROBES, {"n1": "job 4711 of alice, 3 h left"}
    )
    assert [(each.node, each.why) for each in found] == [("n1", InUse.BUSY), ("p2", InUse.PRODUCTION)]
    assert str(found[0]) == "n1: job 4711 of alice, 3 h left; it would be loaded by iperf3"
    assert str(found[1]) == "p2: tagged production in the topology file; it would be loaded by iperf3"


def test_reading_is_allowed_and_so_are_nodes_that_are_only_near(fabric: Fabric) -> None:
    everything = dict.fromkeys(NAMES, "job 1")
    assert find_refusals(fabric, [a_round(fabric, "inventory", "p1")], PROBES, everything) == ()
    assert find_refusals(fabric, [a_round(fabric, "iperf3", "n1", "n2")], PROBES, {"n3": "job 1"}) == ()


def test_every_member_of_a_set_counts_and_destroying_is_loading(fabric: Fabric) -> None:
    found = find_refusals(fabric, [a_round(fabric, "writes", "n1", "n2", "p1")], PROBES, {"n2": ""})
    assert [(each.node, each.detail) for each in found] == [
        ("n2", "in use by others"),
        ("p1", "tagged production in the topology file"),
    ]


def test_a_probe_that_nobody_knows_is_taken_to_load(fabric: Fabric) -> None:
    assert find_refusals(fabric, [a_round(fabric, "stranger", "p1")], PROBES, {})


def test_a_virtual_machine_loads_its_host_and_its_neighbours(fabric: Fabric) -> None:
    found = find_refusals(fabric, [a_round(fabric, "iperf3", "vm1", "n1")], PROBES, {"n4": "job 2", "vm2": "job 3"})
    assert [(each.node, each.loaded) for each in found] == [("n4", ("vm1",)), ("vm2", ("vm1",))]
    assert "n4 (the machine of vm1): job 2" in str(found[0])
    assert find_refusals(fabric, [a_round(fabric, "writes", "n4")], PROBES, {"vm2": "job 3"})[0].loaded == ("n4",)


def test_an_override_lets_pass_what_it_names_and_nothing_else(fabric: Fabric) -> None:
    rounds, occupied = [a_round(fabric, "iperf3", "p1", "p2")], {"p1": "job 9"}
    left = find_refusals(fabric, rounds, PROBES, occupied, override("p1"))
    assert [(each.node, each.why) for each in left] == [("p1", InUse.BUSY), ("p2", InUse.PRODUCTION)]
    assert find_refusals(fabric, rounds, PROBES, occupied, override("p1 p2", "p1")) == ()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (override("vm3"), "unknown node vm3 in an override, did you mean vm"),
        (override(busy="x[1-2]"), "unknown node"),
        (override("n1"), "n1 in an override: not tagged production"),
        (override("p1", who=" "), "expected who answers for it"),
        (override(busy="n1", who=""), "expected who answers for it"),
    ],
)
def test_an_override_that_cannot_be_meant_is_an_error(fabric: Fabric, given: InUseOverride, message: str) -> None:
    with pytest.raises(OverrideError, match="override") as caught:
        find_refusals(fabric, [], PROBES, {}, given)
    assert message in str(caught.value)


def test_an_override_is_recorded_with_the_name_of_who_gave_it() -> None:
    assert format_override(override("p2 p1", "n1 n2")) == {
        "override.production": "p[1-2]", "override.busy": "n[1-2]", "override.by": "alice",
    }  # fmt: skip
    assert format_override(override(busy="n1")) == {"override.busy": "n1", "override.by": "alice"}
    assert format_override(InUseOverride()) == format_override(override()) == {}


SETS = st.frozensets(st.sampled_from([NodeId(name) for name in NAMES]))


@settings(max_examples=150, deadline=None)
@given(
    fabric=st.just(load_text(FILE, "busy.yaml")),
    tests=st.lists(st.tuples(st.sampled_from(["iperf3", "inventory", "writes"]), st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=6),
    occupied=st.dictionaries(st.sampled_from([*NAMES, "elsewhere"]), st.text(max_size=8), max_size=5),
    production=st.frozensets(st.sampled_from([NodeId("p1"), NodeId("p2")])),
    busy=SETS,
)  # fmt: skip
def test_nothing_that_somebody_needs_is_loaded_unnamed(
    fabric: Fabric, tests: list[tuple[str, str, str]], occupied: dict[str, str],
    production: frozenset[NodeId], busy: frozenset[NodeId],
) -> None:  # fmt: skip
    """Whatever is asked: every loaded node in use is refused or named, and every refusal has its ground."""
    rounds = [a_round(fabric, probe, *dict.fromkeys((one, other))) for probe, one, other in tests]
    found = {
        (each.node, each.why)
        for each in find_refusals(fabric, rounds, PROBES, occupied, InUseOverride(production, busy, "a"))
    }
    loaded = {name for probe, *pair in tests if probe != "inventory" for name in pair}
    needed = {(NodeId(name), InUse.PRODUCTION) for name in ("p1", "p2")}
    needed |= {(NodeId(name), InUse.BUSY) for name in occupied if name in NAMES}
    named = {(name, InUse.PRODUCTION) for name in production} | {(name, InUse.BUSY) for name in busy}
    assert {each for each in needed - named if each[0] in loaded} <= found <= needed - named
    for node, _ in found:
        machine = {"n4", "vm1", "vm2"} if node in ("n4", "vm1", "vm2") else {node}
        assert machine & loaded
