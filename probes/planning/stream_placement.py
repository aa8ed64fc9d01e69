"""The single streams of a test: how fast one can be, and the member cables that its source port means.

Where the file says ``hash: steered``, a source port is read as a number of mixed radix, its lowest digit the choice
at the first fork of the path. That assumes devices whose hash spreads neighbouring ports over their members; no maker
publishes another hash. Of a hash that was not described so nothing is assumed.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import inf, prod

import numpy as np

from benchconsole.topology.arrays import Floats
from benchconsole.topology.model.fabric import Direction, Flow, HashPolicy
from benchconsole.topology.routing.flow_hashes import hash_flows
from benchconsole.topology.routing.graph import Graph
from benchconsole.topology.routing.hashed_paths import CableStep, HashChoice, Walker
from benchconsole.topology.routing.routes import Route, Routes

FIRST_PORT, LAST_PORT = 10_000, 19_999
"""Source ports that tests use: above the registered services, below those that servers of ours and Linux hand out."""


def compute_most(graph: Graph, routes: Sequence[Route], streams: Sequence[int]) -> Floats:
    """The most that so many ``streams`` of each flow can reach on its route, in byte/s of payload; inf without a bound.

    Where all of the flow leaves a device, or enters one, each stream is on one of the cables there, and all are on the
    same one where the hash sees addresses only. All are on one port of a node that has a port for each rail or plane.
    """
    crossed = [len(route.ways) for route in routes]
    flow = np.repeat(np.arange(len(routes)), crossed)
    way = np.concatenate([route.ways for route in routes])
    share = np.concatenate([route.shares for route in routes])
    rate = graph.member_payload[way] * np.where(graph.columns.sees_ports[way >> 1], np.repeat(streams, crossed), 1)
    rate = np.minimum(rate, graph.connection_payload[way])
    most = np.full(len(routes), inf)
    for device in (graph.columns.starts[way], graph.columns.starts[way ^ 1]):
        devices = int(graph.columns.starts.max()) + 1
        stage, place = np.unique(flow * devices + device, return_inverse=True)
        whole = np.bincount(place, share) > 1 - 1e-9
        fastest = np.zeros(len(stage))
        np.maximum.at(fastest, place, rate)
        np.minimum.at(most, stage[whole] // devices, fastest[whole])
    return most


class PortForks:
    """Decides at each fork by ``port``, and keeps what it was asked: how many ways, and by which policy."""

    def __init__(self, port: int = FIRST_PORT) -> None:
        self._rest = port - FIRST_PORT
        self.ways: list[int] = []
        self.policies: set[HashPolicy] = set()

    def __call__(self, choice: HashChoice) -> int:
        self._rest, position = divmod(self._rest, len(choice.among))
        self.ways.append(len(choice.among))
        self.policies.add(choice.policy)
        return position


def make_port(digits: Iterator[tuple[int, int]]) -> int:
    """The source port that means these choices: position and number of ways at each fork, in order."""
    port, weight = FIRST_PORT, 1
    for position, ways in digits:
        port += position * weight
        weight *= ways
    return port


class StreamPaths:
    """The paths of single streams through one fabric, decided fork by fork."""

    def __init__(self, routes: Routes) -> None:
        self.routes = routes
        self._forks = PortForks()
        self._walker = Walker(routes, lambda choice: self._forks(choice))  # noqa: PLW0108 - replaced for each path

    def path(self, flow: Flow, forks: PortForks) -> list[CableStep]:
        """The member cables that ``flow`` crosses when ``forks`` decides. RoutingError without a path."""
        self._forks = forks
        return self._walker.path(flow, hash_flows([flow])[0])

    def ports(self, flow: Flow) -> int:
        """How many source ports tell every way of ``flow`` apart; 0 where its hashes are not described as steered.

        Also 0 where there are more ways than ports.
        """
        forks = PortForks()
        self.path(flow, forks)
        ways = prod(forks.ways)
        return ways if forks.policies <= {HashPolicy.STEERED} and ways <= LAST_PORT - FIRST_PORT + 1 else 0

    def members(self, flow: Flow, port: int) -> Mapping[Direction, int]:
        """Directed link to the member (from 0) that a stream of ``flow`` with this source port is on."""
        return {self.routes.graph.direction(step.way): step.member for step in self.path(flow, PortForks(port))}
