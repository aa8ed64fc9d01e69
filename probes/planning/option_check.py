"""Whether a probe would run with some options, asked before there are nodes.

Only pure functions of the probe are asked, with nodes of documentation (RFC 5737) for those that want a target.
"""

from types import MappingProxyType

from benchconsole.probes.api import Probe, Shape, Target
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.planning.design_options import Options
from benchconsole.topology.model.fabric import Hardware, Node, NodeId, NodeRole

_ROOMY = Hardware("example", MappingProxyType({"cpu.cores": 65_536.0, "memory.total": 2.0**50}))
"""More than any node has: what does not fit the nodes that are meant is for the plan to refuse."""

_NODES = tuple(
    Node(NodeId(f"n{number}"), NodeRole.COMPUTE, _ROOMY, f"192.0.2.{number}", f"192.0.2.{number}") for number in (1, 2)
)


def find_refusal(probe: Probe, options: Options) -> str:
    """Why ``probe`` would not run with ``options`` over its defaults; empty where it says nothing against them."""
    target = _target(probe, MappingProxyType({**probe.options, **options}))
    try:
        probe.check(target)
    except PlanError as error:
        return str(error)
    except Exception:
        return ""  # whatever else a probe does wrong is told by whoever runs it
    return ""


def _target(probe: Probe, options: Options) -> Target:
    first, second = _NODES
    if probe.shape is Shape.SET:
        return Target(first, None, options, _NODES)
    return Target(first, second if probe.shape is Shape.PAIR else None, options)
