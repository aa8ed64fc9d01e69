"""Owns which suite runs: the one that was named, or ours where a file declares none."""

from types import MappingProxyType

from probes.planning.options import Options, unknown
from topology.model import Fabric, Stage, Suite


def default_suite(fabric: Fabric) -> Suite:
    """What runs when a file declares no suite: inventory, then NICs and trunks."""
    everyone = tuple(fabric.nodes)
    none: Options = MappingProxyType({})
    return Suite(
        "default",
        (
            Stage("inventory", everyone, none),
            Stage("iperf3", everyone, MappingProxyType({"design": "neighbours"})),
            Stage("iperf3", everyone, MappingProxyType({"design": "trunks", "streams": 8})),
        ),
    )


def suite_named(fabric: Fabric, name: str | None) -> Suite:
    """The suite ``name``; without a name ``default``, or the only one, or ours. PlanError when unknown."""
    if name is None:
        if "default" in fabric.suites:
            return fabric.suites["default"]
        return next(iter(fabric.suites.values())) if len(fabric.suites) == 1 else default_suite(fabric)
    if name in fabric.suites:
        return fabric.suites[name]
    if name == "default" and not fabric.suites:
        return default_suite(fabric)
    raise unknown("suite", name, fabric.suites or ("default",))
