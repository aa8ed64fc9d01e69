"""Preferred lines between two sites, each way by itself: rates against rational filling, and what stands in after a loss."""

from fractions import Fraction

import pytest

from benchconsole.topology.analysis.failure_flows import FailureFlows
from benchconsole.topology.capacity.arcs import make_arcs
from benchconsole.topology.capacity.expect import expect, sample_hashes
from benchconsole.topology.capacity.optimum import compute_optimum
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.errors import TopologyError
from benchconsole.topology.model.fabric import Fabric, Flow, NodeId
from benchconsole.topology.model.failed_elements import remove_elements
from benchconsole.topology.routing.routes import Routes
from benchconsole.topology.tables.single_failures import FailureKind
from tests.topology import referee

SITES = """\
schema: 1
fabric: sites
networks: {flat: {goodput: 100 %}}
switches: {ra: {role: core}, rb: {role: core}}
nodes: {"a[1-4]": {}, "b[1-4]": {}}
links:
  - {from: "a[1-4]", to: ra, speed: 50G, network: flat}
  - {from: "b[1-4]", to: rb, speed: 50G, network: flat}
  - {from: ra, to: rb, speed: 100G, lag: north, preference: 200, preference_back: 50, network: flat}
  - {from: ra, to: rb, speed: 60G, lag: south, preference: 10, preference_back: 100, network: flat}
  - {from: ra, to: rb, speed: 10G, lag: spare, network: flat}
"""
TURNED = SITES.replace("from: ra, to: rb, speed: 60G", "from: rb, to: ra, speed: 60G").replace(
    "preference: 10, preference_back: 100", "preference: 100, preference_back: 10"
)
NORTH, SOUTH, SPARE = "ra--rb", "ra--rb/south", "ra--rb/spare"
SPEEDS = {NORTH: 100, SOUTH: 60, SPARE: 10}
THERE = [Flow(NodeId(f"a{i}"), NodeId(f"b{i}")) for i in range(1, 5)]
BACK = [Flow(each.sink, each.source) for each in THERE]


def load(text: str = SITES) -> Fabric:
    return load_text(text, "sites.yaml")


@pytest.mark.parametrize("text", [SITES, TURNED])
@pytest.mark.parametrize(
    ("down", "there", "back"),
    [((), NORTH, SOUTH), ((NORTH,), SOUTH, SOUTH), ((SOUTH,), NORTH, NORTH), ((NORTH, SOUTH), SPARE, SPARE)],
)
def test_the_line_that_is_preferred_carries_all_each_way(
    text: str, down: tuple[str, ...], there: str, back: str
) -> None:
    described = remove_elements(load(text), links=down)
    shares: list[referee.Shares] = []
    for flow in (*THERE, *BACK):
        line, ends = (there, ("ra", "rb")) if flow in THERE else (back, ("rb", "ra"))
        legs = [described.links_at[node][0].id for node in (flow.source, flow.sink)]
        shares.append({
            (legs[0], flow.source, ends[0]): Fraction(1), (line, *ends): Fraction(1), (legs[1], ends[1], flow.sink): Fraction(1),
        })  # fmt: skip
    filled = [float(each) for each in referee.fill(referee.rates_of(described), shares)]
    assert filled[0] == pytest.approx(min(SPEEDS[there] / 4, 50) * 1e9 / 8)
    rates = [each.value for each in expect(described, [*THERE, *BACK])]
    assert rates == pytest.approx(filled, rel=1e-9)
    drawn = sample_hashes(described, [*THERE, *BACK], draws=4)  # one line each way: nothing is drawn
    assert (drawn.aggregate.p5, drawn.aggregate.p95) == pytest.approx((sum(filled), sum(filled)), rel=1e-9)


def test_equal_preferences_share_and_the_optimum_knows_none() -> None:
    described = load(SITES.replace(": 200, preference_back: 50", ": 7").replace(": 10, preference_back: 100", ": 7"))
    ways = {str(way.link): share for way, share in Routes(described).shares("a1", "b1").items()}
    assert ways[NORTH] == ways[SOUTH] == pytest.approx(0.5)
    assert SPARE not in ways
    routes = Routes(load())
    best = compute_optimum(make_arcs(routes, THERE), THERE, routes.attachments)
    assert best.total == pytest.approx(170e9 / 8, rel=1e-9)


def test_what_a_loss_leaves_is_what_expect_says_without_it() -> None:
    described = load()
    losses = FailureFlows(described).list_losses([(FailureKind.LINK, name) for name in (NORTH, SOUTH, SPARE)])
    ends = ([each.source for each in THERE], [each.sink for each in THERE])
    every = {way: [Flow(a, b) for a in ends[way] for b in ends[1 - way]] for way in (0, 1)}

    def sum_ways(fabric: Fabric) -> list[float]:
        rates = [each.value for each in expect(fabric, [*every[0], *every[1]])]
        return [sum(rates[:16]), sum(rates[16:])]

    for name in (NORTH, SOUTH):
        before, after = sum_ways(described), sum_ways(remove_elements(described, links=[name]))
        loss = losses[FailureKind.LINK, name]
        worst = min((0, 1), key=lambda way: after[way] / before[way])  # of the direction that loses more
        assert loss.after / loss.before == pytest.approx(after[worst] / before[worst], rel=1e-9)
    assert losses[FailureKind.LINK, NORTH].after == pytest.approx(60e9 / 8, rel=1e-9)
    assert losses[FailureKind.LINK, SPARE].is_idle


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("preference: 200", "preference: -1", r"sites.yaml:9:\d+: -1, expected"),
        ("preference_back: 50", "preference_bac: 50", r"sites.yaml:9:\d+: unknown key 'preference_bac'.* did you mean"),
        ("to: rb, speed: 50G", "to: rb, preference: 5, speed: 50G",
         r"sites.yaml:8:\d+: a preference on a cable of the node b1, expected one between switches"),
    ],
)  # fmt: skip
def test_a_preference_that_cannot_be_is_refused(before: str, after: str, what: str) -> None:
    assert before in SITES
    with pytest.raises(TopologyError, match=what):
        load(SITES.replace(before, after))
