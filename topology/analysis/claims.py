"""Owns what the documents say about a fabric, held against what its cabling gives.

A stated oversubscription is compared with the ratio of the switches or groups that it names,
*end-to-end* with the fair share of the worst node (``topology.analysis.end_to_end``). A stated
bisection is compared with the least cut between the halves of the nodes, between two groups, or
of a tier (``topology.analysis.bisection``): a cut is an upper bound, so it can refute a claim, never
prove it. Refuses to judge who is right, the document or the description of the cabling.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from topology.analysis.bisection import Cut, TierCut, bisection, cut
from topology.analysis.bisection import Report as Cuts
from topology.analysis.end_to_end import EndToEnd, end_to_end
from topology.analysis.end_to_end import Report as Ways
from topology.analysis.finding import Finding, Severity
from topology.analysis.oversubscription import Report as Ratios
from topology.analysis.oversubscription import oversubscription
from topology.errors import SelectionError
from topology.model import Claim, Fabric, Group, SwitchId
from topology.tables.graph import UnitTooFineError
from topology.units import network_rate
from topology.units import ratio as shown

ROUNDING = 0.02
"""Documents give a ratio or a cut to two digits; only what differs by more than that contradicts."""
END_TO_END = "end-to-end"


class Outcome(StrEnum):
    """What the cabling makes of a claim. ``BETTER``: it gives more than is stated."""

    HOLDS = "holds"
    BETTER = "better"
    CONTRADICTED = "contradicted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Step:
    """A number on the way to the computed one: ``where`` is a switch or group, ``value`` in the claim's unit."""

    where: str
    kind: str
    value: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """One claim and what was computed for it: down/up, or byte/s for a bisection; None where nothing can be said.

    ``steps`` are what it is made of, for end to end the switches on the worst way upward. ``why``
    says what is missing where the outcome is unknown.
    """

    claim: Claim
    computed: float | None
    steps: tuple[Step, ...]
    outcome: Outcome
    why: str = ""


@dataclass(frozen=True, slots=True)
class ClaimsReport:
    """Every claim of a fabric, in file order."""

    comparisons: tuple[Comparison, ...]


def claims(
    fabric: Fabric, *, ratios: Ratios | None = None, ways: Ways | None = None, cuts: Cuts | None = None
) -> ClaimsReport:
    """Every claim of ``fabric``; the keywords are the reports that they are held against, where they are at hand."""
    found = _Computed(fabric, ratios, ways, cuts)
    return ClaimsReport(tuple(_compared(found, claim) for claim in fabric.claims))


class _Computed:
    """What the other analyses say, each asked by the first claim that needs it."""

    def __init__(self, fabric: Fabric, ratios: Ratios | None, ways: Ways | None, cuts: Cuts | None) -> None:
        self.fabric = fabric
        self._ratios, self._ways, self._cuts = ratios, ways, cuts

    @cached_property
    def ratios(self) -> Ratios:
        return self._ratios or oversubscription(self.fabric)

    @cached_property
    def ways(self) -> Ways:
        return self._ways or end_to_end(self.fabric)

    @cached_property
    def cuts(self) -> Cuts:
        return self._cuts or bisection(self.fabric)


def _compared(found: _Computed, claim: Claim) -> Comparison:
    steps: tuple[Step, ...] = ()
    if claim.what == "bisection":
        return _bisected(found, claim)
    if claim.scope == END_TO_END:
        worst = max(found.ways.networks, key=lambda network: network.share.ratio, default=None)
        computed, why = (None, "no node has a way up") if worst is None else (worst.share.ratio, "")
        steps = () if worst is None else tuple(_along(found, worst))
    else:
        steps = tuple(_scoped(found, claim.scope))
        computed = max((step.value for step in steps), default=None)
        why = "" if steps else f"nothing leads up from {claim.scope}"
    return Comparison(claim, computed, steps, _outcome(claim, computed), why)


def _outcome(claim: Claim, computed: float | None) -> Outcome:
    """A ratio should not be above what is stated, a cut not below; a cut above proves nothing."""
    if computed is None:
        return Outcome.UNKNOWN
    above, below = computed > claim.value * (1 + ROUNDING), computed < claim.value * (1 - ROUNDING)
    if claim.what == "bisection":
        return Outcome.CONTRADICTED if below else Outcome.HOLDS
    return Outcome.CONTRADICTED if above else Outcome.BETTER if below else Outcome.HOLDS


def _bisected(found: _Computed, claim: Claim) -> Comparison:
    """A stated bisection beside the least cut, where its scope has one."""
    computed, steps, why = _least(found, claim.scope)
    return Comparison(claim, computed, steps, _outcome(claim, computed), why)


_Least = tuple[float | None, tuple[Step, ...], str]
"""The least cut in byte/s and what it cuts, or what is missing."""


