"""Findings on nodes whose traffic fell back to another network, in words."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.finding_text import describe_low, make_unexplained_finding
from benchconsole.probes.judging.network_fallback import (
    Fallback,
    find_fallback,
    find_fallen,
    find_shared_fallback,
)
from benchconsole.probes.judging.set_cover import PART, LowVerdict
from benchconsole.probes.model.judgement import Confidence, Finding, Suspect
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.selection import fold
from benchconsole.topology.units import network_rate


@dataclass(frozen=True, slots=True, eq=False)
class FallenNodes:
    """Nodes that fell back to a network, or two of which one did, with the low throughputs that this explains."""

    nodes: tuple[str, ...]
    is_certain: bool
    fallback: Fallback
    seen: tuple[LowVerdict, ...]

    @property
    def grounds(self) -> tuple[object, ...]:
        """The grounds of a finding on them, the same objects while they do not change."""
        return *self.seen, sys.intern(f"{self.is_certain} {' '.join(self.nodes)}")


def part_by_networks(
    context: JudgingContext, low: Sequence[LowVerdict], proven: Callable[[int], float]
) -> tuple[list[LowVerdict], list[FallenNodes]]:
    """Low throughputs that no other network explains, and the nodes that fell back to one: together where alike."""
    rest, found = list[LowVerdict](), list[tuple[LowVerdict, Fallback]]()
    together = _find_shared(context, low)
    for seen in low:
        fallback = _explain(context, seen, together)
        if fallback is None:
            rest.append(seen)
        else:
            found.append((seen, fallback))
    worst = [(max(seen[1], key=lambda each: each.missing), fallback) for seen, fallback in found]
    nodes = find_fallen(context, worst, proven)
    alike = group_by_key(
        ((fallback.meant, fallback.taken, own.is_certain, () if own.is_certain else own.nodes), (own.nodes, *pair))
        for own, pair in zip(nodes, found, strict=True)
        for fallback in (pair[1],)
    )
    return rest, [
        FallenNodes(_join(names for names, *_ in own), is_certain, own[0][2], tuple(seen for _, seen, _ in own))
        for (*_, is_certain, _), own in alike.items()
    ]


def _join(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for each in names for name in each))


def _find_shared(context: JudgingContext, low: Sequence[LowVerdict]) -> dict[str, Fallback]:
    """The network that flows took together, by the id of what was measured; of each round by itself."""
    found: dict[str, Fallback] = {}
    if len(context.routes.choice.used) > 1:
        for flows in group_by_key((verdict.round, each) for verdict, own in low for each in own).values():
            shared = zip(flows, find_shared_fallback(context, flows), strict=True)
            found.update((each.measurement.id, fallback) for each, fallback in shared if fallback is not None)
    return found


def _explain(context: JudgingContext, low: LowVerdict, together: Mapping[str, Fallback]) -> Fallback | None:
    """The network that explains most of what is missing of a low throughput, alone or ``together`` with others."""
    flows = low[1]
    asked = ((find_fallback(context, each) or together.get(each.measurement.id), each) for each in flows)
    found = [(fallback, each) for fallback, each in asked if fallback is not None]
    missing = sum(each.missing for each in flows)
    for fallback, own in group_by_key(found).items():
        if sum(each.missing for each in own) >= PART * missing:
            return fallback
    return None


def make_fallback_finding(fallen: FallenNodes) -> Finding:
    """One finding for nodes that reached what another network of theirs carries, and no more."""
    verdict, flows = fallen.seen[0]
    each, fallback = max(flows, key=lambda one: one.missing), fallen.fallback
    names = fold(fallen.nodes) if fallen.is_certain else " or ".join(fallen.nodes)
    several = len(fallen.nodes) > 1 and fallen.is_certain
    reached = f"{names} reached {network_rate(each.value)} of {network_rate(each.expected.value)}"
    whose = "their" if several else "its"
    return replace(
        make_unexplained_finding(fallen.seen),
        suspect=Suspect.SET if several else Suspect.NODE,
        element=fold(fallen.nodes),
        where=f"{names}, network {fallback.meant}",
        what=f"{reached}: as {whose} {fallback.words} carries ({fallback.capacity})",
        nodes=fallen.nodes,
        nodes_at=fallen.nodes if fallen.is_certain else (),
        confidence=Confidence.CERTAIN if len(fallen.seen) > 1 and fallen.is_certain else Confidence.LIKELY,
        because=tuple(describe_low(low) for low, _ in fallen.seen),
        rules_out=(f"the links of the network {fallback.meant}: this rate says that nothing crossed them",),
        cannot_tell="whether an address, a route or a port of it leads there" if fallen.is_certain
        else "which of the two it is: needs a test of each with another node",
        means=f"what is sent over the network {fallback.meant} goes over {fallback.taken} instead",
        do=_say_what_to_do(fallen, verdict.nodes),
        value=each.value,
        expected=each.expected.value,
    )  # fmt: skip


def _say_what_to_do(fallen: FallenNodes, ends: Sequence[str]) -> str:
    node = fallen.nodes[0]
    other = next((each for each in ends if each != node), "its partner")
    meant = fallen.fallback.meant
    return (
        f"on {node} ask `ip route get` for the address of {other} in the network {meant}, and look whether its "
        f"port there is up; look too which address the test used; then repeat these tests"
    )
