"""The single streams of a test: how fast one can be, and the member cables that its source port means.

Where the file says ``hash: steered``, a source port is read as a number of mixed radix, its lowest digit the choice
at the first fork of the path. That assumes devices whose hash spreads neighbouring ports over their members; no maker
publishes another hash. Of a hash that was not described so nothing is assumed.
"""

from collections.abc import Iterator, Mapping
from math import inf, prod

from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Direction, Fabric, Flow, HashPolicy
from benchconsole.topology.routing.hashed_paths import CableStep, HashChoice, Walker, hash_flows
from benchconsole.topology.routing.routes import Routes, Shares

FIRST_PORT, LAST_PORT = 10_000, 19_999
"""Source ports that tests use: above the registered services, below those that servers of ours and Linux hand out."""


def compute_most(fabric: Fabric, shares: Shares, streams: int) -> float:
    """The most that so many streams of a flow with these ``shares`` can reach, in byte/s of payload.

    Where all of the flow leaves a device, or enters one, each stream is on one of the cables there, and all are on the
    same one where the hash sees addresses only.
    """
    leaving = group_by_key((way.source, way) for way in shares)
    entering = group_by_key((fabric.links[way.link].other(way.source), way) for way in shares)
    stages = (ways for ways in (*leaving.values(), *entering.values()) if sum(map(shares.__getitem__, ways)) > 1 - 1e-9)
    return min((max(_compute_most_of(fabric, way, streams) for way in ways) for ways in stages), default=inf)


def _compute_most_of(fabric: Fabric, way: Direction, streams: int) -> float:
    link = fabric.links[way.link]
    return fabric.member_payload(link) * (streams if link.hash.sees_ports else 1)


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
