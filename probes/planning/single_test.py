"""One test that is asked for by itself, in words: ``iperf3 n1 n2 seconds=3``; planned as a suite of one stage. Pure."""

import math
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from benchconsole.probes.api import Probe, Shape
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import Round, Target
from benchconsole.probes.planning.design_options import Options, find_refusal, make_unknown_error
from benchconsole.probes.planning.plan_rounds import renumber
from benchconsole.probes.planning.suites import SINGLE
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric, NodeId, Stage, Suite
from benchconsole.topology.units import counted

EXPECTED = "PROBE NODE [PEER] [OPTION=VALUE ...]"

_WHOLE = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+)(e[+-]?\d{1,3})?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SingleTest:
    """One test of ``probe`` on ``nodes``: one, or the two between which it sends, the one with the client first."""

    probe: str
    nodes: tuple[NodeId, ...]
    options: Options
    is_pair: bool

    @property
    def suite(self) -> Suite:
        """The suite to be planned; of its rounds ``keep`` takes those of this test."""
        options = {**self.options, "design": "all-pairs"} if self.is_pair else self.options
        return Suite(SINGLE, (Stage(self.probe, self.nodes, MappingProxyType({**options})),))

    def keep(self, rounds: Sequence[Round]) -> tuple[Round, ...]:
        """``rounds`` without the tests that the other node would send, under the same first number.

        PlanError where none is left: nothing leads from one of the nodes to the other.
        """
        kept = [
            replace(each, tests=tests, stage=f"{self.probe} single", because="one test that was asked for by itself")
            for each in rounds
            if (tests := tuple(test for test in each.tests if self._is_meant(test.target)))
        ]
        if not kept:
            raise PlanError(f"{self.probe} has nothing to run on {' and '.join(self.nodes)}: no path between them")
        return tuple(renumber(kept, rounds[0].number))

    def _is_meant(self, target: Target) -> bool:
        return not self.is_pair or (target.node.id, target.peer and target.peer.id) == self.nodes


def read_single_test(fabric: Fabric, probes: Mapping[str, Probe], text: str) -> SingleTest:
    """The test that ``text`` asks for; PlanError for what it cannot mean, in a sentence."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise PlanError(f"test {text}: {error}, expected words as a shell takes them") from None
    named = [word for word in words if "=" not in word]
    if not 2 <= len(named) <= 3:
        raise PlanError(f"test {text}: found {counted(len(named), 'name')}, expected {EXPECTED}")
    name, *nodes = named
    if name not in probes:
        raise make_unknown_error("probe", name, probes)
    for node in nodes:
        if node not in fabric.nodes:
            raise make_unknown_error("node", node, fabric.nodes, f"a node of {fabric.name}")
    probe = probes[name]
    _refuse_nodes(probe, nodes)
    options = _read_options(probe, [word for word in words if "=" in word])
    members = tuple(fabric.nodes[NodeId(node)].id for node in nodes)
    why = find_refusal(probe, options, [fabric.nodes[node] for node in members])
    if why:
        raise PlanError(why)
    return SingleTest(name, members, options, is_pair=probe.shape is Shape.PAIR)


def _refuse_nodes(probe: Probe, nodes: Sequence[str]) -> None:
    wanted = {Shape.NODE: (1,), Shape.PAIR: (2,), Shape.SET: (1, 2)}[probe.shape]
    if len(nodes) not in wanted:
        expected = {Shape.NODE: "one node", Shape.PAIR: "a node and its peer"}.get(probe.shape, "one node or two")
        raise PlanError(f"{probe.name}: found {' and '.join(nodes)}, expected {expected}")
    if len(set(nodes)) < len(nodes):
        raise PlanError(f"{probe.name}: found {nodes[0]} twice, expected two nodes")


def _read_options(probe: Probe, words: Sequence[str]) -> Options:
    """The options with their values as a file would have them: numbers, unless the probe wants text."""
    found: dict[str, str | int | float] = {}
    for word in words:
        name, _, text = word.partition("=")
        if name == "design":
            raise PlanError(f"{probe.name}: found {word}, expected no design: the nodes of the test are named")
        if name in found:
            raise PlanError(f"{probe.name}: found the option {name} twice, expected it once")
        found[name] = value = text if isinstance(probe.options.get(name), str) else _read_value(text)
        if isinstance(value, float) and not math.isfinite(value):
            raise PlanError(f"{probe.name}: found {word}, expected a finite number")
    return MappingProxyType(found)


def _read_value(text: str) -> str | int | float:
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text
