"""The stages of a suite that are left out because nothing could hold them to the caps of the file, and why.

A test between nodes is held to a rate (``caps``); a probe without an option for one sends as fast as it goes.
What a test writes to a shared storage system by itself is held by nothing: a tool that keeps a rate while it
measures still lays out its files without.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType

from benchconsole.probes.api import Probe, Safety, Shape
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import Target
from benchconsole.probes.model.options import Given
from benchconsole.probes.planning.design_options import Options
from benchconsole.probes.planning.node_groups import SET_OPTIONS
from benchconsole.probes.planning.option_check import find_refusal
from benchconsole.probes.planning.resource_use import FILESYSTEM
from benchconsole.probes.planning.sweep_points import list_turns
from benchconsole.topology.model.fabric import Fabric, NodeId, Stage, Suite
from benchconsole.topology.units import percent, storage_rate

_ANY_RATE = "10 Mb/s"
"""A rate that whoever keeps one takes."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """A stage that is not run on ``nodes``, and why; ``whole`` where nothing of it is run."""

    probe: str
    nodes: tuple[NodeId, ...]
    why: str
    whole: bool = True

    def __str__(self) -> str:
        from benchconsole.topology.selection import fold  # ClusterShell is slow to load

        where = "" if self.whole else f" on {fold(self.nodes)}"
        return f"{self.probe} is not run{where}: {self.why}"


def withhold(
    fabric: Fabric, suite: Suite, probes: Mapping[str, Probe], *, nodes: Collection[NodeId] | None = None
) -> tuple[Suite, tuple[Withheld, ...]]:
    """``suite`` on ``nodes`` (None: all) without what cannot be held to the caps of the file, and what that is.

    Probes that only read are left alone; so is a probe that is not installed, which ``plan`` refuses.
    """
    if fabric.caps.link is None and not fabric.caps.storage:
        return suite, ()
    kept: list[Stage] = []
    left: list[Withheld] = []
    for stage in suite.stages:
        members = tuple(node for node in stage.nodes if nodes is None or node in nodes)
        probe = probes.get(stage.probe)
        found = _Held(fabric, probe, stage, members).why() if probe is not None and members else None
        if found is not None:
            left.append(found)
        if found is None or not found.whole:
            spared = set(found.nodes if found is not None else ())
            kept.append(replace(stage, nodes=tuple(node for node in stage.nodes if node not in spared)))
    return replace(suite, stages=tuple(kept)), tuple(left)


@dataclass(frozen=True, slots=True)
class _Held:
    """One stage against the caps of its file."""

    fabric: Fabric
    probe: Probe
    stage: Stage
    members: tuple[NodeId, ...]

    def why(self) -> Withheld | None:
        """What of it is left out; None where all of it can be held to the caps."""
        if self.probe.safety is Safety.READS:
            return None
        every = list(self._options())
        written = {name: self._cap_on_writing(name) for options in every for name in self._writes_to(options)}
        system = next((name for name, cap in written.items() if cap), None)
        if system is not None:
            words = f"it reads and writes {system} by itself at no set rate, and the file caps {written[system]}"
            return self._left(self.members, words)
        unruly = any(self._sends(options) and not can_keep_rate(self.probe, options) for options in every)
        return self._sending() if unruly else None

    def _options(self) -> Iterator[Options]:
        """The options of every point that is measured."""
        own = self.stage.options
        if self.stage.sweep is None:
            yield MappingProxyType({**self.probe.options, **own})
            return
        for turn in list_turns(self.stage.sweep):
            yield MappingProxyType({**self.probe.options, **own, **turn.options(self.probe.options)})

    def _writes_to(self, options: Options) -> list[str]:
        """The shared storage systems that a test fills."""
        for target in self._list_targets(options):
            with suppress(PlanError):  # a smaller set of the same nodes may be taken
                shared = self.probe.demands(target).shared
                return [name.removeprefix(FILESYSTEM) for name in shared if name.startswith(FILESYSTEM)]
        return []

    def _list_targets(self, options: Options) -> Iterator[Target]:
        """One target as the stage may have it; of sets the largest and the smallest."""
        nodes = tuple(self.fabric.nodes[name] for name in self.members)
        if self.probe.shape is Shape.SET:
            yield from (Target(nodes[0], None, options, nodes[:size]) for size in (len(nodes), 2, 1))
        elif self.probe.shape is Shape.NODE:
            yield Target(nodes[0], None, options)
        elif len(nodes) > 1:
            yield Target(nodes[0], nodes[1], options)

    def _cap_on_writing(self, system: str) -> str:
        """The cap that bytes to ``system`` fall under, in words; empty without one."""
        if system not in self.fabric.storage:
            return ""
        own = self.fabric.caps.storage.get(system)
        return f"{system} at {storage_rate(own)}" if own is not None else self._cap_on_links()

    def _cap_on_links(self) -> str:
        share = self.fabric.caps.link
        return f"links at {percent(share)}" if share is not None else ""

    def _sends(self, options: Options) -> bool:
        """Whether its tests load what is between nodes."""
        if self.probe.shape is not Shape.SET:
            return self.probe.shape is Shape.PAIR
        most = Given("stage", {**SET_OPTIONS, **options}).whole("size", 0, 1_000_000)
        return most != 1 and len(self.members) > 1

    def _sending(self) -> Withheld | None:
        """What is left out of tests that send as fast as they can: all, or the servers of capped systems."""
        cap = self._cap_on_links()
        if cap:
            return self._left(self.members, f"it keeps no rate, and the file caps {cap}")
        servers = {
            node: name
            for name in self.fabric.caps.storage
            for node in self.fabric.storage[name].servers
            if node in self.members
        }
        if not servers:
            return None
        systems = ", ".join(dict.fromkeys(servers.values()))
        words = f"it keeps no rate, and the file caps what servers of {systems} may be asked for"
        own = [node for node in self.members if node in servers]
        return self._left(own if len(self.members) - len(own) > 1 else self.members, words)

    def _left(self, nodes: Sequence[NodeId], why: str) -> Withheld:
        return Withheld(self.stage.probe, tuple(nodes), why, len(nodes) == len(self.members))


def can_keep_rate(probe: Probe, options: Options) -> bool:
    """Whether a test with ``options`` can be held to a rate: there is an option for it that no other forbids."""
    option = probe.sending_options.rate
    if not option:
        return False
    free, held = ({**options, option: rate} for rate in ("", _ANY_RATE))
    return not find_refusal(probe, held) or bool(find_refusal(probe, free))
