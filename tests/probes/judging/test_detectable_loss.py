"""The smallest loss that a run could have shown: bounds, hashes, gaps, and every claim against the judge itself."""

from collections.abc import Iterable, Iterator, Mapping

import pytest
from hypothesis import assume, given, settings

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.detectable_loss import DetectableLosses, list_planned_losses
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.detectable_loss import DetectableLoss, Fault
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.judgement import ClosedRound, Level
from benchconsole.probes.model.measuring import Bundle, FailedAt, Failure, Round
from benchconsole.probes.planning.plan_rounds import renumber
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Direction, Fabric
from tests.fabrics import METRICS, play
from tests.probes.judging.rounds import close, flow, out_of, star
from tests.probes.planning.suites import clos, planned

PAIR = """\
schema: 1
fabric: pair
networks: {{flat: {{goodput: 100 %}}}}
switches: {{"leaf[1-2]": {{role: leaf}}}}
nodes: {{"a[1-8]": {{}}, "b[1-8]": {{}}}}
links:
  - {{from: "a[1-8]", to: leaf1, speed: 10G, hash: {hash}, network: flat}}
  - {{from: "b[1-8]", to: leaf2, speed: 10G, hash: {hash}, network: flat}}
  - {{from: leaf1, to: leaf2, speed: {speed}, count: {count}, hash: {hash}, network: flat}}
criteria: [{{metric: iperf3.throughput, at_least: {bound} %, of: capacity}}]
"""

SPINES = """\
schema: 1
fabric: spines
switches: {"leaf[1-2]": {role: leaf}, "spine[1-4]": {role: spine}}
nodes: {"a[1-8]": {}, "b[1-8]": {}}
links:
  - {from: "a[1-8]", to: leaf1, speed: 10G}
  - {from: "b[1-8]", to: leaf2, speed: 10G}
  - {from: "leaf[1-2]", to: "spine[1-4]", speed: 10G, count: 2}
"""


def pair(count: int, bound: float = 80, *, speed: str = "10G", hash_: str = "l3l4") -> Fabric:
    text = PAIR.format(count=count, bound=bound, speed=speed, hash=hash_)
    return load_text(text, "pair.yaml")


def sees(described: Fabric, rounds: Iterable[Round]) -> Mapping[Fault, DetectableLoss]:
    return {each.fault: each for each in list_planned_losses(JudgingContext(described, METRICS), rounds)}


@pytest.mark.parametrize(
    ("count", "bound", "lost", "half"),
    [
        (2, 80, True, True),
        (2, 75.1, True, True),
        (2, 75, True, False),  # half of one of two is a quarter: equal to the bound passes
        (4, 80, True, False),
        (4, 75.1, True, False),
        (4, 75, False, False),
        (4, 87.6, True, True),
        (4, 87.5, True, False),
    ],
)
def test_a_member_is_seen_where_its_part_of_the_lag_is_more_than_may_be_missing(
    count: int, bound: float, lost: bool, half: bool
) -> None:
    described = pair(count, bound)
    found = sees(described, planned(described, "trunks", streams=64))
    assert found[Fault.LINK].loss == pytest.approx(1 - bound / 100)
    assert (found[Fault.MEMBER_LOST].is_seen, found[Fault.MEMBER_HALF].is_seen) == (lost, half)
    assert found[Fault.MEMBER_LOST].widest == count


@pytest.mark.parametrize(("bound", "loss"), [(50, 0.5), (80, 0.2), (99, 0.01)])
def test_a_nic_is_seen_from_what_may_be_missing(bound: float, loss: float) -> None:
    described = pair(2, bound)
    found = sees(described, planned(described, "neighbours"))[Fault.NIC]
    assert (found.elements, found.seen) == (32, 32)
    assert found.loss == pytest.approx(loss)


def test_a_cable_that_a_bundle_fills_beside_others_must_lose_that_much_more() -> None:
    described = load_text(SPINES, "spines.yaml")
    found = sees(described, planned(described, "trunks", streams=64))
    assert found[Fault.LINK].loss == pytest.approx(0.2 * 4)  # one of four that fill together
    assert (found[Fault.MEMBER_LOST].seen, found[Fault.MEMBER_HALF].seen) == (0, 0)  # an eighth is not a fifth
    assert (found[Fault.SWITCH_HALF].elements, found[Fault.SWITCH_HALF].seen) == (6, 2)  # a spine at half: an eighth


