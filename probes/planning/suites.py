"""The suites that come with the console, made from the description, and the choice of the suite to run.

They bring no criteria, which are the contract's and stand in the file.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

from benchconsole.probes.model.probe_names import INVENTORY
from benchconsole.probes.planning.design_options import make_unknown_error
from benchconsole.probes.planning.stream_counts import count_streams
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric, HashPolicy, NodeId, NodeRole, Stage, Suite
from benchconsole.topology.model.sweep import Sweep, Value

LAG_SUITE = "lag"
"""The suite that sees most of the members of LAGs."""

SINGLE = "single test"
"""The name of the suite that one test is planned as, where it is asked for by itself."""

_HEADERS = 28
"""Bytes of an IPv4 and an ICMP header (RFC 791, RFC 792)."""


def _stage(probe: str, nodes: Iterable[NodeId], sweep: Sweep | None = None, **options: Value) -> Stage:
    return Stage(probe, tuple(nodes), MappingProxyType(options), sweep)


def _iperf3(fabric: Fabric, design: str, sweep: Sweep | None = None, **options: Value) -> Stage:
    """A stage of iperf3 with as many streams as the hashes of the fabric need for this design."""
    count = count_streams(fabric, trunks=design != "neighbours")
    stage = _stage("iperf3", fabric.nodes, sweep, design=design, streams=count.streams, **options)
    return replace(stage, because=count.because)


def _of(fabric: Fabric, *roles: NodeRole) -> tuple[NodeId, ...]:
    """The nodes of these roles; everybody where none has one of them."""
    found = tuple(node.id for node in fabric.nodes.values() if node.role in roles)
    return found or tuple(fabric.nodes)


def _default(fabric: Fabric) -> Iterator[Stage]:
    yield _iperf3(fabric, "neighbours")
    yield _iperf3(fabric, "trunks")


def _paths(fabric: Fabric) -> Stage:
    """Whether every path carries the packets that the file says it does."""
    return _stage("ping", fabric.nodes, design="neighbours", mtu="check", payload=f"{fabric.mtu - _HEADERS} B")


def _quick(fabric: Fabric) -> Iterator[Stage]:
    yield _paths(fabric)
    yield _iperf3(fabric, "neighbours", seconds=3)
    yield _stage("fio", _of(fabric, NodeRole.COMPUTE, NodeRole.STORAGE), size="16 MiB", seconds=1)


def _network(fabric: Fabric) -> Iterator[Stage]:
    yield _paths(fabric)
    yield _stage("sockperf", fabric.nodes, design="neighbours")
    yield _iperf3(fabric, "neighbours", seconds=10)
    yield _iperf3(fabric, "trunks", seconds=10)
    yield _iperf3(fabric, "permutation", seconds=10)
    yield _stage("nuttcp", fabric.nodes, design="neighbours", mode="burst")


def _lag(fabric: Fabric) -> Iterator[Stage]:
    """Every link filled, and where hashes are described as steered, each member of a LAG by itself.

    A bundle that fills a LAG of four is 25 % short where a member is lost: below the 80 % that are asked by default.
    Half of a member is 12.5 % of it, and one lost of eight equal cables as much: only a test on that one cable shows
    it, and half of its speed where tests fill more of it than half over the bound (62.5 % with 80 %).
    """
    yield _iperf3(fabric, "neighbours", seconds=10)
    yield _iperf3(fabric, "trunks", seconds=10)
    if is_steered(fabric):
        yield _stage("iperf3", fabric.nodes, design="steered", partners=4, streams=1, seconds=10)


def is_steered(fabric: Fabric) -> bool:
    """Whether every hash is described as steered, so that a test can be put on a member of each LAG."""
    return all(link.hash is HashPolicy.STEERED for link in fabric.links.values())


def _storage(fabric: Fabric) -> Iterator[Stage]:
    own = _of(fabric, NodeRole.COMPUTE, NodeRole.STORAGE)
    yield _stage("dd", own, size="2 GiB", block="1 MiB")
    yield _stage("fio", own, size="1 GiB", seconds=20)
    yield _stage("fio", own, size="1 GiB", seconds=20, jobs=4)
    yield _iperf3(fabric, "trunks")


def _acceptance(fabric: Fabric) -> Iterator[Stage]:
    """Stages of the Jetstream acceptance report (4.1, 5.1), with its parameters; then members of LAGs as in ``lag``."""
    compute = _of(fabric, NodeRole.COMPUTE)
    yield _paths(fabric)
    # The clause asks for at least half of the memory, and the order of the matrix is rounded down to whole blocks.
    yield _stage("hpl", compute, size=1, memory=0.52)
    yield _stage("stream", compute)
    if any(node.role is NodeRole.MANAGEMENT for node in fabric.nodes.values()):
        yield _iperf3(fabric, "star", seconds=10)
    yield from _lag(fabric)
    yield _stage("nuttcp", fabric.nodes, design="neighbours", mode="udp", bitrate="1 Gb/s")
    yield _stage("nuttcp", fabric.nodes, design="neighbours", mode="burst")
    yield _stage("dd", compute, size="2 GiB", block="1 MiB")
    yield _stage("fio", compute, size="1 GiB", seconds=20)


def _burn_in(fabric: Fabric) -> Iterator[Stage]:
    """Long loads three times over: what fails when it is warm, fails here."""
    compute, thrice = _of(fabric, NodeRole.COMPUTE), Sweep(repeat=3)
    yield _stage("hpl", compute, thrice, size=1, memory=0.8, seconds=3600)
    yield _stage("stream", compute, thrice)
    yield _stage("fio", compute, thrice, size="1 GiB", seconds=60)
    yield _iperf3(fabric, "trunks", thrice, seconds=60)
    yield _stage(INVENTORY, fabric.nodes)


OURS: Mapping[str, Callable[[Fabric], Iterator[Stage]]] = MappingProxyType(
    {
        "default": _default,
        "quick": _quick,
        "network": _network,
        LAG_SUITE: _lag,
        "storage": _storage,
        "acceptance": _acceptance,
        "burn-in": _burn_in,
    }
)
"""The stages of the suites that come with the console, after the inventory of everyone that each begins with.

A suite of the file with such a name counts instead.
"""


def _make_suite(fabric: Fabric, name: str) -> Suite:
    return Suite(name, (_stage(INVENTORY, fabric.nodes), *OURS[name](fabric)))


def list_suite_names(fabric: Fabric) -> tuple[str, ...]:
    """The names of the suites that can be planned: ``default`` first where the file has it, those of the file, ours."""
    first = ("default",) if "default" in fabric.suites else ()
    return tuple(dict.fromkeys((*first, *fabric.suites, *OURS)))


def find_suite(fabric: Fabric, name: str | None) -> Suite:
    """The suite ``name``; without a name ``default``, or the file's only one, or ours. PlanError when unknown."""
    if name is None:
        if "default" in fabric.suites:
            return fabric.suites["default"]
        return next(iter(fabric.suites.values())) if len(fabric.suites) == 1 else _make_suite(fabric, "default")
    if name in fabric.suites:
        return fabric.suites[name]
    if name in OURS:
        return _make_suite(fabric, name)
    raise make_unknown_error("suite", name, tuple(dict.fromkeys((*fabric.suites, *OURS))))
