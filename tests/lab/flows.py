"""Traffic of the laboratory's own tests: iperf3 between nodes, without the product.

Owned here: what a pair carries, what pairs carry at once. Refused here: what they should; cables are the plan's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from time import monotonic

from tests.lab.host import wait_for
from tests.lab.lab import Lab

_PORTS = count(5300)  # one for each server: the one before may still be about to close its own


def mbit(lab: Lab, pair: str, way: str = "") -> float:
    """The rate of one pair ("n1 n2") in Mbit/s of payload, as its receiver counts it; "-R" is the way back."""
    arrived, seconds = _flow(lab, pair, way, streams=8)
    return arrived * 8e-6 / seconds


def mbit_together(lab: Lab, pairs: Iterable[str], way: str = "", *, seconds: int = 2) -> float:
    """The joint rate of pairs, in Mbit/s from the first start to the last end.

    However far apart the runs were, this is no more than the cables carry; the sum of their own means may be. The
    time of starting and ending counts too: on a busy machine more ``seconds`` make it a smaller share.
    """
    began = monotonic()
    return send(lab, pairs, way, seconds=seconds) * 8e-6 / (monotonic() - began)


def send(lab: Lab, pairs: Iterable[str], way: str = "", *, streams: int = 8, seconds: int = 2) -> int:
    """Let pairs send at once for so many seconds, ``streams`` each; gives the bytes that arrived."""
    with ThreadPoolExecutor(8) as hands:
        flows = hands.map(lambda pair: _flow(lab, pair, way, streams=streams, seconds=seconds), pairs)
        return sum(arrived for arrived, _ in flows)


def _flow(lab: Lab, pair: str, way: str, *, streams: int, seconds: int = 2) -> tuple[int, float]:
    """Bytes that arrived and the seconds in which they were counted."""
    port, (client, server) = next(_PORTS), pair.split()
    lab.inside(server, "iperf3", "-s", "-1", "-D", "-p", str(port), "--idle-timeout", "10")
    # The daemon has left its parent before it listens.
    wait_for(lambda: port in {each.port for each in lab.listeners(server)}, 10, f"iperf3 on {server}")
    address, length = lab.plan.node(server).data, str(seconds)
    command = ["iperf3", "-J", "-c", address, "-p", str(port), "-P", str(streams), "-t", length]
    received = json.loads(lab.inside(client, *command, *way.split()))["end"]["sum_received"]
    return int(received["bytes"]), float(received["seconds"])
