"""The options of a stage: their type, the refusal of an unknown name, and whether a probe would run with them."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from benchconsole.probes.api import Probe, Shape, Target
from benchconsole.probes.model.errors import PlanError
from benchconsole.topology.errors import find_near
from benchconsole.topology.model.fabric import Hardware, Node, NodeId, NodeRole

Options = Mapping[str, str | int | float]

_LISTED = 40
"""Fewer names than this are listed in a refusal."""

_ROOMY = Hardware("example", MappingProxyType({"cpu.cores": 65_536.0, "memory.total": 2.0**50}))
"""More than any node has: what does not fit the nodes that are meant is for the plan to refuse."""

_NODES = tuple(
    Node(NodeId(f"n{number}"), NodeRole.COMPUTE, _ROOMY, f"192.0.2.{number}", f"192.0.2.{number}") for number in (1, 2)
)


def make_unknown_error(what: str, found: str, known: Iterable[str], expected: str = "") -> PlanError:
    """The refusal of an unknown name, with the nearest known one; ``expected`` says in words what many names are."""
    names = sorted(known)
    hint = find_near(found, names)
    if not expected or len(names) < _LISTED:
        expected = f"one of {', '.join(names)}" if names else "none"
    return PlanError(f"unknown {what} {found!r}, expected {expected}" + (f"; did you mean {hint}?" if hint else ""))


def make_example_target(probe: Probe, options: Options) -> Target:
    """A test of ``probe`` with ``options`` over its defaults, on nodes of documentation (RFC 5737)."""
    first, second = _NODES
    peer, members = second if probe.shape is Shape.PAIR else None, _NODES if probe.shape is Shape.SET else ()
    return Target(first, peer, MappingProxyType({**probe.options, **options}), members)


def find_refusal(probe: Probe, options: Options) -> str:
    """Why ``probe`` would not run with ``options`` over its defaults; empty where it says nothing against them.

    Asked before there are nodes, with those of documentation (RFC 5737): only pure functions of the probe are called.
    """
    try:
        probe.check(make_example_target(probe, options))
    except PlanError as error:
        return str(error)
    except Exception:
        return ""  # whatever else a probe does wrong is told by whoever runs it
    return ""
