"""Everything that a plugin may import, and the promise that it stays.

Names in ``__all__`` change only with a major version. Hook arguments may be added at any
time and are removed only after one minor release with a warning. A probe is a subclass of
``Probe`` returned from the hook ``bench_probes`` of a module that is registered under the
entry-point group ``benchconsole.probes``; see ``docs/howto/write-a-probe.md``.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar

import pluggy

from probes.errors import PlanError, ProbeError, ProbeOutputError
from probes.given import Given
from probes.model import Demands, Fact, FailedAt, Failure, Labels, Metric, Output, Part, Reading, Target, labels
from probes.remote import Contact, Remote, RemoteError, Running
from topology.model import Node, NodeRole
from topology.units import Shown, Unit, UnitError, parse

hook = pluggy.HookimplMarker("benchconsole")
"""Marks a function of a plugin module as the implementation of a hook."""


class Safety(StrEnum):
    """What a probe does to a node in use."""

    READS = "reads"
    LOADS = "loads"
    DESTROYS = "destroys"


class Shape(StrEnum):
    """What a probe runs on."""

    NODE = "node"
    PAIR = "pair"
    SET = "set"


class Probe(ABC):
    """One way of asking nodes. Subclass, fill the class attributes, write ``parse`` and ``command``.

    ``name`` is a slug; ``metrics`` declares every metric that ``parse`` may return; ``tools``
    maps each program that a node must have to the Debian package that brings it, empty where none
    does; ``versions`` says from which version on a tool will do; ``exits`` with which statuses it ends
    where its numbers hold (ping: 1, when nobody answered); ``privileged`` whether it must be
    the administrator; ``options`` are the defaults of what a suite may set (a string for anything
    with a unit); ``source`` names the report, paper or manual that the test is taken from.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    metrics: ClassVar[Sequence[Metric]] = ()
    source: ClassVar[str] = ""
    tools: ClassVar[Mapping[str, str]] = MappingProxyType({})
    versions: ClassVar[Mapping[str, str]] = MappingProxyType({})
    exits: ClassVar[frozenset[int]] = frozenset((0,))
    privileged: ClassVar[bool] = False
    options: ClassVar[Mapping[str, str | int | float]] = MappingProxyType({})
    safety: ClassVar[Safety] = Safety.READS
    shape: ClassVar[Shape] = Shape.NODE
    timeout: ClassVar[float] = 30.0

    def command(self, target: Target) -> Sequence[str]:
        """The one command of a simple probe, as an argument list. Probes with ``run`` need none."""
        raise ProbeError(f"probe {self.name} defines neither command() nor run()")

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        """Ask the node(s) and return what was said, in order. Override it for two-ended probes."""
        return (await contact.here.run(self.command(target), timeout=self.timeout),)

    @abstractmethod
    def parse(self, output: Output) -> Sequence[Reading | Fact]:
        """Read one output. Pure; ProbeOutputError when it gives nothing that can be trusted.

        A cut output gives the same readings as the whole one, fewer, or the error: never others.
        """

    def demands(self, target: Target) -> Demands:
        """What one test loads besides links; the scheduler keeps apart what would share it.

        A probe that only reads needs nothing for itself; one that loads a node has its processor,
        memory and disk to itself, one that sends between two nodes leaves NICs to the design.
        """
        if self.safety is Safety.READS or self.shape is Shape.PAIR:
            return Demands()
        return Demands(frozenset((Part.CPU, Part.MEMORY, Part.DISK)))

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds that one test takes with these options, for plans and the time left."""
        return 2.0

    def space(self, options: Mapping[str, str | int | float]) -> float:
        """Bytes that one test needs free below its option ``scratch`` while it runs, without the reserve."""
        return 0.0

    def given(self, options: Mapping[str, str | int | float]) -> Given:
        """``options`` over the defaults, to be read kind by kind."""
        return Given(self.name, {**self.options, **options})


__all__ = [
    "Contact", "Demands", "Fact", "FailedAt", "Failure", "Given", "Labels", "Metric", "Node", "NodeRole", "Output",
    "Part", "PlanError", "Probe", "ProbeError", "ProbeOutputError", "Reading", "Remote", "RemoteError", "Running",
    "Safety", "Shape", "Shown", "Target", "Unit", "UnitError", "hook", "labels", "parse",
]  # fmt: skip
