"""Steered ports: read back, they put no two flows where one fits; without a known hash nothing rests on them."""

from collections import Counter

import pytest
from hypothesis import assume, given, settings

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.judging.round_flows import find_steered_path
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.judgement import Level
from benchconsole.probes.model.measuring import FailedAt, Failure, Round
from benchconsole.probes.planning.designs.steered import TIMES
from benchconsole.probes.planning.stream_placement import (
    FIRST_PORT,
    LAST_PORT,
    PortForks,
    StreamPaths,
    compute_most,
    make_port,
)
from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Direction, Fabric, Flow, LinkId, NodeId
from benchconsole.topology.routing.routes import Routes
from tests.fabrics import METRICS, play
from tests.probes.planning.suites import clos, planned

LAG = """\
schema: 1
fabric: lag
network: {hash: HASH}
switches: {"leaf[1-2]": {role: leaf}}
nodes: {"a[1-4]": {}, "b[1-4]": {}}
links:
  - {from: "a[1-4]", to: leaf1, speed: 10G}
  - {from: "b[1-4]", to: leaf2, speed: 10G}
  - {from: leaf1, to: leaf2, speed: 10G, count: 4}
"""
STEERED, UNKNOWN = (load_text(LAG.replace("HASH", hash_), "lag.yaml") for hash_ in ("steered", "unknown"))
TRUNK = Direction(LinkId("leaf1--leaf2"), "leaf1")


def steered(fabric: Fabric) -> tuple[Round, ...]:
    try:
        return planned(fabric, "steered", partners=2)
    except PlanError as error:
        assume("nothing to run" not in str(error))
        raise


@given(clos(steered=True))
@settings(max_examples=30, deadline=None)
def test_no_member_cable_is_given_more_than_it_carries(text: str) -> None:
    fabric = load_text(text, "drawn.yaml")
    routes = Routes(fabric)
    walks = StreamPaths(routes)
    for each in steered(fabric):
        load: Counter[tuple[int, int]] = Counter()
        for test, flow in zip(each.tests, each.flows, strict=True):
            rate = compute_most(routes.graph, [routes.route(flow)], [1])[0]
            for step in walks.path(flow, PortForks(int(test.target.options["source_port"]))):
                member = fabric.links[routes.graph.direction(step.way).link].members[step.member]
                load[step.way, step.member] += round(1000 * rate / member / fabric.goodput)
        assert max(load.values()) <= 1001


@given(clos(steered=True))
@settings(max_examples=30, deadline=None)
def test_every_flow_expects_what_one_stream_gets_alone(text: str) -> None:
    fabric = load_text(text, "drawn.yaml")
    context = JudgingContext(fabric, METRICS)
    for each in steered(fabric):
        closed = play(fabric, each, {}, noise=0.0)
        for found in context.flows.read(closed, context.criteria[-1].metric).measured(context.criteria[-1]):
            (alone,) = compute_most(context.routes.graph, [context.routes.route(found.flow)], [1])
            assert found.expected.value == pytest.approx(alone)
            forked = find_steered_path(StreamPaths(context.routes), found.result.test, found.flow)
            assert found.model == (Model.STEERED if forked else Model.FLUID).value


def test_members_of_a_lag_are_used_in_turn() -> None:
    walks = StreamPaths(Routes(STEERED))
    for each in steered(STEERED):
        across = [
            (test, flow) for test, flow in zip(each.tests, each.flows, strict=True) if flow.source[0] != flow.sink[0]
        ]
        members = [
            (TRUNK if TRUNK in found else "back", found.get(TRUNK))
            for test, flow in across
            if (found := walks.members(flow, int(test.target.options["source_port"]))) and TRUNK in found
        ]
        assert len(set(members)) == len(members)


def test_an_expectation_rests_on_the_ports_whoever_else_failed_or_is_repeated() -> None:
    context = JudgingContext(STEERED, METRICS)
    (each, *_) = steered(STEERED)
    closed = play(STEERED, each, {}, noise=0.0)
    whole = {
        one.result.test.id: one.expected.value
        for one in context.flows.read(closed, context.criteria[-1].metric).measured(context.criteria[-1])
    }
    failure = Failure(FailedAt.MISSING_TOOL, "none", each.tests[0].target.node.id)
    lost = [replace(closed.results[0], measurements=(), failure=failure), *closed.results[1:]]
    left = context.flows.read(replace(closed, results=tuple(lost)), context.criteria[-1].metric).measured(
        context.criteria[-1]
    )
    assert {one.result.test.id: one.expected.value for one in left} == {
        key: value for key, value in whole.items() if key != each.tests[0].id
    }
    verdicts = judge_round(context, closed)
    across = {verdict.source for verdict in verdicts if verdict.nodes[0][0] != verdict.nodes[1][0]}
    assert across == {"capacity (steered)"}
    assert {verdict.level for verdict in verdicts} == {Level.PASS}


def test_two_flows_put_on_one_member_expect_to_share_it() -> None:
    """Not what is planned, but what ports that collide would mean."""
    walks = StreamPaths(Routes(STEERED))
    flows = [Flow(*pair) for pair in (("a1", "b1"), ("a2", "b2"))]  # type: ignore[arg-type]
    same = {index: walks.members(flow, FIRST_PORT + 1) for index, flow in enumerate(flows)}
    halves = expect(STEERED, flows, members=same)
    other = expect(STEERED, flows, members={0: same[0], 1: walks.members(flows[1], FIRST_PORT + 2)})
    assert [2 * one.value for one in halves] == pytest.approx([one.value for one in other])


