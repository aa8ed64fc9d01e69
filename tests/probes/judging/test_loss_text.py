"""Sentences on lost packets: a share, what it rests on, what it means to TCP, and what stays open."""

import math

import pytest

from benchconsole.probes.model.judgement import Finding
from benchconsole.topology.units import network_rate
from tests.probes.judging.rounds import star
from tests.probes.judging.test_packet_loss import find, send


def tell(share: float) -> Finding:
    described = star()
    rounds = [send(described, number, {"n2": share}, step=step) for number, step in ((1, 1), (2, 3))]
    (found,) = find(described, *rounds)
    return found


def test_the_finding_says_what_was_lost_and_where() -> None:
    found = tell(0.02)
    assert found.what == "loses packets, both ways: 2.00 % of the segments sent again in 4 flows, 0 % in 12 beside"
    assert found.because == tuple(
        f"round {number}, {pair}: 140,940 of 7,047,018 packets sent again, 2.00 %, 8.00 Gb/s arrived"
        for number, pair in ((1, "n1>n2"), (1, "n2>n3"), (2, "n2>n5"), (2, "n7>n2"))
    )
    assert found.rules_out == ("chance and load: 12 flows of the same kind beside them lost 0 % at most",)
    assert found.cannot_tell == (
        "which part of the way from n2 to leaf loses them, a port or the cable: needs their error counters"
    )
    assert found.do == "look at speed, duplex, error counters and cable from n2 to leaf, then repeat these tests"


@pytest.mark.parametrize("share", [0.001, 0.02])
def test_the_rate_far_away_is_that_of_mathis(share: float) -> None:
    rate = network_rate(1.22 * 1448 / 0.05 / math.sqrt(share))
    assert tell(share).means == (
        f"TCP waits for what is sent again: at 50.0 ms one stream gets about {rate} "
        "(1,448 B / round trip x 1.22 / sqrt(share), Mathis)"
    )
