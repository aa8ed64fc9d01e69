"""Owns asking a probe whether it would run with some options, without any node.

A probe refuses what it cannot run with before it sends anything, so it is brought as far as its first
command, on nodes of documentation (RFC 5737) that nobody reaches. Refuses to send that command.
"""

from collections.abc import Coroutine, Sequence
from types import MappingProxyType
from typing import Any, NoReturn

from probes.api import Contact, Output, Probe, Shape, Target
from probes.errors import PlanError
from probes.planning.options import Options
from topology.model import Hardware, Node, NodeId, NodeRole

_ROOMY = Hardware("example", MappingProxyType({"cpu.cores": 65_536.0, "memory.total": 2.0**50}))
"""More than any node has: what does not fit the nodes that are meant is for the plan to refuse."""

_NODES = tuple(
    Node(NodeId(f"n{number}"), NodeRole.COMPUTE, _ROOMY, f"192.0.2.{number}", f"192.0.2.{number}") for number in (1, 2)
)


class _SentError(Exception):
    """The probe would have asked its node now: its options are taken."""


class _Nobody:
    """A node that is never asked."""

    def __init__(self, node: Node) -> None:
        self.node = node.id

    def run(self, *_: object, **__: object) -> NoReturn:
        raise _SentError

    start = run


class _Nowhere:
    """The nodes of a test that is not run."""

    def __init__(self, target: Target) -> None:
        self.everyone = [_Nobody(node) for node in target.nodes]
        self.here, self.there = self.everyone[0], self.everyone[-1]

    async def together(self) -> None:
        raise _SentError


def refusal(probe: Probe, options: Options) -> str:
    """Why ``probe`` would not run with ``options`` over its defaults; empty where it says nothing against them."""
    target = _target(probe, MappingProxyType({**probe.options, **options}))
    try:
        probe.estimate(target.options)
        probe.space(target.options)
        probe.demands(target)
        _first_step(probe.run(_contact(target), target))
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


def _contact(target: Target) -> Contact:
    contact: Any = _Nowhere(target)  # it has the names of a Contact, and nothing behind them
    return contact  # type: ignore[no-any-return]


def _first_step(running: Coroutine[Any, Any, Sequence[Output]]) -> None:
    """Bring it as far as it comes without waiting."""
    try:
        running.send(None)
    except StopIteration:
        return
    finally:
        running.close()
