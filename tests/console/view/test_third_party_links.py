"""Links and nodes look the same to the console, whichever bandwidth probe has tested them."""

from benchconsole.console.view.events import SessionOpened
from benchconsole.console.view.reducer import advance, opened
from benchconsole.console.view.run_view import LinkView, RunView, State
from benchconsole.probes.api import Against, Metric, Shown, Unit
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measuring import Result
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric
from tests.probes.judging.rounds import RATE, close, flow, star

METRIC = Metric("iperf2.throughput", Unit.BYTE_RATE, "payload", Shown.NETWORK, Against.FABRIC)


def of_iperf2(closed: ClosedRound) -> ClosedRound:
    """The same round and numbers, as another probe would have given them."""

    def change(result: Result) -> Result:
        test = replace(result.test, probe="iperf2")
        measured = (replace(each, metric=METRIC.name) for each in result.measurements)
        return replace(result, test=test, measurements=tuple(measured))

    results = tuple(map(change, closed.results))
    changed = replace(closed.round, probe="iperf2", tests=tuple(result.test for result in results))
    return replace(closed, round=changed, results=results)


def watch(described: Fabric, closed: ClosedRound, metric: Metric) -> RunView:
    context = JudgingContext(described, {metric.name: metric})
    verdicts = judge_round(context, closed)
    view = opened(SessionOpened("s", "", described, "default", (closed.round,), 0.0, True))
    judged = replace(closed, verdicts=verdicts)
    return advance(view, replace(judged, findings=list_findings(context, [judged])))


def drawn(view: RunView) -> dict[str, LinkView]:
    """The links without the findings, which name their probe."""
    return {name: replace(link, finding=None) for name, link in view.links.items()}


def test_a_stranger_colours_links_and_nodes_as_iperf3_does() -> None:
    described = replace(star(), criteria=())
    closed = close(described, 1, flow("n1", "n2", 0.5), flow("n3", "n4", 0.95))
    ours = watch(described, closed, replace(METRIC, name="iperf3.throughput"))
    theirs = watch(described, of_iperf2(closed), METRIC)
    assert drawn(theirs) == drawn(ours)
    assert {name: node.state for name, node in theirs.nodes.items()} == {
        name: node.state for name, node in ours.nodes.items()
    }
    (link,) = described.links_at["n3"]
    seen = theirs.links[link.id]
    assert (seen.state, seen.measured, seen.expected) == (State.PASS, 0.95 * RATE, RATE)
