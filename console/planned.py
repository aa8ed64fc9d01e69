"""Owns what a plan looks like in words: totals first, then stages, what is left out, then rounds, folded where many.

Refuses to compute (``probes.planning.summarise`` does) and to print.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from console.plain import plain
from console.wording import count
from probes.model import Bundle, Round
from probes.planning import Heaviest, Left, Met, PlanSummary, StageSummary, SweepSummary
from topology.elements import link_name
from topology.model import Fabric, LinkId
from topology.selection import fold
from topology.units import disk_size, duration, percent

MOST = 6
"""Rounds of one stage that get a line of their own."""

SHOWN = 10
"""Values of one axis that are listed before the middle is left out."""

NAMED = 4
"""Links, bundles and flows that are named before the rest is counted."""


def plan_lines(fabric: Fabric, summary: PlanSummary, rounds: Sequence[Round], *, most: int = MOST) -> Iterator[str]:
    """The lines of a plan; at most ``most`` rounds of a stage are shown each by itself."""
    yield _sum("plan", summary.total)
    for stage in summary.stages:
        yield _sum(stage.stage, stage)
        if stage.sweep is not None:
            yield from _sweep(stage.sweep)
        yield from _loads(stage)
    yield from left_out(fabric, summary)
    for _, group in groupby(rounds, key=lambda each: each.stage):
        yield from _stage_rounds(list(group), most)


def _sum(name: str, stage: StageSummary) -> str:
    """Rounds against the fewest possible, tests, time and bytes."""
    because = f" by {plain(stage.bound_by)}" if stage.bound_by else ""
    writes = f", {disk_size(stage.writes)} written and removed again" if stage.writes else ""
    return (
        f"{plain(name)}: {count(stage.rounds, 'round')} (at least {stage.bound:,}{because}; ratio {stage.ratio:.3f}), "
        f"{count(stage.tests, 'test')}, about {duration(stage.seconds)}{writes}"
    )


def _sweep(sweep: SweepSummary) -> Iterator[str]:
    """The points of a sweep, how often and in which order they run, and when it ends early."""
    axes = " x ".join(f"{plain(name)} {_values(values)}" for name, values in sweep.axes) or "without an axis"
    times = f", each {sweep.repeat:,} times" if sweep.repeat > 1 else ""
    yield f"    {count(sweep.points, 'point')}: {axes}{times}; order {sweep.order}"
    rules = []
    if sweep.ending is not None and sweep.ending.gain is not None:
        larger = count(sweep.ending.after, "larger point")
        rules.append(f"{plain(sweep.ending.metric)} gains less than {percent(sweep.ending.gain)} over {larger}")
    if sweep.ending is not None and sweep.ending.on_failure:
        rules.append("a test fails")
    if rules:
        yield f"    ends early where {' or '.join(rules)}; what is left is then skipped"


def _values(values: Sequence[str]) -> str:
    shown = ", ".join(map(plain, values if len(values) <= SHOWN else (*values[: SHOWN - 1], "...", values[-1])))
    return shown if len(values) <= SHOWN else f"{shown} ({len(values):,} values)"


def _loads(stage: StageSummary) -> Iterator[str]:
    if stage.link is not None:
        meant = ", on purpose: it is filled" if stage.link.meant else ""
        yield f"    heaviest load on a link: {_heaviest(stage.link)}{meant}"
    if stage.budget is not None:
        yield f"    heaviest load on a budget: {_heaviest(stage.budget)}"


def _heaviest(found: Heaviest) -> str:
    return f"{plain(found.element)}, {percent(found.share)} in round {found.round}"


def left_out(fabric: Fabric, summary: PlanSummary) -> Iterator[str]:
    """What the plan does not reach, and why."""
    for nodes in summary.nodes:
        yield f"not covered: {count(len(nodes.what), 'node')}, {plain(fold(nodes.what))}: {nodes.why}"
    for links in summary.links:
        yield f"not covered: {count(len(links.what), 'link')}, {_links(fabric, links)}: {links.why}"
    yield from _pairs(summary.pairs)


def _links(fabric: Fabric, links: Left) -> str:
    named = ", ".join(plain(link_name(fabric, fabric.links[LinkId(link)])) for link in links.what[:NAMED])
    further = len(links.what) - NAMED
    return f"{named} and {further:,} more" if further > 0 else named


def _pairs(pairs: Met) -> Iterator[str]:
    if not pairs.met:
        return
    yield f"pairs: {pairs.met:,} of {pairs.every:,} directed pairs meet ({pairs.met / pairs.every:.2%})"
    for number, why in pairs.left:
        yield f"    {number:,} do not: {plain(why)}"


def _stage_rounds(rounds: Sequence[Round], most: int) -> Iterator[str]:
    """One line for each round, and for each of the bundles that it fills; beyond ``most`` they are counted."""
    for each in rounds[:most]:
        what = f"{count(len(each.tests), 'test')}, about {duration(each.seconds)}"
        yield f"round {each.number}  {plain(each.stage)}: {what}; {plain(each.because)}"
        for bundle in each.bundles[:NAMED]:
            yield f"    fills {_bundle(each, bundle)}"
        if len(each.bundles) > NAMED:
            yield f"    and {count(len(each.bundles) - NAMED, 'more bundle')}"
    rest = [len(each.tests) for each in rounds[most:]]
    if rest:
        widths = f"{min(rest):,} to {count(max(rest), 'test')}" if min(rest) < max(rest) else count(max(rest), "test")
        yield f"... {count(len(rest), 'more round')} of {widths}"


def _bundle(each: Round, bundle: Bundle) -> str:
    flows = [plain(test.target.key) for test in each.tests if test.bundle == bundle.name]
    far = "" if bundle.fill > 0.995 else f" to {percent(bundle.fill)}"
    return f"{plain(bundle.name)}{far}: {', '.join(flows[:NAMED])}{' ...' if len(flows) > NAMED else ''}"