def test_every_port_means_another_way() -> None:
    text = LAG.replace("HASH", "steered").replace("leaf2: ", "").replace("speed: 10G}", "speed: 10G, count: 2}")
    fabric = load_text(text, "wide.yaml")
    walks = StreamPaths(Routes(fabric))
    flow = Flow(NodeId("a1"), NodeId("b1"))
    ways = walks.ports(flow)
    assert ways == 2 * 4 * 2
    paths = {tuple(walks.path(flow, PortForks(FIRST_PORT + number))) for number in range(ways)}
    assert len(paths) == ways
    assert FIRST_PORT + ways <= LAST_PORT
    assert make_port(iter([(1, 2), (3, 4), (1, 2)])) == FIRST_PORT + 1 + 2 * 3 + 8


def test_without_a_known_hash_no_two_tests_share_a_link_on_which_one_decides() -> None:
    routes = Routes(UNKNOWN)
    rounds = steered(UNKNOWN)
    ports = [int(test.target.options["source_port"]) for each in rounds for test in each.tests]
    assert len(set(ports)) == len(ports)
    for each in rounds:
        crossing = Counter(way for flow in each.flows for way in routes.shares_of(flow) if way.link == TRUNK.link)
        assert max(crossing.values(), default=0) <= 1
    context = JudgingContext(UNKNOWN, METRICS)
    alone = 10e9 / 8 * UNKNOWN.goodput
    for each in rounds:
        found = context.flows.read(play(UNKNOWN, each, {}, noise=0.0), context.criteria[-1].metric).measured(
            context.criteria[-1]
        )
        assert [one.expected.value for one in found] == pytest.approx([alone] * len(found))
        assert {one.model for one in found} == {Model.FLUID.value}


# -- elements that are filled


def fill(text: str, share: str) -> tuple[Fabric, tuple[Round, ...]]:
    fabric = load_text(text, "filled.yaml")
    return fabric, planned(fabric, "steered", share=share)


def count_crossed(fabric: Fabric, each: Round) -> Counter[tuple[str, str, int]]:
    """How many streams of a round cross each cable: link, from where, member."""
    walks = StreamPaths(Routes(fabric))
    ports = [int(test.target.options["source_port"]) for test in each.tests]
    paths = (walks.members(flow, port) for flow, port in zip(each.flows, ports, strict=True))
    return Counter((way.link, way.source, member) for path in paths for way, member in path.items())


@pytest.mark.parametrize(
    ("speed", "count", "streams"),
    [
        ("40G", 1, 3),  # one less than it carries: one more may come
        ("40G", 2, 3),
        ("40G", 8, 4),  # seven would carry three on each of eight
        ("25G", 2, 2),  # one on each would not fill one of them
        ("20G", 1, 2),  # one would not show half of its speed
        ("10G", 4, 1),
        ("5G", 2, 1),
    ],
)
def test_members_are_filled_so_far_that_a_slow_or_lost_one_shows(speed: str, count: int, streams: int) -> None:
    text = LAG.replace("HASH", "steered").replace("1-4", "1-64").replace("10G, count: 4", f"{speed}, count: {count}")
    fabric, rounds = fill(text, "leaf1--leaf2")
    assert len(rounds) == TIMES
    for each in rounds:
        crossed = count_crossed(fabric, each)
        for leaf in ("leaf1", "leaf2"):
            assert [crossed["leaf1--leaf2", leaf, member] for member in range(count)] == [streams] * count


def test_elements_filled_in_one_round_share_no_cable() -> None:
    text = LAG.replace("HASH", "steered").replace("leaf[1-2]", "leaf[1-2],spine[1-16]")
    text = text.replace(
        "{from: leaf1, to: leaf2, speed: 10G, count: 4}", '{from: "leaf[1-2]", to: "spine[1-16]", speed: 10G}'
    )
    fabric, rounds = fill(text, "leaf1--spine1, leaf2--spine1,leaf2--spine2")
    seen: Counter[tuple[str, str, int]] = Counter()
    for each in rounds:
        crossed = count_crossed(fabric, each)
        assert max(crossed.values()) == 1
        assert {link for link, *_ in crossed if "--spine" in link} <= {
            f"leaf{leaf}--spine{spine}" for leaf in (1, 2) for spine in (1, 2)
        }
        seen += crossed
    for link in ("leaf1--spine1", "leaf2--spine1", "leaf2--spine2"):
        assert seen[link, link.split("--")[0], 0] >= TIMES
        assert seen[link, link.split("--")[1], 0] >= TIMES


def test_streams_over_one_element_leave_the_room_on_another_alone() -> None:
    """Three of 10G on 40G: a fourth would fit, but it is of the other element, whose cables these are."""
    text = LAG.replace("HASH", "steered").replace("leaf[1-2]", "leaf[1-2],spine[1-16]").replace("1-4", "1-64")
    text = text.replace(
        "{from: leaf1, to: leaf2, speed: 10G, count: 4}", '{from: "leaf[1-2]", to: "spine[1-16]", speed: 40G}'
    )
    fabric, rounds = fill(text, "leaf1--spine1, leaf2--spine1")
    for each in rounds:
        crossed = count_crossed(fabric, each)
        assert max(number for (link, *_), number in crossed.items() if "--spine" in link) == 3


def test_an_element_that_no_port_steers_is_refused() -> None:
    with pytest.raises(PlanError, match="option share: no port steers a flow"):
        fill(LAG.replace("HASH", "unknown"), "leaf1--leaf2")


def test_an_unknown_element_is_refused() -> None:
    with pytest.raises(PlanError, match="unknown element of option share 'leaf1--leaf3'"):
        fill(LAG.replace("HASH", "steered"), "leaf1--leaf2, leaf1--leaf3")
