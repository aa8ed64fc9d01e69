"""The state of nodes and links once a round is judged: worst states, what drags them down, what was carried.

Part of the reducer (``console.view.reducer``) and pure as it: a round touches the nodes that it tested and those
that findings speak of now or no longer; all others are the same objects as before.
"""

from collections.abc import Iterable, Mapping, Sequence, Set

from benchconsole.console.view.blame import read_unexplained
from benchconsole.console.view.persistent_map import LayeredMap, make_layered
from benchconsole.console.view.run_view import (
    LinkView,
    NodeView,
    RunView,
    State,
    owes_tests,
    state_of_failure,
    state_of_level,
    superseding,
    worst,
)
from benchconsole.probes.judging.link_state import read_links
from benchconsole.probes.model.alike_passes import TestedNames
from benchconsole.probes.model.judgement import ClosedRound, Finding, Level, Verdict, Yardstick
from benchconsole.probes.model.measuring import Bundle, Failure, Result
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import LinkId, Node, NodeId

Links = Mapping[LinkId, LinkView]


def advance_nodes(before: RunView, view: RunView, rounds: Sequence[ClosedRound]) -> Mapping[NodeId, NodeView]:
    """Nodes after ``rounds``: those that they tested, and those that findings speak of now or spoke of before."""
    counted = (result for each in rounds for result in each.results if result.test.id not in view.replaced)
    results = group_by_key((str(node.id), result) for result in counted for node in result.test.target.nodes)
    judgements = (verdict for each in rounds for verdict in each.verdicts if verdict.test not in view.replaced)
    verdicts = group_by_key((name, verdict) for verdict in judgements for name in verdict.nodes)
    passed = TestedNames().list_nodes(each for closed in rounds for each in closed.passed)
    blamed: dict[str, Finding] = {}
    for each in view.findings:
        for name in each.nodes:
            if name not in blamed or (each.is_of(name) and not blamed[name].is_of(name)):
                blamed[name] = each
    explained = {test for finding in view.findings for test in finding.tests}
    outdated = view.replaced - before.replaced
    outdated |= {test.id for each in rounds if each.round.number in before.closed for test in each.round.tests}
    changed: dict[NodeId, NodeView] = {}
    touched = _find_changed(before, view) | _list_nodes(before, outdated)
    for name in touched | results.keys() | verdicts.keys():
        known = before.nodes.get(NodeId(name))
        if known is not None:
            standing = _drop_tests(known, outdated) if outdated else known
            added = tuple(results.get(name, ())), tuple(verdicts.get(name, ()))
            made = _add_to_node(standing, *added, blamed.get(name), explained, has_passed=name in passed)
            if made.state is State.PASS and _only_reported(made) and owes_tests(view, made.node.id):
                made = replace(made, state=State.SKIPPED)
            changed[NodeId(name)] = made
    return make_layered(before.nodes).plus(changed)


def _only_reported(seen: NodeView) -> bool:
    """Whether all that was judged is what the node says of itself; nothing of it was measured."""
    return not seen.has_passes and all(verdict.kind is Yardstick.HARDWARE for verdict in seen.verdicts)


def find_untested(view: RunView) -> Mapping[NodeId, NodeView]:
    """The nodes when nothing more will come: none that a planned test is owed for is left as passed."""
    untested = {
        name: replace(seen, state=State.SKIPPED)
        for name, seen in view.nodes.items()
        if seen.state is State.PASS and owes_tests(view, name)
    }
    return make_layered(view.nodes).plus(untested) if untested else view.nodes


def _find_changed(before: RunView, view: RunView) -> set[str]:
    """Nodes whose findings are others than before: named by them, or part of a test that they explain."""
    was = {id(finding) for finding in before.findings}
    is_now = {id(finding) for finding in view.findings}
    found: set[str] = set()
    for finding in (*before.findings, *view.findings):
        if (id(finding) in was) is not (id(finding) in is_now):
            found.update(finding.nodes)
            found |= _list_nodes(view, finding.tests)
    return found


def _list_nodes(view: RunView, tests: Iterable[str]) -> set[str]:
    results = (view.results.get(test) for test in tests)
    return {node.id for result in results if result is not None for node in result.test.target.nodes}


