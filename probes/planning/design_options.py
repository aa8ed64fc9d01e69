"""The options of a stage: their type, the refusal of an unknown name, and whether a probe would run with them."""

from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Address
from types import MappingProxyType

from benchconsole.probes.api import Probe, Safety, Shape, Target
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.readers.numbers import parse_address
from benchconsole.topology.copying import replace
from benchconsole.topology.errors import find_near
from benchconsole.topology.model.fabric import Hardware, Node, NodeId, NodeRole

Options = Mapping[str, str | int | float]

_LISTED = 40
"""Fewer names than this are listed in a refusal."""

_ROOMY = Hardware("example", MappingProxyType({"cpu.cores": 65_536.0, "memory.total": 2.0**50}))
"""More than any node has: what does not fit the nodes that are meant is for the plan to refuse."""

_FIRST = IPv4Address("198.18.0.1")
"""The addresses of RFC 2544, which nobody has, begin here."""

_MOST_MEMBERS = 1000
"""As many nodes stand for those of a stage: no launch takes more."""


def make_unknown_error(what: str, found: str, known: Iterable[str], expected: str = "") -> PlanError:
    """The refusal of an unknown name, with the nearest known one; ``expected`` says in words what many names are."""
    names = sorted(known)
    hint = find_near(found, names)
    if not expected or len(names) < _LISTED:
        expected = f"one of {', '.join(names)}" if names else "none"
    return PlanError(f"unknown {what} {found!r}, expected {expected}" + (f"; did you mean {hint}?" if hint else ""))


def make_example_target(probe: Probe, options: Options, nodes: Sequence[Node] = ()) -> Target:
    """A test of ``probe`` with ``options`` over its defaults, on nodes that stand for ``nodes``; two where those are
    fewer. They have room for everything, and an address in place of a name unless the option ``network`` says which.
    """
    keeps_names = bool(options.get("network"))
    number = min(max(len(nodes), 2), _MOST_MEMBERS)
    members = tuple(_make_example(index, nodes, keeps_names) for index in range(number))
    peer, together = members[1] if probe.shape is Shape.PAIR else None, members if probe.shape is Shape.SET else ()
    return Target(members[0], peer, MappingProxyType({**probe.options, **options}), together)


def _make_example(index: int, nodes: Sequence[Node], keeps_names: bool) -> Node:
    """The example that stands for the node of this ``index``, or for one more."""
    address = str(_FIRST + index)
    if index >= len(nodes):
        return Node(NodeId(f"example{index + 1}"), NodeRole.COMPUTE, _ROOMY, address, address)
    node = nodes[index]
    if keeps_names or parse_address(node.data_address) is not None:
        address = node.data_address
    return replace(node, hardware=_ROOMY, address=address, data_address=address)


def find_refusal(probe: Probe, options: Options, nodes: Sequence[Node] = ()) -> str:
    """Why ``probe`` would not run with ``options`` over its defaults; empty where it says nothing against them.

    Asked before there is a plan, with nodes that stand for ``nodes``: only pure functions of the probe are called.
    That nobody has confirmed the loss of a disk yet is said by the plan.
    """
    if probe.safety is Safety.DESTROYS:
        options = {"confirmed": options.get("serial", ""), **options}
    few = _ask_for_refusal(probe, make_example_target(probe, options, nodes[:2]))
    # Two of many nodes answer in microseconds; only what does not fit on two is asked on all.
    return _ask_for_refusal(probe, make_example_target(probe, options, nodes)) if few and len(nodes) > 2 else few


def _ask_for_refusal(probe: Probe, target: Target) -> str:
    try:
        probe.check(target)
    except PlanError as error:
        return str(error)
    except Exception:
        return ""  # whatever else a probe does wrong is told by whoever runs it
    return ""
