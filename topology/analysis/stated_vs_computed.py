"""Claims of documents about a fabric, compared with what its cabling gives.

A stated oversubscription is compared with the ratio of the switches or groups that it names, *end-to-end* with
the fair share of the worst node (``topology.analysis.end_to_end``). A stated bisection is compared with the
least cut between the halves of the nodes, between two groups, or of a tier (``topology.analysis.bisection``): a
cut is an upper bound, so it can refute a claim, never prove it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from benchconsole.topology.analysis.bisection import BisectionReport, FabricCut, TierCut, analyse_bisection, find_cut
from benchconsole.topology.analysis.end_to_end import EndToEnd, EndToEndReport, analyse_end_to_end
from benchconsole.topology.analysis.oversubscription import OversubscriptionReport, analyse_oversubscription
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding
from benchconsole.topology.errors import SelectionError
from benchconsole.topology.model.fabric import Claim, Fabric, Group, SwitchId
from benchconsole.topology.tables.graph_algorithms import UnitTooFineError
from benchconsole.topology.units import network_rate
from benchconsole.topology.units import ratio as shown

ROUNDING = 0.02
"""Documents give a ratio or a cut to two digits; only what differs by more than that contradicts."""
END_TO_END = "end-to-end"


class ClaimOutcome(StrEnum):
    """What the cabling makes of a claim. ``BETTER``: it gives more than is stated."""

    HOLDS = "holds"
    BETTER = "better"
    CONTRADICTED = "contradicted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ClaimStep:
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
    steps: tuple[ClaimStep, ...]
    outcome: ClaimOutcome
    why: str = ""


@dataclass(frozen=True, slots=True)
class ClaimsReport:
    """Every claim of the named ``fabric``, in file order."""

    fabric: str
    comparisons: tuple[Comparison, ...]


def compare_claims(
    fabric: Fabric,
    *,
    ratios: OversubscriptionReport | None = None,
    ways: EndToEndReport | None = None,
    cuts: BisectionReport | None = None,
) -> ClaimsReport:
    """Every claim of ``fabric``; the keywords are the reports that they are held against, where they are at hand."""
    found = _Computed(fabric, ratios, ways, cuts)
    return ClaimsReport(fabric.name, tuple(_compare_claim(found, claim) for claim in fabric.claims))


class _Computed:
    """What the other analyses say, each asked by the first claim that needs it."""

    def __init__(
        self,
        fabric: Fabric,
        ratios: OversubscriptionReport | None,
        ways: EndToEndReport | None,
        cuts: BisectionReport | None,
    ) -> None:
        self.fabric = fabric
        self._ratios, self._ways, self._cuts = ratios, ways, cuts

    @cached_property
    def ratios(self) -> OversubscriptionReport:
        return self._ratios or analyse_oversubscription(self.fabric)

    @cached_property
    def ways(self) -> EndToEndReport:
        return self._ways or analyse_end_to_end(self.fabric)

    @cached_property
    def cuts(self) -> BisectionReport:
        return self._cuts or analyse_bisection(self.fabric)


def _compare_claim(found: _Computed, claim: Claim) -> Comparison:
    steps: tuple[ClaimStep, ...] = ()
    if claim.what == "bisection":
        return _compare_bisection(found, claim)
    if claim.scope == END_TO_END:
        worst = max(found.ways.networks, key=lambda network: network.share.ratio, default=None)
        computed, why = (None, "no node has a way up") if worst is None else (worst.share.ratio, "")
        steps = () if worst is None else tuple(_list_path_steps(found, worst))
    else:
        steps = tuple(_list_scope_steps(found, claim.scope))
        computed = max((step.value for step in steps), default=None)
        why = "" if steps else f"nothing leads up from {claim.scope}"
    return Comparison(claim, computed, steps, _find_outcome(claim, computed), why)


def _find_outcome(claim: Claim, computed: float | None) -> ClaimOutcome:
    """A ratio should not be above what is stated, a cut not below; a cut above proves nothing."""
    if computed is None:
        return ClaimOutcome.UNKNOWN
    above, below = computed > claim.value * (1 + ROUNDING), computed < claim.value * (1 - ROUNDING)
    if claim.what == "bisection":
        return ClaimOutcome.CONTRADICTED if below else ClaimOutcome.HOLDS
    return ClaimOutcome.CONTRADICTED if above else ClaimOutcome.BETTER if below else ClaimOutcome.HOLDS


def _compare_bisection(found: _Computed, claim: Claim) -> Comparison:
    """A stated bisection beside the least cut, where its scope has one."""
    computed, steps, why = _find_least(found, claim.scope)
    return Comparison(claim, computed, steps, _find_outcome(claim, computed), why)


_Least = tuple[float | None, tuple[ClaimStep, ...], str]
"""The least cut in byte/s and what it cuts, or what is missing."""


def _find_least(found: _Computed, scope: str) -> _Least:
    tiers = [_halve_tier(tier) for tier in found.cuts.tiers if scope in (END_TO_END, tier.below)]
    if scope == END_TO_END:
        known = [each for each in (_list_narrowest(found.cuts.halves), *tiers) if each[0] is not None]
        return min(known, key=lambda each: each[0] or 0.0, default=(None, (), found.cuts.refused))
    groups = [group for group in found.fabric.groups if group.kind == scope]
    if len(groups) == 2:
        try:
            return _list_narrowest(find_cut(found.fabric, *(_list_cabled(found.fabric, group) for group in groups)))
        except (SelectionError, UnitTooFineError) as error:
            return None, (), str(error)
    why = "a cut is known end to end, of a role, and between the groups of a kind that has two"
    return tiers[0] if tiers else (None, (), why)


def _halve_tier(tier: TierCut) -> _Least:
    below = "nodes" if tier.below == "node" else f"{tier.below} switches"
    return tier.bound, (ClaimStep(f"half of what leads up from the {below}", tier.below, tier.up),), ""


def _list_narrowest(found: FabricCut | None) -> _Least:
    if found is None:
        return None, (), ""
    steps = (
        ClaimStep(f"{each.cables} cables {each.low} to {each.high}", each.low, each.capacity) for each in found.where
    )
    return found.bound, tuple(steps), ""


def _list_cabled(fabric: Fabric, group: Group) -> list[str]:
    """The members of a group that have cables, or share those of a host."""
    return [member for member in group.members if fabric.legs(member)]


def _list_path_steps(found: _Computed, network: EndToEnd) -> Iterator[ClaimStep]:
    """The switches of the worst way below the top, each with its own ratio."""
    ratios = {each.switch: each.ratio for each in found.ratios}
    for switch in network.worst.switches:
        ratio = ratios[SwitchId(switch)]
        if switch not in network.top and ratio is not None:
            yield ClaimStep(switch, found.fabric.switches[SwitchId(switch)].role.value, ratio)


def _list_scope_steps(found: _Computed, scope: str) -> Iterator[ClaimStep]:
    """Everything that ``scope`` names and that has a ratio: groups of a kind before switches of a role."""
    groups = [group for group in found.ratios.groups if scope in (group.kind, group.name)]
    for group in groups:
        if group.ratio is not None:
            yield ClaimStep(group.name, group.kind, group.ratio)
    if groups:
        return
    for each in found.ratios:
        role = found.fabric.switches[each.switch].role.value
        if scope in (role, each.switch) and each.ratio is not None:
            yield ClaimStep(each.switch, role, each.ratio)


def list_findings(report: ClaimsReport) -> list[StaticFinding]:
    """Claims that the cabling contradicts, those that it exceeds, and those that cannot be checked."""
    return [finding for each in report.comparisons for finding in _describe_claim(report.fabric, each)]


_CODES = {
    ClaimOutcome.CONTRADICTED: (Severity.ERROR, "claim-contradicted"),
    ClaimOutcome.BETTER: (Severity.NOTE, "claim-exceeded"),
    ClaimOutcome.UNKNOWN: (Severity.NOTE, "claim-unknown"),
}


def _describe_claim(fabric: str, each: Comparison) -> Iterator[StaticFinding]:
    if each.outcome is ClaimOutcome.HOLDS:
        return
    claim = each.claim
    severity, code = _CODES[each.outcome]
    where = fabric if claim.scope == END_TO_END else claim.scope
    text = f"stated {_format_number(claim, claim.value)} {_format_scope(claim)}" + (
        f" ({claim.source})" if claim.source else ""
    )
    if each.computed is None:
        yield StaticFinding(severity, code, where, f"{text}; it cannot be checked: {each.why}")
    else:
        yield StaticFinding(
            severity, code, where, f"{text}; the cabling gives {_describe_computed(each, each.computed)}"
        )


def _format_number(claim: Claim, value: float) -> str:
    return network_rate(value) if claim.what == "bisection" else shown(value)


def _format_scope(claim: Claim) -> str:
    if claim.what == "bisection":
        return "bisection" if claim.scope == END_TO_END else f"bisection of {claim.scope}"
    return "end to end" if claim.scope == END_TO_END else f"at {claim.scope}"


def _describe_computed(each: Comparison, computed: float) -> str:
    """The computed number, after the steps that lead to it."""
    claim, steps = each.claim, each.steps
    if claim.what == "bisection":
        return f"at most {_format_number(claim, computed)} ({', '.join(step.where for step in steps)})"
    if claim.scope == END_TO_END:
        parts = [f"{shown(step.value)} at the {step.kind}" for step in steps]
        return ", ".join([*parts, f"{shown(computed)} end to end"]) + _describe_reach(claim, steps)
    worst = max(steps, key=lambda step: step.value)
    least = min(step.value for step in steps)
    spread = f"{shown(least)} to " if shown(least) != shown(worst.value) else ""
    return f"{spread}{shown(worst.value)}" + (f" (at {worst.where})" if len(steps) > 1 else "")


def _describe_reach(claim: Claim, steps: tuple[ClaimStep, ...]) -> str:
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