def test_what_is_left_free_may_be_lost_unseen() -> None:
    described = star()
    closed = close(described, 1, flow("n1", "n2", 0.5))
    limited = replace(closed.results[0].test, sending=replace(closed.results[0].test.sending, rate=0.5e9))
    rounds = [replace(closed.round, tests=(limited,))]
    found = sees(described, rounds)[Fault.NIC]
    assert (found.elements, found.seen) == (16, 2)
    assert found.loss == pytest.approx(1 - 0.5 * 0.8)


def test_a_lost_leg_of_a_bond_is_hidden_by_the_other_where_one_would_do() -> None:
    described = load_text(
        'schema: 1\nfabric: bonds\nnetwork: {hash: steered}\nswitches: {"leaf[1-2]": {role: leaf}}\n'
        'nodes: {"n[1-4]": {}}\nmlag: {m: {switches: "leaf[1-2]"}}\n'
        'links: [{from: "n[1-4]", to: "leaf[1-2]", speed: 10G, bond: lacp}]\n',
        "bonds.yaml",
    )  # fmt: skip
    many = sees(described, planned(described, "neighbours", streams=64))[Fault.LEG_LOST]
    one = sees(described, planned(described, "steered", streams=1))[Fault.LEG_LOST]
    assert (many.elements, many.seen, many.loss) == (8, 8, 0.5)
    assert (one.seen, one.loss) == (0, None)


def test_steered_tests_see_half_of_one_member() -> None:
    described = pair(4, 80, hash_="steered")
    assert sees(described, planned(described, "trunks", streams=64))[Fault.MEMBER_HALF].seen == 0
    assert sees(described, planned(described, "steered", partners=4, streams=1))[Fault.MEMBER_HALF].is_seen


def test_too_few_streams_excuse_what_enough_would_show() -> None:
    described = pair(4, 80)
    few, many = (sees(described, planned(described, "trunks", streams=streams)) for streams in (1, 64))
    assert many[Fault.MEMBER_LOST].is_seen
    assert not few[Fault.MEMBER_LOST].is_seen


def sum_up_rounds(context: JudgingContext, rounds: Iterable[ClosedRound]) -> tuple[DetectableLoss, ...]:
    found = DetectableLosses(context)
    for each in rounds:
        found.add_round(each)
    return found.sum_up()


def test_steered_tests_show_nothing_where_ports_mean_nothing() -> None:
    """The evidence of tests with many streams stays, whether they ran before the steered ones or after."""
    described = pair(4, 80, hash_="steered")
    context = JudgingContext(described, METRICS)
    trunks, steered = planned(described, "trunks", streams=64), planned(described, "steered", partners=4, streams=1)

    def measure(rounds: Iterable[Round]) -> list[ClosedRound]:
        return [play(described, each, {}, noise=0.0) for each in renumber(rounds, 1)]

    # Within a leaf nothing steers: such streams of a steered round count with the others.
    inside = [
        replace(
            each, results=tuple(one for one in each.results if len({node.id[0] for node in one.test.target.nodes}) < 2)
        )
        for each in measure((*trunks, *steered))
    ]
    alone = sum_up_rounds(context, [*measure(trunks), *inside[len(trunks) :]])
    for order in ((*trunks, *steered), (*steered, *trunks)):
        found = DetectableLosses(context)
        for each in measure(order):
            found.add_round(each)
        assert {each.fault: each.is_seen for each in found.sum_up()}[Fault.MEMBER_HALF]
        assert found.sum_up(steers=False) == alone


def test_a_round_that_is_repeated_counts_instead_of_the_one_before() -> None:
    described = star()
    context = JudgingContext(described, METRICS)
    one, two = close(described, 1, flow("n1", "n2", 1.0)), close(described, 2, flow("n3", "n4", 1.0))
    (first,) = one.results
    failed = replace(first, measurements=(), failure=Failure(FailedAt.TOOL, "broke", first.test.target.node.id))
    again = replace(one, results=(failed,))
    assert sum_up_rounds(context, [one, two, again]) == sum_up_rounds(context, [two])
    assert sum_up_rounds(context, [again, two, one]) == sum_up_rounds(context, [one, two])
    assert sum_up_rounds(context, [one, two]) != sum_up_rounds(context, [two])


def test_only_tests_with_a_number_that_is_known_show_anything() -> None:
    described = star()
    closed = close(described, 1, flow("n1", "n2", 1.0), flow("n3", "n4", 0.9))
    context = JudgingContext(described, METRICS)

    def count_seen(*results: object) -> int:
        (found, *_) = sum_up_rounds(context, [replace(closed, results=tuple(results))])  # type: ignore[arg-type]
        return found.seen

    first, second = closed.results
    failed = replace(second, measurements=(), failure=Failure(FailedAt.TOOL, "broke", second.test.target.node.id))
    impossible = replace(second, measurements=(replace(second.measurements[0], value=2e9),))
    assert count_seen(first, second) == 4
    assert count_seen(first, failed) == 2
    assert count_seen(first, impossible) == 2


