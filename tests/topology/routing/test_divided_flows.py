"""Flows that are routed in arrays cross what each crosses by itself."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.model.fabric import Fabric, Flow
from benchconsole.topology.routing.all_routes import route_together
from benchconsole.topology.routing.routes import Routes
from tests.topology.fabrics import flows_of, networks


def route_alone(described: Fabric, flows: list[Flow]) -> list[dict[int, float]]:
    """What each flow crosses, by the routes of single flows."""
    routes = Routes(described)
    found = [routes.route(flow) for flow in flows]
    return [dict(zip(route.ways.tolist(), route.shares.tolist(), strict=True)) for route in found]


def check_together(described: Fabric, flows: list[Flow]) -> None:
    """All flows in arrays twice on the same routes, where the second time knows all from the first."""
    alone = route_alone(described, flows)
    routes = Routes(described)
    for _ in range(2):
        crossed = route_together(routes, flows)
        assert (crossed.flow[1:] >= crossed.flow[:-1]).all()
        found: list[dict[int, float]] = [{} for _ in flows]
        for flow, way, share in zip(*(column.tolist() for column in crossed), strict=True):
            assert way not in found[flow]
            found[flow][way] = share
        for own, other in zip(found, alone, strict=True):
            assert own == pytest.approx(other, rel=1e-12, abs=0)


@given(networks(), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_flows_together_cross_what_each_crosses_alone(described: Fabric, chance: object) -> None:
    check_together(described, flows_of(described, chance, 12))
