"""Claims of documents about a fabric, compared with what its cabling gives.

A stated oversubscription is compared with the ratio of the switches or groups that it names, *end-to-end* with
the fair share of the worst node (``topology.analysis.end_to_end``). A stated bisection is compared with the
least cut between the halves of the nodes, between two groups, or of a tier (``topology.analysis.bisection``): a
cut is an upper bound, so it can refute a claim, never prove it. A stated total is compared with the sum over the
classes of its nodes (``topology.analysis.class_totals``). Where a ceiling inside a switch passes less than its cables,
a claim that these do not refute is left open.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchconsole.topology.analysis.bisection import BisectionReport, FabricCut, find_cut, shorten_names
from benchconsole.topology.analysis.class_totals import (
    TOTALS,
    add_up,
    choose_nodes,
    count_classes,
    format_part,
    format_total,
    list_parts,
)
from benchconsole.topology.analysis.device_ceilings import list_narrow
from benchconsole.topology.analysis.end_to_end import EndToEnd
from benchconsole.topology.analysis.oversubscription import OversubscriptionReport
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding, fold_names
from benchconsole.topology.errors import SelectionError
from benchconsole.topology.model.claims import END_TO_END, Claim
from benchconsole.topology.model.fabric import Fabric, SwitchRole
from benchconsole.topology.tables.fabric_tables import Tables
from benchconsole.topology.units import network_rate
from benchconsole.topology.units import ratio as shown

ROUNDING = 0.02
"""Documents give ratios, cuts and sizes to two digits; only what differs by more than that contradicts."""
_COUNTED = ("nodes", "sockets", "cores")
"""Totals that are numbers of things: these are exact."""


class ClaimOutcome(StrEnum):
    """The result of a claim against the cabling. ``BETTER``: the cabling gives more than is stated."""

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


_Found = tuple[float | None, tuple[ClaimStep, ...], str]
"""The computed value of a claim, the steps that it is made of, and what is missing where there is none."""


def compare_claims(
    cabled: Tables, ratios: OversubscriptionReport, ways: Sequence[EndToEnd], cuts: BisectionReport
) -> tuple[Comparison, ...]:
    """Every claim in file order, held against the reports of the other analyses."""
    fabric, found = cabled.fabric, list[Comparison]()
    # A ratio that counts cables says nothing of a switch that passes less; slots of nodes only lower what comes up.
    narrow = list(dict.fromkeys(device for (is_switch, *_), device in list_narrow(fabric) if is_switch))
    for claim in fabric.claims:
        if claim.what in TOTALS:
            computed, steps, why = _find_total(fabric, claim)
        elif claim.what == "bisection":
            computed, steps, why = _find_least(cabled, claim.scope, cuts)
        elif claim.scope == END_TO_END:
            computed, steps, why = _find_worst_way(fabric, ratios, ways)
        else:
            steps = tuple(_list_scope_steps(fabric, claim.scope, ratios))
            computed = max((step.value for step in steps), default=None)
            why = "" if steps else f"nothing leads up from {claim.scope}"
        outcome = _find_outcome(claim, computed)
        if outcome is not ClaimOutcome.CONTRADICTED and narrow and _counts_cables(claim, steps):
            computed, steps, why = None, (), f"cables are counted, and inside {fold_names(narrow)} passes less"
            outcome = ClaimOutcome.UNKNOWN
        found.append(Comparison(claim, computed, steps, outcome, why))
    return tuple(found)


def _counts_cables(claim: Claim, steps: Sequence[ClaimStep]) -> bool:
    """Whether a claim is held against sums of cables, which ceilings inside switches may lie below."""
    if claim.what == "bisection":
        return claim.scope in [role.value for role in SwitchRole] + ["node"]
    return claim.what not in TOTALS and bool(steps or claim.scope == END_TO_END)


def _find_outcome(claim: Claim, computed: float | None) -> ClaimOutcome:
    """A ratio should not be above what is stated, a cut or total not below; a cut above proves nothing."""
    if computed is None:
        return ClaimOutcome.UNKNOWN
    allowed = 0.0 if claim.what in _COUNTED else ROUNDING
    above, below = computed > claim.value * (1 + allowed), computed < claim.value * (1 - allowed)
    if claim.what in TOTALS:
        return ClaimOutcome.CONTRADICTED if below else ClaimOutcome.BETTER if above else ClaimOutcome.HOLDS
    if claim.what == "bisection":
        return ClaimOutcome.CONTRADICTED if below else ClaimOutcome.HOLDS
    return ClaimOutcome.CONTRADICTED if above else ClaimOutcome.BETTER if below else ClaimOutcome.HOLDS


def _find_total(fabric: Fabric, claim: Claim) -> _Found:
    """The sum over the classes of the nodes that are meant, and what each class adds."""
    parts = list_parts(claim.what, count_classes(choose_nodes(fabric, claim.nodes)))
    silent = [part.name for part in parts if part.each is None]
    if silent or not parts:
        which = f"class{'' if len(silent) == 1 else 'es'} {', '.join(silent)}"
        return None, (), f"{which} declares no {claim.what}" if silent else "no machine is meant"
    steps = (ClaimStep(format_part(claim.what, part), part.name, part.value or 0.0) for part in parts)
    return add_up(parts), tuple(steps), ""


def _find_least(cabled: Tables, scope: str, cuts: BisectionReport) -> _Found:
    """The least cut in byte/s where ``scope`` has one."""
    tiers: list[_Found] = []
    for tier in cuts.tiers:
        if scope == tier.below:
            below = "nodes" if tier.below == "node" else f"{tier.below} switches"
            step = ClaimStep(f"half of what leads up from the {below}", tier.below, tier.up)
            tiers.append((tier.bound, (step,), ""))
    if scope == END_TO_END:
        return (None, (), cuts.refused) if cuts.halves is None else _list_narrowest(cuts.halves)
    groups = [group for group in cabled.fabric.groups if group.kind == scope]
    if len(groups) == 2:
        # Members that have cables, or share those of a host.
        sides = [[member for member in group.members if cabled.fabric.legs(member)] for group in groups]
        try:
            return _list_narrowest(find_cut(cabled, *sides))
        except (SelectionError, ArithmeticError) as error:
            return None, (), str(error)
    why = "a cut is known end to end, of a role, and between the groups of a kind that has two"
    return tiers[0] if tiers else (None, (), why)


def _list_narrowest(found: FabricCut) -> _Found:
    between = f" between {' and '.join(map(shorten_names, found.sides))}" if all(found.sides) else ""
    places = ((f"{each}{between}", each.low, each.capacity) for each in found.places)
    return found.bound, tuple(ClaimStep(*place) for place in places), ""


def _find_worst_way(fabric: Fabric, ratios: OversubscriptionReport, ways: Sequence[EndToEnd]) -> _Found:
    """The worst share of all networks, and the switches of the worst way below the top, each with its own ratio."""
    if any(network.told_share is None for network in ways):
        return None, (), "the fabric has no tiers, and too many flows to route"
    told = [(network.told_share.ratio, network) for network in ways if network.told_share is not None]
    worst, network = max(told, key=lambda each: each[0], default=(0.0, None))
    if network is None:
        return None, (), "no node has a way up"
    if network.flat:
        return worst, (), ""
    steps = (
        ClaimStep(each.switch, fabric.switches[each.switch].role.value, each.ratio)
        for switch in network.worst.switches
        for each in ratios
        if each.switch == switch and switch not in network.top and each.ratio is not None
    )
    return worst, tuple(steps), ""


def _list_scope_steps(fabric: Fabric, scope: str, ratios: OversubscriptionReport) -> Iterator[ClaimStep]:
    """Everything that ``scope`` names and that has a ratio: groups of a kind before switches of a role."""
    groups = [group for group in ratios.groups if scope in (group.kind, group.name)]
    for group in groups:
        if group.ratio is not None:
            yield ClaimStep(group.name, group.kind, group.ratio)
    for each in () if groups else ratios:
        role = fabric.switches[each.switch].role.value
        if scope in (role, each.switch) and each.ratio is not None:
            yield ClaimStep(each.switch, role, each.ratio)


_CODES = {
    ClaimOutcome.CONTRADICTED: (Severity.ERROR, "claim-contradicted"),
    ClaimOutcome.BETTER: (Severity.NOTE, "claim-exceeded"),
    ClaimOutcome.UNKNOWN: (Severity.NOTE, "claim-unknown"),
}


def list_findings(fabric: Fabric, comparisons: Iterable[Comparison]) -> Iterator[StaticFinding]:
    """Claims that the description contradicts, those that it exceeds, and those that cannot be checked."""
    for each in comparisons:
        if each.outcome is not ClaimOutcome.HOLDS:
            claim = each.claim
            severity, code = _CODES[each.outcome]
            where = fabric.name if claim.scope in (END_TO_END, "") else claim.scope
            source = f" ({claim.source})" if claim.source else ""
            if each.computed is None:
                outcome = f"it cannot be checked: {each.why}"
            else:
                given = "classes give" if claim.what in TOTALS else "cabling gives"
                outcome = f"the {given} {_describe_computed(each, each.computed)}"
            text = f"stated {_format_number(claim, claim.value)}{_describe_scope(claim)}{source}; {outcome}"
            yield StaticFinding(severity, code, where, text)


def _describe_scope(claim: Claim) -> str:
    if claim.what in TOTALS:
        return f" of {claim.scope}" if claim.scope else ""
    whole, part = ("bisection", "bisection of") if claim.what == "bisection" else ("end to end", "at")
    return f" {whole}" if claim.scope == END_TO_END else f" {part} {claim.scope}"


def _format_number(claim: Claim, value: float) -> str:
    if claim.what in TOTALS:
        return format_total(claim.what, value)
    return network_rate(value) if claim.what == "bisection" else shown(value)


def _describe_computed(each: Comparison, computed: float) -> str:
    """The computed number, after the steps that lead to it."""
    claim, steps = each.claim, each.steps
    if claim.what in TOTALS:
        times = claim.value / computed
        often = f"; stated is {round(times)} times that" if times > 1.5 and abs(times - round(times)) < ROUNDING else ""
        return f"{_format_number(claim, computed)}: {', '.join(step.where for step in steps)}{often}"
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