def _least(found: _Computed, scope: str) -> _Least:
    tiers = [_half(tier) for tier in found.cuts.tiers if scope in (END_TO_END, tier.below)]
    if scope == END_TO_END:
        known = [each for each in (_narrowest(found.cuts.halves), *tiers) if each[0] is not None]
        return min(known, key=lambda each: each[0] or 0.0, default=(None, (), found.cuts.refused))
    groups = [group for group in found.fabric.groups if group.kind == scope]
    if len(groups) == 2:
        try:
            return _narrowest(cut(found.fabric, *(_cabled(found.fabric, group) for group in groups)))
        except (SelectionError, UnitTooFineError) as error:
            return None, (), str(error)
    why = "a cut is known end to end, of a role, and between the groups of a kind that has two"
    return tiers[0] if tiers else (None, (), why)


def _half(tier: TierCut) -> _Least:
    below = "nodes" if tier.below == "node" else f"{tier.below} switches"
    return tier.bound, (Step(f"half of what leads up from the {below}", tier.below, tier.up),), ""


def _narrowest(found: Cut | None) -> _Least:
    if found is None:
        return None, (), ""
    steps = (Step(f"{each.cables} cables {each.low} to {each.high}", each.low, each.capacity) for each in found.where)
    return found.bound, tuple(steps), ""


def _cabled(fabric: Fabric, group: Group) -> list[str]:
    """The members of a group that have cables, or share those of a host."""
    return [member for member in group.members if fabric.legs(member)]


def _along(found: _Computed, network: EndToEnd) -> Iterator[Step]:
    """The switches of the worst way below the top, each with its own ratio."""
    ratios = {each.switch: each.ratio for each in found.ratios}
    for switch in network.worst.switches:
        ratio = ratios[SwitchId(switch)]
        if switch not in network.top and ratio is not None:
            yield Step(switch, found.fabric.switches[SwitchId(switch)].role.value, ratio)


def _scoped(found: _Computed, scope: str) -> Iterator[Step]:
    """Everything that ``scope`` names and that has a ratio: groups of a kind before switches of a role."""
    groups = [group for group in found.ratios.groups if scope in (group.kind, group.name)]
    for group in groups:
        if group.ratio is not None:
            yield Step(group.name, group.kind, group.ratio)
    if groups:
        return
    for each in found.ratios:
        role = found.fabric.switches[each.switch].role.value
        if scope in (role, each.switch) and each.ratio is not None:
            yield Step(each.switch, role, each.ratio)


def findings(fabric: Fabric, report: ClaimsReport) -> list[Finding]:
    """Claims that the cabling contradicts, those that it exceeds, and those that cannot be checked."""
    return [finding for each in report.comparisons for finding in _said(fabric, each)]


_CODES = {
    Outcome.CONTRADICTED: (Severity.ERROR, "claim-contradicted"),
    Outcome.BETTER: (Severity.NOTE, "claim-exceeded"),
    Outcome.UNKNOWN: (Severity.NOTE, "claim-unknown"),
}


def _said(fabric: Fabric, each: Comparison) -> Iterator[Finding]:
    if each.outcome is Outcome.HOLDS:
        return
    claim = each.claim
    severity, code = _CODES[each.outcome]
    where = fabric.name if claim.scope == END_TO_END else claim.scope
    text = f"stated {_number(claim, claim.value)} {_scope(claim)}" + (f" ({claim.source})" if claim.source else "")
    if each.computed is None:
        yield Finding(severity, code, where, f"{text}; it cannot be checked: {each.why}")
    else:
        yield Finding(severity, code, where, f"{text}; the cabling gives {_given(each, each.computed)}")


def _number(claim: Claim, value: float) -> str:
    return network_rate(value) if claim.what == "bisection" else shown(value)


def _scope(claim: Claim) -> str:
    if claim.what == "bisection":
        return "bisection" if claim.scope == END_TO_END else f"bisection of {claim.scope}"
    return "end to end" if claim.scope == END_TO_END else f"at {claim.scope}"


def _given(each: Comparison, computed: float) -> str:
    """The computed number, after the steps that lead to it."""
    claim, steps = each.claim, each.steps
    if claim.what == "bisection":
        return f"at most {_number(claim, computed)} ({', '.join(step.where for step in steps)})"
    if claim.scope == END_TO_END:
        parts = [f"{shown(step.value)} at the {step.kind}" for step in steps]
        return ", ".join([*parts, f"{shown(computed)} end to end"]) + _as_far_as(claim, steps)
    worst = max(steps, key=lambda step: step.value)
    least = min(step.value for step in steps)
    spread = f"{shown(least)} to " if shown(least) != shown(worst.value) else ""
    return f"{spread}{shown(worst.value)}" + (f" (at {worst.where})" if len(steps) > 1 else "")


def _as_far_as(claim: Claim, steps: tuple[Step, ...]) -> str:
    """The last switch on the way up to which the claim is true."""
    reached, product = "", 1.0
    for step in steps:
        product *= max(1.0, step.value)
        if product > claim.value * (1 + ROUNDING):
            break
        reached = step.kind
    else:
        return ""
    return f"; {shown(claim.value)} holds up to the {reached} only" if reached else ""
