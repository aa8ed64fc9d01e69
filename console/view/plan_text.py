"""A plan as text: totals first, then stages, what is left out, then rounds, folded where they are many.

``probes.planning.summarise`` computes the numbers.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from benchconsole.console.text.sanitize import sanitize
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.planning.plan_summary import (
    HeaviestLoad,
    PlanCoverage,
    PlanSummary,
    StageSummary,
    SweepSummary,
)
from benchconsole.topology.capacity.open_routing import OpenRouting
from benchconsole.topology.element_names import link_name
from benchconsole.topology.model.fabric import Fabric, LinkId
from benchconsole.topology.routing.routes import Routes
from benchconsole.topology.selection import fold
from benchconsole.topology.units import counted as count
from benchconsole.topology.units import disk_size, duration, percent

MOST = 6
"""Rounds of one stage that get a line of their own."""

SHOWN = 10
"""Values of one axis that are listed before the middle is left out."""

NAMED = 4
"""Links, bundles and flows that are named before the rest is counted."""


def format_plan(fabric: Fabric, summary: PlanSummary, rounds: Sequence[Round], *, most: int = MOST) -> Iterator[str]:
    """The lines of a plan; at most ``most`` rounds of a stage are shown each by itself."""
    yield f"{_format_stage('plan', summary.total)}{_format_overrun(summary.total)}"
    differ = len({stage.overrun for stage in summary.stages}) > 1
    for stage in summary.stages:
        yield f"{_format_stage(stage.stage, stage)}{_format_overrun(stage) if differ else ''}"
        if stage.sweep is not None:
            yield from _format_sweep(stage.sweep)
        if stage.link is not None:
            meant = ", on purpose: it is filled" if stage.link.meant else ""
            yield f"    heaviest load on a link or ceiling: {_format_heaviest(stage.link)}{meant}"
        if stage.budget is not None:
            yield f"    heaviest load on a budget: {_format_heaviest(stage.budget)}"
    yield from format_left_out(fabric, summary)
    yield from _format_open_networks(fabric, rounds)
    for _, group in groupby(rounds, key=lambda each: each.stage):
        yield from _format_rounds(list(group), most)


def _format_stage(name: str, stage: StageSummary) -> str:
    """Rounds against the fewest possible, tests, time and bytes."""
    because = f" by {sanitize(stage.bound_by)}" if stage.bound_by else ""
    writes = f", at least {disk_size(stage.writes)} written, and removed again" if stage.writes else ""
    return (
        f"{sanitize(name)}: {count(stage.rounds, 'round')} (at least {stage.bound:,}{because}; "
        f"ratio {stage.ratio:.3f}), {count(stage.tests, 'test')}, about {duration(stage.seconds)}{writes}"
    )


def _format_overrun(stage: StageSummary) -> str:
    """By how much a tool that hangs prolongs a round at most."""
    return f"; each round in which a tool hangs takes up to {duration(stage.overrun)} longer" if stage.rounds else ""


def _format_sweep(sweep: SweepSummary) -> Iterator[str]:
    """The points of a sweep, how often and in which order they run, and when it ends early."""
    axes = " x ".join(f"{sanitize(name)} {_format_values(values)}" for name, values in sweep.axes) or "without an axis"
    times = f", each {sweep.repeat:,} times" if sweep.repeat > 1 else ""
    yield f"    {count(sweep.points, 'point')}: {axes}{times}; order {sweep.order}"
    rules = []
    if sweep.ending is not None and sweep.ending.gain is not None:
        larger = count(sweep.ending.after, "larger point")
        rules.append(f"{sanitize(sweep.ending.metric)} gains less than {percent(sweep.ending.gain)} over {larger}")
    if sweep.ending is not None and sweep.ending.on_failure:
        rules.append("a test fails")
    if rules:
        yield f"    ends early where {' or '.join(rules)}; what is left is then skipped"


def _format_values(values: Sequence[str]) -> str:
    shown = ", ".join(map(sanitize, values if len(values) <= SHOWN else (*values[: SHOWN - 1], "...", values[-1])))
    return shown if len(values) <= SHOWN else f"{shown} ({len(values):,} values)"


def _format_heaviest(found: HeaviestLoad) -> str:
    return f"{sanitize(found.element)}, {percent(found.share)} in round {found.round}"


def format_left_out(fabric: Fabric, summary: PlanCoverage) -> Iterator[str]:
    """The nodes, links and pairs that the plan does not reach, and why."""
    for nodes in summary.nodes:
        yield f"not covered: {count(len(nodes.what), 'node')}, {sanitize(fold(nodes.what))}: {nodes.why}"
    for links in summary.links:
        named = ", ".join(sanitize(link_name(fabric, fabric.links[LinkId(link)])) for link in links.what[:NAMED])
        further = f" and {len(links.what) - NAMED:,} more" if len(links.what) > NAMED else ""
        yield f"not covered: {count(len(links.what), 'link')}, {named}{further}: {links.why}"
    pairs = summary.pairs
    if pairs.met:
        yield f"pairs: {pairs.met:,} of {pairs.every:,} directed pairs meet ({pairs.met / pairs.every:.2%})"
        for number, why in pairs.left:
            yield f"    {number:,} do not: {sanitize(why)}"


def _format_open_networks(fabric: Fabric, rounds: Sequence[Round]) -> Iterator[str]:
    """The networks whose tests are held against several routings, for the file says none."""
    for name in OpenRouting(Routes(fabric)).list_networks(flow for each in rounds for flow in each.flows):
        yield (
            f"nobody said how the network {sanitize(name)} is routed, and links inside a tier close rings: tests are "
            "held against least hops, and fail only below what any routing gives"
        )


def _format_rounds(rounds: Sequence[Round], most: int) -> Iterator[str]:
    """One line for each round, and for each of the bundles that it fills; beyond ``most`` they are counted."""
    for each in rounds[:most]:
        what = f"{count(len(each.tests), 'test')}, about {duration(each.seconds)}"
        yield f"round {each.number}  {sanitize(each.stage)}: {what}; {sanitize(each.because)}"
        for bundle in each.bundles[:NAMED]:
            flows = [sanitize(test.target.key) for test in each.tests if test.bundle == bundle.name]
            far = "" if bundle.fill > 0.995 else f" to {percent(bundle.fill)}"
            more = " ..." if len(flows) > NAMED else ""
            yield f"    fills {sanitize(bundle.name)}{far}: {', '.join(flows[:NAMED])}{more}"
        if len(each.bundles) > NAMED:
            yield f"    and {count(len(each.bundles) - NAMED, 'more bundle')}"
    rest = [len(each.tests) for each in rounds[most:]]
    if rest:
        widths = f"{min(rest):,} to {count(max(rest), 'test')}" if min(rest) < max(rest) else count(max(rest), "test")
        yield f"... {count(len(rest), 'more round')} of {widths}"
