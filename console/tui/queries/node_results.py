"""The results of one node: every judged number with its yardstick, and every test that gave none. Pure."""

from dataclasses import dataclass

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.blame import Blame
from benchconsole.console.view.run_view import NodeView, RunView, State, state_of_failure
from benchconsole.console.view.wording import SIGNS, format_expected, format_measured, format_share
from benchconsole.probes.model.judgement import Level, Verdict, Yardstick
from benchconsole.probes.model.labels import tell_labels
from benchconsole.probes.model.measuring import Result, Target
from benchconsole.topology.model.fabric import NodeId


@dataclass(frozen=True, slots=True)
class NodeResult:
    """One row: a verdict, or a test without one. ``subject`` is its metric without labels."""

    state: State
    probe: str
    subject: str
    metric: str
    measured: str
    expected: str
    source: str
    share: str
    limit: str
    verdict_words: str
    test: str
    verdict: Verdict | None = None


def list_node_results(view: RunView, node: NodeView) -> tuple[NodeResult, ...]:
    """Worst first, then in the order of the plan. Facts as declared are the inventory's affair.

    Facts that differ are rows: their output is the evidence of a node that fails for them.
    """
    blame = Blame(view.findings)
    made = [
        _of_verdict(view, node.node.id, each, blame)
        for each in node.verdicts
        if each.kind is not Yardstick.HARDWARE or each.level is not Level.PASS
    ]
    judged = {each.test for each in node.verdicts} | {(each.round, each.subject) for each in node.verdicts}
    for result in node.results:
        test = result.test
        summed = result.failure is None and (test.round, test.bundle) in judged
        if test.id not in judged and not summed and (result.failure is not None or result.measurements):
            made.append(_of_result(result, node.node.id))
    return tuple(sorted(made, key=lambda each: each.state.rank))


def _of_verdict(view: RunView, name: str, verdict: Verdict, blame: Blame) -> NodeResult:
    is_fact = verdict.kind is Yardstick.HARDWARE  # named whole: memory.total and disk.total are two
    metric = verdict.metric if is_fact else verdict.metric.rsplit(".", 1)[-1].replace("_", " ")
    words = [metric, *_company(view, name, verdict)]
    finding = blame.elsewhere(name, verdict)
    state = blame.state(name, verdict)
    words_on_it = SIGNS[state].word
    if finding is not None:
        words_on_it += f" by {finding.where}"
    elif verdict.level is not Level.PASS and verdict.because:
        words_on_it += f", {verdict.because}"
    return NodeResult(
        state=state,
        probe=sanitize(verdict.probe),
        subject=sanitize(" ".join(words)),
        metric=sanitize(" ".join([*words, *tell_labels(verdict.labels)])),
        measured=format_measured(verdict),
        expected=format_expected(verdict),
        source=sanitize(verdict.source or verdict.kind.value),
        share=format_share(verdict.share),
        limit=sanitize(finding.where if finding is not None else verdict.limiting),
        verdict_words=sanitize(words_on_it),
        test=_own_test(view, name, verdict),
        verdict=verdict,
    )


def _own_test(view: RunView, name: str, verdict: Verdict) -> str:
    """The test of a bundle that this node took part in; else the test that was judged."""
    for result in view.nodes[NodeId(name)].results:
        if result.test.round == verdict.round and result.test.bundle == verdict.subject:
            return result.test.id
    return verdict.test


def _company(view: RunView, name: str, verdict: Verdict) -> list[str]:
    """Whom a node sent to or received from; the name of the bundle where many sent together."""
    result = view.results.get(verdict.test)
    if result is None or result.test.target.peer is None:
        return []
    target = result.test.target
    if verdict.subject != target.key:
        return [f"{verdict.subject}, {len(verdict.evidence)} flows"]
    return [_name_other_end(target, name)]


def _name_other_end(target: Target, name: str) -> str:
    """``to n2`` on the page of the sender, ``from n1`` on that of the receiver; empty without a receiver."""
    if target.peer is None:
        return ""
    return f"to {target.peer.id}" if target.node.id == name else f"from {target.node.id}"


def _of_result(result: Result, name: str) -> NodeResult:
    test, failure = result.test, result.failure
    state = State.MEASURED
    words, shown = "measured, no criterion speaks of it", "–"
    if failure is not None:
        state = state_of_failure(failure.stage)
        words = sanitize(f"{failure.stage}: {failure.detail}" if failure.detail else failure.stage.value)
        shown = "✗ err" if state is State.UNKNOWN else "–"
    metric = sanitize(_name_other_end(test.target, name) or name)
    return NodeResult(state, sanitize(test.probe), metric, metric, shown, "–", "", "–", "", words, test.id)
