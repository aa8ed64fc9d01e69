"""The fabrics and suites that are examined: topology texts, and the stages of each suite."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from benchconsole.probes.planning.suites import find_suite
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, Stage, Suite
from benchmarks.attribution.cable_simulator import METRICS

_ABSOLUTE = "at_least: 1 GB/s, round: 0.1 GB/s, source: 5.1.1.3"
_SHARE = "at_least: 80 %, of: capacity, source: 5.1.1.3"


def jetstream_as_shipped() -> str:
    """The Jetstream example, unchanged: its throughput criterion is absolute."""
    return files("benchconsole.topology").joinpath("examples", "jetstream.yaml").read_text()


def jetstream() -> str:
    """The Jetstream example with its throughput held against capacity."""
    return _replace_once(jetstream_as_shipped(), _ABSOLUTE, _SHARE)


def leaf_spine() -> str:
    """200 nodes on 10 leaves, 4 spines, a LAG of two between each leaf and each spine; 1:1."""
    lines = ["schema: 1", "fabric: leaf-spine", "network: {mtu: 9000, hash: unknown}", "switches:"]
    lines += ["  spine[1-4]: {role: spine}", "  leaf[01-10]: {role: leaf}", "nodes:"]
    lines += ["  n[001-192]: {role: compute}", "  st[1-8]: {role: storage}", "links:"]
    lines += ['  - {from: "leaf[01-10]", to: "spine[1-4]", speed: 25 Gb/s, count: 2}']
    racks = [f"n[{20 * rack + 1:03}-{20 * rack + 20:03}]" for rack in range(9)]
    racks.append("n[181-192],st[1-8]")
    lines += [f'  - {{from: "{nodes}", to: leaf{rack:02}, speed: 10 Gb/s}}' for rack, nodes in enumerate(racks, 1)]
    return "\n".join(lines) + "\n"


def fat_tree() -> str:
    """The fat tree of 8-port switches: 8 pods of 4 edge and 4 upper switches, 16 cores, 128 nodes, single cables."""
    lines = ["schema: 1", "fabric: fat-tree", "network: {mtu: 9000, hash: unknown}", "switches:"]
    lines += ["  edge[01-32]: {role: leaf}", "  upper[01-32]: {role: spine}", "  core[01-16]: {role: core}"]
    lines += ['nodes: {"n[001-128]": {}}', "links:"]
    for pod in range(8):
        pods = f"[{4 * pod + 1:02}-{4 * pod + 4:02}]"
        lines.append(f'  - {{from: "edge{pods}", to: "upper{pods}", speed: 10 Gb/s}}')
        for place in range(4):
            cores = f"core[{4 * place + 1:02}-{4 * place + 4:02}]"
            lines.append(f'  - {{from: upper{4 * pod + place + 1:02}, to: "{cores}", speed: 10 Gb/s}}')
    for edge in range(32):
        lines.append(f'  - {{from: "n[{4 * edge + 1:03}-{4 * edge + 4:03}]", to: edge{edge + 1:02}, speed: 10 Gb/s}}')
    return "\n".join(lines) + "\n"


def unlike_nics() -> str:
    """24 nodes with 10 or 25 Gb/s on three leaves, four storage servers with 40, two spines; unlike oversubscribed."""
    lines = ["schema: 1", "fabric: unlike-nics", "network: {mtu: 9000, hash: unknown}", "switches:"]
    lines += ["  spine[1-2]: {role: spine}", "  leaf[1-3]: {role: leaf}", "nodes:"]
    lines += ["  n[01-24]: {role: compute}", "  st[1-4]: {role: storage}", "links:"]
    lines += ['  - {from: "leaf[1-3]", to: "spine[1-2]", speed: 40 Gb/s, count: 2}']
    lines += ['  - {from: "n[01-08]", to: leaf1, speed: 10 Gb/s}', '  - {from: "n[09-16]", to: leaf2, speed: 25 Gb/s}']
    lines += ['  - {from: "n[17-24]", to: leaf3, speed: 10 Gb/s}', '  - {from: "st[1-4]", to: leaf3, speed: 40 Gb/s}']
    return "\n".join(lines) + "\n"


def oversubscribed() -> str:
    """36 nodes, unevenly on four leaves, LAGs of two to each of two spines; up to 3:1."""
    lines = ["schema: 1", "fabric: oversubscribed", "network: {mtu: 9000, hash: unknown}", "switches:"]
    lines += [
        "  spine[1-2]: {role: spine}",
        "  leaf[1-4]: {role: leaf}",
        "nodes:",
        "  n[01-36]: {role: compute}",
        "links:",
    ]
    lines += ['  - {from: "leaf[1-4]", to: "spine[1-2]", speed: 10 Gb/s, count: 2}']
    for leaf, nodes in enumerate(("n[01-04]", "n[05-12]", "n[13-24]", "n[25-36]"), 1):
        lines.append(f'  - {{from: "{nodes}", to: leaf{leaf}, speed: 10 Gb/s}}')
    return "\n".join(lines) + "\n"


def wide_lag() -> str:
    """64 nodes on four leaves, two spines, a LAG of eight between each leaf and each spine; 1:1."""
    lines = ["schema: 1", "fabric: wide-lag", "network: {mtu: 9000, hash: unknown}", "switches:"]
    lines += [
        "  spine[1-2]: {role: spine}",
        "  leaf[1-4]: {role: leaf}",
        "nodes:",
        "  n[01-64]: {role: compute}",
        "links:",
    ]
    lines += ['  - {from: "leaf[1-4]", to: "spine[1-2]", speed: 10 Gb/s, count: 8}']
    for leaf in range(4):
        lines.append(f'  - {{from: "n[{16 * leaf + 1:02}-{16 * leaf + 16:02}]", to: leaf{leaf + 1}, speed: 10 Gb/s}}')
    return "\n".join(lines) + "\n"


def three_tiers() -> str:
    """64 nodes on eight leaves in two pods, two aggregation switches a pod, two cores; LAGs of two to the cores."""
    lines = ["schema: 1", "fabric: three-tiers", "network: {mtu: 9000, hash: unknown}", "switches:"]
    lines += ["  core[1-2]: {role: core}", "  agg[1-4]: {role: spine}", "  leaf[1-8]: {role: leaf}", "nodes:"]
    lines += ["  n[01-64]: {role: compute}", "links:"]
    lines += [
        '  - {from: "leaf[1-4]", to: "agg[1-2]", speed: 40 Gb/s}',
        '  - {from: "leaf[5-8]", to: "agg[3-4]", speed: 40 Gb/s}',
    ]
    lines += ['  - {from: "agg[1-4]", to: "core[1-2]", speed: 40 Gb/s, count: 2}']
    for leaf in range(8):
        lines.append(f'  - {{from: "n[{8 * leaf + 1:02}-{8 * leaf + 8:02}]", to: leaf{leaf + 1}, speed: 10 Gb/s}}')
    return "\n".join(lines) + "\n"


FABRICS: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "jetstream": jetstream,
        "jetstream-as-shipped": jetstream_as_shipped,
        "leaf-spine": leaf_spine,
        "fat-tree": fat_tree,
        "unlike-nics": unlike_nics,
        "oversubscribed": oversubscribed,
        "wide-lag": wide_lag,
        "three-tiers": three_tiers,
    }
)
"""Topology texts by the name of the fabric; none says how it hashes."""


@dataclass(frozen=True, slots=True)
class ExaminedSuite:
    """The stages of a suite on a fabric; ``steered``: the file says ``hash: steered``, else that it is unknown."""

    stages: Callable[[Fabric], Sequence[Stage]]
    steered: bool = False


def _ours(name: str) -> Callable[[Fabric], Sequence[Stage]]:
    return lambda fabric: find_suite(fabric, name).stages


def _few_streams(fabric: Fabric) -> Sequence[Stage]:
    """The default suite with too few streams to divide evenly by hash: then a slow flow is no fault."""
    stages = find_suite(fabric, "default").stages
    return [replace(each, options=MappingProxyType({**each.options, "streams": 4})) for each in stages]


def _steered(partners: int) -> Callable[[Fabric], Sequence[Stage]]:
    options: Mapping[str, str | int | float] = MappingProxyType({"design": "steered", "partners": partners})
    return lambda fabric: [Stage("iperf3", tuple(fabric.nodes), options)]


SUITES: Mapping[str, ExaminedSuite] = MappingProxyType(
    {
        "default": ExaminedSuite(_ours("default")),
        "default-4": ExaminedSuite(_few_streams),
        "network": ExaminedSuite(_ours("network")),
        "lag": ExaminedSuite(_ours("lag"), steered=True),
        "lag-unknown": ExaminedSuite(_ours("lag")),
        "steered-2": ExaminedSuite(_steered(2), steered=True),
        "steered-4": ExaminedSuite(_steered(4), steered=True),
    }
)
"""The suites by name. Of each only the stages with a simulated probe are run."""


@cache
def load_fabric(name: str, *, steered: bool) -> Fabric:
    """A fabric by name, with its hashes described as steered or not at all."""
    text = FABRICS[name]()
    return load_text(_replace_once(text, "hash: unknown", "hash: steered") if steered else text, f"{name}.yaml")


def find_stages(fabric: Fabric, name: str) -> Suite:
    """The stages of a suite that are simulated."""
    stages = SUITES[name].stages(fabric)
    return Suite(name, tuple(each for each in stages if each.probe in METRICS))


def _replace_once(text: str, old: str, new: str) -> str:
    if text.count(old) != 1:
        raise ValueError(f"expected {old!r} once in the topology text, found it {text.count(old)} times")
    return text.replace(old, new)
