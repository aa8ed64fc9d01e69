"""Low throughputs whose flows may have taken any of several ways, as nobody said or queues told: no link is named.

Every part that such a flow may cross could be the cause, and which flows met on it is not known.
"""

from collections.abc import Iterator, Sequence

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.finding_text import describe_low, make_unexplained_finding
from benchconsole.probes.judging.rate_interval import is_ugal
from benchconsole.probes.judging.set_cover import LowVerdict
from benchconsole.probes.model.judgement import Finding
from benchconsole.topology.copying import replace
from benchconsole.topology.units import counted


def part_by_routing(low: Sequence[LowVerdict]) -> tuple[list[LowVerdict], list[LowVerdict]]:
    """The low throughputs of flows whose routing is known, and the others."""
    known, open_ = list[LowVerdict](), list[LowVerdict]()
    for each in low:
        (open_ if any(flow.is_open for flow in each[1]) else known).append(each)
    return known, open_


def make_open_finding(context: JudgingContext, seen: Sequence[LowVerdict]) -> Finding:
    """The one finding on all of them; the worst is named first."""
    ordered = sorted(seen, key=lambda low: low[0].share or 0.0)
    made = make_unexplained_finding(ordered)
    worst = ordered[0][0]
    told = [*_name_common(ordered, "leave", 0), *_name_common(ordered, "go to", 1)] if len(ordered) > 1 else []
    below = "below what any routing gives"
    chosen = all(is_ugal(context.routes.graph, flows) for _, flows in ordered)
    unknown = "UGAL chooses by queues" if chosen else "the file does not say how the fabric is routed"
    remedy = "" if chosen else "say `routing` of the network and judge again, or "
    return replace(
        made,
        where=worst.subject if len(ordered) == 1 else f"{counted(len(ordered), 'result')}, worst {worst.subject}",
        what=f"{describe_low(worst).split(', ', 1)[1]}; {below}",
        because=(*made.because, *told),
        cannot_tell=f"which links these flows took: {unknown}",
        means="a NIC or a link that they may have crossed is slow, or something else loaded the fabric",
        do=f"{remedy}test neighbours one by one",
    )


def _name_common(low: Sequence[LowVerdict], verb: str, end: int) -> Iterator[str]:
    """The one node that all flows leave, or go to."""
    nodes = {(each.flow.source, each.flow.sink)[end] for _, flows in low for each in flows}
    if len(nodes) == 1:
        yield f"all of them {verb} {nodes.pop()}"
