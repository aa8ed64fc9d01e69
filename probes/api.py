"""The interface for plugins: everything that they may import, with the promise that it stays.

Names in ``__all__`` change only with a major version. Hook arguments may be added at any
time and are removed only after one minor release with a warning. A probe is a subclass of
``Probe`` returned from the hook ``bench_probes`` of a module that is registered under the
entry-point group ``benchconsole.probes``; see ``docs/howto/write-a-probe.md``.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar

import pluggy

from benchconsole.probes.model.errors import PlanError, ProbeError, ProbeOutputError, ToolError
from benchconsole.probes.model.interval import Interval
from benchconsole.probes.model.measuring import (
    Against,
    Demands,
    Fact,
    FailedAt,
    Failure,
    Labels,
    Metric,
    Output,
    Part,
    Reading,
    Target,
    labels,
)
from benchconsole.probes.model.options import Given
from benchconsole.probes.model.remote import Contact, Remote, RemoteError, Running
from benchconsole.probes.model.sending import Directions, Sending, SendingOptions
from benchconsole.probes.model.time_limits import compute_give_up
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Comparator, Node, NodeRole
from benchconsole.topology.units import Shown, Unit, UnitError, parse

hook = pluggy.HookimplMarker("benchconsole")
"""Marks a function of a plugin module as the implementation of a hook."""


class Safety(StrEnum):
    """The effect of a probe on a node in use."""

    READS = "reads"
    LOADS = "loads"
    DESTROYS = "destroys"


class Shape(StrEnum):
    """The nodes that one test of a probe runs on."""

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
    with a unit), ``sending_options`` those of them by which a test between two nodes is told how to
    send; ``label_names`` are those of the labels that its readings may carry besides those of their tests (None: not
    told, so that criteria may ask for any); ``closing`` is the last line of a whole output of its tool, without colours
    and blanks behind it, where it has one: a captured file that does not end with it may be partial; ``source`` names
    the report, paper or manual that the test is taken from.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    metrics: ClassVar[Sequence[Metric]] = ()
    label_names: ClassVar[frozenset[str] | None] = None
    closing: ClassVar[re.Pattern[str] | None] = None
    source: ClassVar[str] = ""
    tools: ClassVar[Mapping[str, str]] = MappingProxyType({})
    versions: ClassVar[Mapping[str, str]] = MappingProxyType({})
    exits: ClassVar[frozenset[int]] = frozenset((0,))
    privileged: ClassVar[bool] = False
    options: ClassVar[Mapping[str, str | int | float]] = MappingProxyType({})
    sending_options: ClassVar[SendingOptions] = SendingOptions()
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

    def read_intervals(self, line: str, target: Target) -> Sequence[Interval]:
        """The interval numbers in one line that a command of a running test printed, on any node; mostly none. Pure.

        Override it where a tool tells how far it has come. The numbers are shown while the test runs, and never stored
        or judged. Asked for whole lines without their end, of at most 500 characters.
        """
        return ()

    def conditions(self, reading: Reading, target: Target) -> Labels:
        """Labels of a reading that follow from its nodes, which the parser does not know. Pure."""
        return ()

    def demands(self, target: Target) -> Demands:
        """Resources besides links that one test loads; the scheduler keeps tests apart that would share them.

        A probe that only reads needs nothing for itself; one that loads a node has its processor,
        memory and disk to itself, one that sends between two nodes leaves NICs to the design.
        """
        if self.safety is Safety.READS or self.shape is Shape.PAIR:
            return Demands()
        return Demands(frozenset((Part.CPU, Part.MEMORY, Part.DISK)))

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds that one test takes with these options, for plans and the time left."""
        return 2.0

    def time_limit(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds after which the commands of one test are ended, even where its tool hangs: a plan tells it.

        Override it where ``run`` gives its commands less time than every test has.
        """
        return self.timeout if type(self).run is Probe.run else compute_give_up(self.estimate(options))

    def space(self, options: Mapping[str, str | int | float]) -> float:
        """Bytes that one test needs free below its option ``scratch`` while it runs, without the reserve."""
        return 0.0

    def sending(self, options: Mapping[str, str | int | float]) -> Sending:
        """The flow that a test between two nodes sends with these options; PlanError for options that are out of range.

        Read from ``sending_options``. Override it where more decides, such as a mode of requests and answers.
        """
        return self.sending_options.read(self.given(options))

    def check(self, target: Target) -> None:
        """Raise PlanError for a test that would not run with its options. Pure.

        Asked while the description of a fabric is read, for nodes that do not exist and have room for everything.
        Override it for what else ``run`` would refuse before its first command.
        """
        self.estimate(target.options)
        self.space(target.options)
        self.demands(target)
        if type(self).command is not Probe.command:
            self.command(target)
        self.sending(target.options)

    def given(self, options: Mapping[str, str | int | float]) -> Given:
        """``options`` over the defaults, to be read kind by kind."""
        return Given(self.name, {**self.options, **options})


__all__ = [
    "Against", "Comparator", "Contact", "Demands", "Directions", "Fact", "FailedAt", "Failure", "Given", "Interval",
    "Labels", "Metric", "Node", "NodeRole", "Output", "Part", "PlanError", "Probe", "ProbeError", "ProbeOutputError",
    "Reading", "Remote", "RemoteError", "Running", "Safety", "Sending", "SendingOptions", "Shape", "Shown", "Target",
    "ToolError", "Unit", "UnitError", "hook", "labels", "parse", "replace",
]  # fmt: skip