def test_a_flow_beside_one_in_trouble_may_not_fail_and_shows_nothing() -> None:
    described = star()
    closed = close(described, 1, flow("n1", "n2", 0.9), flow("n1", "n3", 0.1))
    first, second = closed.results
    lost = replace(second, measurements=(), failure=Failure(FailedAt.TIMEOUT, "slow", second.test.target.node.id))
    context = JudgingContext(described, METRICS)
    assert sum_up_rounds(context, [closed])
    assert sum_up_rounds(context, [replace(closed, results=(first, lost))]) == ()


def test_of_a_link_that_flows_of_two_criteria_share_neither_is_sure_to_show_a_loss() -> None:
    described = star("at_least: 80 %, nodes: n1")
    rounds = [close(described, 1, flow("n1", "n3", 0.5), flow("n2", "n3", 0.5)).round]
    found = sees(described, rounds)[Fault.NIC]
    assert found.seen == 2  # out of n1 and of n2, not into n3
    assert found.loss == pytest.approx(1 - 0.5 * 0.8)


def test_a_bundle_that_lost_the_flow_that_fills_it_shows_nothing_nor_does_no_round() -> None:
    described = star()
    bundle = Bundle("pairs", (out_of(described, "n1"), out_of(described, "n3")))
    closed = close(described, 1, flow("n1", "n2", 1.0, "pairs"), flow("n3", "n4", 1.0, "pairs"), bundles=(bundle,))
    context = JudgingContext(described, METRICS)
    first, second = closed.results
    failed = replace(second, measurements=(), failure=Failure(FailedAt.LOST, "broke", second.test.target.node.id))
    assert sum_up_rounds(context, [closed])
    assert sum_up_rounds(context, [replace(closed, results=(first, failed))]) == ()
    assert sum_up_rounds(context, []) == ()
    assert list_planned_losses(context, [replace(closed.round, probe="ping")]) == ()


# -- every claim, against the judge on a fabric that has the fault


def faulty(described: Fabric, each: DetectableLoss) -> Iterator[Mapping[Direction, float]]:
    """The capacities (byte/s on the wire) of the fabric with each fault of one kind, a little worse than claimed."""
    assert each.loss is not None
    left = 1 - min(each.loss + 0.01, 1.0)

    def slow(ways: Iterable[Direction], share: float) -> Mapping[Direction, float]:
        return {way: described.links[way.link].capacity * share for way in ways}

    links = described.links.values()
    if each.fault is Fault.NIC:
        for node in described.nodes:
            legs = described.active_legs(node)
            yield slow([Direction(leg.id, leg.a) for leg in legs], left)
            yield slow([Direction(leg.id, leg.b) for leg in legs], left)
    for link in links:
        ways = Direction(link.id, link.a), Direction(link.id, link.b)
        if each.fault is Fault.LINK and link.a in described.switches:
            yield from (slow([way], left) for way in ways)
        if link.is_lag and each.fault in (Fault.MEMBER_LOST, Fault.MEMBER_HALF):
            size = 1.0 if each.fault is Fault.MEMBER_LOST else 0.5
            for speed in link.members:
                yield slow(ways, 1 - size * speed / link.capacity)
    for switch in described.switches if each.fault is Fault.SWITCH_HALF else ():
        at = described.links_at[switch]
        if at:
            yield slow([Direction(link.id, end) for link in at for end in (link.a, link.b)], 0.5)


def plan_if_any(described: Fabric, design: str) -> tuple[Round, ...]:
    try:
        return planned(described, design, streams=64)
    except PlanError as error:
        assume("nothing to run" not in str(error))
        raise


@given(clos())
@settings(max_examples=8, deadline=None)
def test_the_judge_fails_a_run_on_a_fabric_with_each_fault_that_is_said_to_be_seen(text: str) -> None:
    described = load_text(text, "drawn.yaml")
    context = JudgingContext(described, METRICS)
    rounds = [each for design in ("neighbours", "trunks") for each in plan_if_any(described, design)]

    def fails(faults: Mapping[Direction, float]) -> bool:
        judged = (judge_round(context, play(described, each, faults, noise=0.0)) for each in rounds)
        return any(verdict.level is Level.FAIL for verdicts in judged for verdict in verdicts)

    assert not fails({})
    for each in list_planned_losses(context, rounds):
        if each.seen:
            found = [fails(faults) for faults in faulty(described, each)]
            assert len(found) == each.elements
            assert sum(found) >= each.seen, each