def _drop_tests(seen: NodeView, outdated: Set[str]) -> NodeView:
    """The results of a node without the tests with these ids; its state is still that of before."""
    results = tuple(result for result in seen.results if result.test.id not in outdated)
    verdicts = tuple(verdict for verdict in seen.verdicts if verdict.test not in outdated)
    return replace(seen, results=results, verdicts=verdicts, failures=_list_failures(seen.node, results))


def _list_failures(node: Node, results: Iterable[Result]) -> tuple[Failure, ...]:
    return tuple([result.failure for result in results if result.failure and result.failure.node == node.id])


def _add_to_node(
    seen: NodeView,
    new: tuple[Result, ...],
    judged: tuple[Verdict, ...],
    finding: Finding | None,
    explained: Set[str],
    *,
    has_passed: bool,
) -> NodeView:
    """A node with more results: what a finding elsewhere explains does not count against it, it shows as affected.

    It fails where a finding or a criterion names it; a low flow that no finding explains leaves it affected.
    ``explained`` are the ids of tests that findings explain. ``has_passed``: it has also verdicts in columns.
    """
    results, verdicts = seen.results + new, seen.verdicts + judged
    failures = seen.failures + _list_failures(seen.node, new)
    states = {state_of_failure(failure.stage) for failure in failures}
    if finding is not None:
        states.add(state_of_level(finding.level) if finding.is_of(seen.node.id) else State.AFFECTED)
    # Each round looks through all verdicts of its nodes, and nearly all of them passed.
    others = [verdict for verdict in verdicts if verdict.level is not Level.PASS]
    has_passes = seen.has_passes or has_passed
    if has_passes or len(others) < len(verdicts):
        states.add(State.PASS)
    states.update(
        read_unexplained(verdict)
        for verdict in others
        if verdict.level is Level.UNKNOWN or verdict.test not in explained
    )
    if not states and any(result.failure is None for result in results):
        states.add(State.MEASURED)
    if not states and results:
        states.add(State.UNKNOWN)
    return NodeView(seen.node, worst(states), verdicts, results, failures, finding, has_passes)


def read_session_links(view: RunView) -> Links:
    """Links by what was measured over them: bundles that filled a link, lone flows on a NIC; all of a session."""
    before: Links = dict.fromkeys(view.links, LinkView())
    links: dict[LinkId, LinkView] = {}
    bundles = {each.number: {bundle.name: bundle for bundle in each.bundles} for each in view.plan}
    for test, result in superseding(view).items():
        _add_verdicts(links, before, view, bundles.get(result.test.round, {}), result, view.verdicts.get(test, ()))
    return LayeredMap({**before, **links})


def read_round_links(view: RunView, rounds: Sequence[ClosedRound], verdicts: Mapping[str, Sequence[Verdict]]) -> Links:
    """The links of ``view`` after more ``rounds`` that repeat nothing."""
    links: dict[LinkId, LinkView] = {}
    for closed in rounds:
        bundles = {bundle.name: bundle for bundle in closed.round.bundles}
        for result in closed.results:
            _add_verdicts(links, view.carried, view, bundles, result, verdicts.get(result.test.id, ()))
    return make_layered(view.carried).plus(links)


def _add_verdicts(
    links: dict[LinkId, LinkView],
    before: Links,
    view: RunView,
    bundles: Mapping[str, Bundle],
    result: Result,
    verdicts: Iterable[Verdict],
) -> None:
    """Take in what verdicts say of links; the lowest share over each stays, of two alike the first."""
    for verdict in verdicts:
        if verdict.kind is not Yardstick.CAPACITY:
            continue  # it speaks of no link, and is one of very many
        measured, level = read_links(view.fabric, bundles, result, verdict)
        share = verdict.share
        for link in measured:
            lowest = (links.get(link) or before[link]).share
            if lowest is None or (share is not None and share < lowest):
                links[link] = LinkView(state_of_level(level), verdict.value, verdict.expected)


def apply_findings(carried: Links, findings: Iterable[Finding]) -> Links:
    """The links as they stand: what was measured, and what findings say of them."""
    links: dict[LinkId, LinkView] = {}
    for finding in findings:
        state = state_of_level(finding.level)
        for link in finding.links:
            links[LinkId(link)] = LinkView(state, finding.value, finding.expected, finding.members_up, finding)
    return make_layered(carried).plus(links)
