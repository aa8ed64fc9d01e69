"""Caps on links and storage systems: rates that hold tests to them, and the stages that nothing can hold.

A flow is held to its max-min fair share of what the caps leave. A probe without an option for a rate cannot be held,
nor can what a test writes to a storage system by itself: a tool that keeps a rate still lays out its files without.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType

from benchconsole.probes.api import Probe, Safety, Shape
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import Bundle, Round, Target, Test
from benchconsole.probes.model.omission import Omission, OmissionReason
from benchconsole.probes.model.options import Given
from benchconsole.probes.planning.design_options import Options, find_refusal
from benchconsole.probes.planning.participants import SET_OPTIONS
from benchconsole.probes.planning.resource_use import FILESYSTEM
from benchconsole.probes.planning.sweeps import list_turns
from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Direction, Fabric, Flow, NodeId, Stage, Suite
from benchconsole.topology.routing.routes import Routes
from benchconsole.topology.units import Unit, network_rate, parse, storage_rate

_AS_ASKED = 0.99
"""Share of the rate of a point of a sweep from which a test is still called after it: rates are rounded down."""


def hold_to_caps(
    fabric: Fabric, rounds: Sequence[Round], routes: Routes, probes: Mapping[str, Probe]
) -> Iterator[Round]:
    """``rounds`` with a rate on every test that would load something above its cap and that can be held to one.

    PlanError for a point of a sweep over rates that is above what the caps leave, and for several probes at once.
    """
    caps = fabric.caps
    if caps.link is None and not caps.storage:
        yield from rounds
        return
    share = caps.link if caps.link is not None else 1.0
    links = fabric.links.values()
    left = {Direction(link.id, end): share * link.capacity for link in links for end in (link.a, link.b)}
    for each in rounds:
        if each.is_mixed:
            raise PlanError(
                f"{each.stage}: found {' and '.join(each.probes)} at once where loads are capped, expected one "
                "after the other: their sum cannot be held to a cap"
            )
        option = probes[each.probe].sending_options.rate
        yield _held(fabric, each, routes, left, option) if each.flows and option else each


def _held(fabric: Fabric, each: Round, routes: Routes, left: Mapping[Direction, float], option: str) -> Round:
    """A round with ``option`` of its tests set to the rate of the slowest of their flows."""
    flows = each.flows
    rates = [found.value for found in expect(fabric, flows, routes=routes, capacity=left)]
    capped = _of_storage(fabric, flows, rates)
    sweeps_rate = each.swept is not None and option in dict(each.swept.point)
    tests: list[Test] = []
    own = range(0)
    for test in each.tests:
        own = range(own.stop, own.stop + len(test.flows))
        if not own or (fabric.caps.link is None and capped.isdisjoint(own)):
            tests.append(test)
            continue
        text = format_rate(min(rates[index] for index in own))
        rate = parse(text, Unit.BYTE_RATE)
        if sweeps_rate and test.sending.rate is not None and rate < _AS_ASKED * test.sending.rate:
            expected = f"expected points that the caps leave, at most {text}"
            raise PlanError(f"{option}={test.target.options[option]} for {test.target.key}: {expected}")
        target = replace(test.target, options=MappingProxyType({**test.target.options, option: text}))
        tests.append(replace(test, target=target, sending=replace(test.sending, rate=rate)))
    changed = replace(each, tests=tuple(tests))
    return replace(changed, bundles=tuple(_filled(fabric, changed, bundle, routes) for bundle in each.bundles))


def _of_storage(fabric: Fabric, flows: Sequence[Flow], rates: list[float]) -> set[int]:
    """Lower ``rates`` so that no storage system passes its cap; the flows that a cap concerns, by index."""
    concerned: set[int] = set()
    for name, cap in fabric.caps.storage.items():
        servers = set(fabric.storage[name].servers) if name in fabric.storage else set()
        own = [index for index, flow in enumerate(flows) if flow.source in servers or flow.sink in servers]
        asked = sum(rates[index] for index in own)
        for index in own if asked > cap else ():
            rates[index] *= cap / asked
        concerned.update(own)
    return concerned


def format_rate(rate: float) -> str:
    """``rate`` (byte/s) as the text of an option, never more than it is: three digits, rounded down."""
    text = network_rate(rate)
    return text if parse(text, Unit.BYTE_RATE) <= rate else network_rate(rate * 0.995)


def _filled(fabric: Fabric, each: Round, bundle: Bundle, routes: Routes) -> Bundle:
    """The bundle with what its flows can still load its elements to."""
    flows = [flow for test, flow in each.sent if test.bundle == bundle.name]
    load = dict.fromkeys(bundle.elements, 0.0)
    for flow, found in zip(flows, expect(fabric, flows, routes=routes), strict=True):
        for way, share in routes.shares_of(flow).items():
            if way in load:
                load[way] += share * found.value
    shares = (value / fabric.payload(fabric.links[way.link]) for way, value in load.items())
    return replace(bundle, fill=min(shares, default=0.0))


# -- what nothing can hold

_ANY_RATE = "10 Mb/s"
"""A rate that whoever keeps one takes."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """A stage that is not run on ``nodes``, and why; ``whole`` where nothing of it is run."""

    probe: str
    nodes: tuple[NodeId, ...]
    why: str
    whole: bool = True
    reason: OmissionReason = OmissionReason.CAPPED

    @property
    def omission(self) -> Omission:
        return Omission(str(self), self.reason)

    def __str__(self) -> str:
        from benchconsole.topology.selection import fold  # ClusterShell is slow to load

        where = "" if self.whole else f" on {fold(self.nodes)}"
        return f"{self.probe} is not run{where}: {self.why}"


def withhold(
    fabric: Fabric, suite: Suite, probes: Mapping[str, Probe], *, nodes: Collection[NodeId] | None = None
) -> tuple[Suite, tuple[Withheld, ...]]:
    """``suite`` on ``nodes`` (None: all) without what cannot be held to the caps, and what that is.

    Probes that only read are left alone; so is a probe that is not installed, which ``plan`` refuses. Stages
    that were to run at once with a stage that is left out are left out too.
    """
    if fabric.caps.link is None and not fabric.caps.storage:
        return suite, ()
    kept: list[Stage] = []
    left: list[Withheld] = []
    missing: set[str] = set()
    for stage in suite.stages:
        members = tuple(node for node in stage.nodes if nodes is None or node in nodes)
        probe = probes.get(stage.probe)
        found = _CappedStage(fabric, probe, stage, members).find_withheld() if probe is not None and members else None
        if found is None:
            kept.append(stage)
            continue
        left.append(found)
        if not found.whole:
            kept.append(replace(stage, nodes=tuple(node for node in stage.nodes if node not in found.nodes)))
        elif stage.at_once:
            missing.add(stage.at_once)
    alone = [stage for stage in kept if stage.at_once in missing]
    left += (
        Withheld(each.probe, each.nodes, f"at_once {each.at_once!r} lacks a stage", reason=OmissionReason.LACKS_STAGE)
        for each in alone
    )
    return replace(suite, stages=tuple(stage for stage in kept if stage not in alone)), tuple(left)


@dataclass(frozen=True, slots=True)
class _CappedStage:
    """One stage against the caps of its fabric."""

    fabric: Fabric
    probe: Probe
    stage: Stage
    members: tuple[NodeId, ...]

    def find_withheld(self) -> Withheld | None:
        """Its nodes that are left out, and why; None where all of it can be held to the caps."""
        if self.probe.safety is Safety.READS:
            return None
        every = list(self._options())
        written = {name: self._cap_on_writing(name) for options in every for name in self._writes_to(options)}
        system = next((name for name, cap in written.items() if cap), None)
        if system is not None:
            words = f"it reads and writes {system} by itself at no set rate, and a cap holds {written[system]}"
            return self._left(self.members, words)
        unruly = any(self._sends(options) and not can_keep_rate(self.probe, options) for options in every)
        return self._sending() if unruly else None

    def _options(self) -> Iterator[Options]:
        sweep = self.stage.sweep
        points = [{}] if sweep is None else (turn.options(self.probe.options, sweep) for turn in list_turns(sweep))
        for point in points:
            yield MappingProxyType({**self.probe.options, **self.stage.options, **point})

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
        return f"links at {share * 100:.6g} %" if share is not None else ""

    def _sends(self, options: Options) -> bool:
        """Whether its tests load what is between nodes."""
        if self.probe.shape is not Shape.SET:
            return self.probe.shape is Shape.PAIR
        most = Given("stage", {**SET_OPTIONS, **options}).whole("size", 0, 1_000_000)
        return most != 1 and len(self.members) > 1

    def _sending(self) -> Withheld | None:
        """The nodes that are left out of tests that send as fast as they can: all, or the servers of capped systems."""
        cap = self._cap_on_links()
        if cap:
            return self._left(self.members, f"it keeps no rate, and a cap holds {cap}")
        servers = {
            node: name
            for name in self.fabric.caps.storage
            for node in self.fabric.storage[name].servers
            if node in self.members
        }
        if not servers:
            return None
        systems = ", ".join(dict.fromkeys(servers.values()))
        words = f"it keeps no rate, and a cap holds what servers of {systems} may be asked for"
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
