"""The suites that come with the console, and the choice of the suite to run.

They are made from the description: who computes, who stores, who manages, which MTU. They bring no
criteria, which are the contract's and stand in the file; without any, throughput is held against the fabric.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from benchconsole.probes.model.probe_names import INVENTORY
from benchconsole.probes.planning.design_options import Options, make_unknown_error
from benchconsole.topology.model.fabric import Fabric, NodeId, NodeRole, Stage, Suite
from benchconsole.topology.model.sweep import Sweep

_HEADERS = 28
"""Bytes of an IPv4 and an ICMP header (RFC 791, RFC 792)."""

Value = str | int | float


def _stage(probe: str, nodes: tuple[NodeId, ...], sweep: Sweep | None = None, **options: Value) -> Stage:
    given: Options = MappingProxyType(options)
    return Stage(probe, nodes, given, sweep)


def _of(fabric: Fabric, *roles: NodeRole) -> tuple[NodeId, ...]:
    """The nodes of these roles; everybody where none has one of them."""
    found = tuple(node.id for node in fabric.nodes.values() if node.role in roles)
    return found or tuple(fabric.nodes)


def _default(fabric: Fabric) -> Iterator[Stage]:
    everyone = tuple(fabric.nodes)
    yield _stage(INVENTORY, everyone)
    yield _stage("iperf3", everyone, design="neighbours")
    yield _stage("iperf3", everyone, design="trunks", streams=8)


def _paths(fabric: Fabric) -> Stage:
    """Whether every path carries the packets that the file says it does."""
    return _stage("ping", tuple(fabric.nodes), design="neighbours", mtu="check", payload=f"{fabric.mtu - _HEADERS} B")


def _quick(fabric: Fabric) -> Iterator[Stage]:
    everyone = tuple(fabric.nodes)
    yield _stage(INVENTORY, everyone)
    yield _paths(fabric)
    yield _stage("iperf3", everyone, design="neighbours", seconds=3)
    yield _stage("fio", _of(fabric, NodeRole.COMPUTE, NodeRole.STORAGE), size="16 MiB", seconds=1)


def _network(fabric: Fabric) -> Iterator[Stage]:
    everyone = tuple(fabric.nodes)
    yield _stage(INVENTORY, everyone)
    yield _paths(fabric)
    yield _stage("sockperf", everyone, design="neighbours")
    yield _stage("iperf3", everyone, design="neighbours", seconds=10)
    yield _stage("iperf3", everyone, design="trunks", streams=8, seconds=10)
    yield _stage("iperf3", everyone, design="permutation", seconds=10)
    yield _stage("nuttcp", everyone, design="neighbours", mode="burst")


def _storage(fabric: Fabric) -> Iterator[Stage]:
    own = _of(fabric, NodeRole.COMPUTE, NodeRole.STORAGE)
    yield _stage(INVENTORY, tuple(fabric.nodes))
    yield _stage("dd", own, size="2 GiB", block="1 MiB")
    yield _stage("fio", own, size="1 GiB", seconds=20)
    yield _stage("fio", own, size="1 GiB", seconds=20, jobs=4)
    yield _stage("iperf3", tuple(fabric.nodes), design="trunks", streams=8)


def _acceptance(fabric: Fabric) -> Iterator[Stage]:
    """What the Jetstream acceptance report ran (4.1, 5.1), with its parameters."""
    everyone = tuple(fabric.nodes)
    compute = _of(fabric, NodeRole.COMPUTE)
    yield _stage(INVENTORY, everyone)
    yield _paths(fabric)
    yield _stage("hpl", compute, size=1, memory=0.5)
    yield _stage("stream", compute)
    if any(node.role is NodeRole.MANAGEMENT for node in fabric.nodes.values()):
        yield _stage("iperf3", everyone, design="star", seconds=10)
    yield _stage("iperf3", everyone, design="neighbours", seconds=10)
    yield _stage("iperf3", everyone, design="trunks", streams=8, seconds=10)
    yield _stage("nuttcp", everyone, design="neighbours", mode="udp", bitrate="1 Gb/s")
    yield _stage("nuttcp", everyone, design="neighbours", mode="burst")
    yield _stage("dd", compute, size="2 GiB", block="1 MiB")
    yield _stage("fio", compute, size="1 GiB", seconds=20)


def _burn_in(fabric: Fabric) -> Iterator[Stage]:
    """Long loads three times over: what fails when it is warm, fails here."""
    everyone, compute = tuple(fabric.nodes), _of(fabric, NodeRole.COMPUTE)
    yield _stage(INVENTORY, everyone)
    thrice = Sweep(repeat=3)
    yield _stage("hpl", compute, thrice, size=1, memory=0.8, seconds=3600)
    yield _stage("stream", compute, thrice)
    yield _stage("fio", compute, thrice, size="1 GiB", seconds=60)
    yield _stage("iperf3", everyone, thrice, design="trunks", streams=8, seconds=60)
    yield _stage(INVENTORY, everyone)


OURS: Mapping[str, Callable[[Fabric], Iterator[Stage]]] = MappingProxyType(
    {
        "default": _default,
        "quick": _quick,
        "network": _network,
        "storage": _storage,
        "acceptance": _acceptance,
        "burn-in": _burn_in,
    }
)
"""The suites that come with the console, by name; a suite of the file with such a name counts instead."""


def make_default_suite(fabric: Fabric) -> Suite:
    """What runs when a file declares no suite: inventory, then NICs and trunks."""
    return Suite("default", tuple(_default(fabric)))


def find_suite(fabric: Fabric, name: str | None) -> Suite:
    """The suite ``name``; without a name ``default``, or the file's only one, or ours. PlanError when unknown."""
    if name is None:
        if "default" in fabric.suites:
            return fabric.suites["default"]
        return next(iter(fabric.suites.values())) if len(fabric.suites) == 1 else make_default_suite(fabric)
    if name in fabric.suites:
        return fabric.suites[name]
    if name in OURS:
        return Suite(name, tuple(OURS[name](fabric)))
    raise make_unknown_error("suite", name, tuple(dict.fromkeys((*fabric.suites, *OURS))))
