"""Tests whose peer sends, or both: planned by where the data goes, never beside what would share a link with it."""

from pathlib import Path

import pytest

from benchconsole.probes.model.errors import PlanError
from benchconsole.topology.model.fabric import Flow
from tests.fabrics import SMALL, fabric
from tests.probes.planning.plan_referee import violations
from tests.probes.planning.suites import planned
from tests.probes.played import PROBES


def test_where_the_peer_sends_the_client_runs_where_data_arrives(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    straight, turned = (planned(described, "neighbours", reverse=way) for way in (0, 1))
    assert [each.flows for each in straight] == [each.flows for each in turned]
    for one, other in zip(straight, turned, strict=True):
        for test, back in zip(one.tests, other.tests, strict=True):
            assert (test.target.node, test.target.peer) == (back.target.peer, back.target.node)


def test_a_flow_is_that_of_the_data(tmp_path: Path) -> None:
    (each,) = planned(fabric(tmp_path), "sample", pairs=1, reverse=1, nodes=["n1", "n2"])
    (test,) = each.tests
    assert test.target.peer is not None
    assert each.flows == (Flow(test.target.peer.id, test.target.node.id),)


def test_what_sends_both_ways_runs_alone(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    rounds = planned(described, "neighbours", bidir=1)
    assert {len(each.tests) for each in rounds} == {1}
    assert len(rounds) == sum(len(each.tests) for each in planned(described, "neighbours"))


def test_designs_that_fill_elements_refuse_both_ways(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="iperf3 trunks: found bidir=1, expected 0"):
        planned(fabric(tmp_path), "trunks", bidir=1)
    with pytest.raises(PlanError, match="iperf3 stress: found bidir=1, expected 0"):
        planned(fabric(tmp_path), "stress", bidir=1, share="leaf1")


def test_steered_ports_steer_what_is_sent_and_nothing_else(tmp_path: Path) -> None:
    steered = fabric(tmp_path, SMALL.replace("network: {mtu: 1500}", "network: {mtu: 1500, hash: steered}"))
    with pytest.raises(PlanError, match="iperf3 steered: found reverse=1, expected 0"):
        planned(steered, "steered", reverse=1)


def test_no_link_is_loaded_twice(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    for design in ("neighbours", "trunks"):
        assert list(violations(described, planned(described, design, reverse=1), PROBES)) == []
