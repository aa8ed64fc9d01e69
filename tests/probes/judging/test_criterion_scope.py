"""The scope of a criterion: pairs, bundles, both ways, labels that speak of another test, tests without a number."""

from collections.abc import Sequence

import pytest

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.criterion_scope import CriterionScope, find_session_scope, list_scopes
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measuring import FailedAt, Failure, labels
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Basis, Comparator, Criterion, NodeId
from benchconsole.topology.units import Unit
from tests.fabrics import METRICS
from tests.probes.judging.rounds import BOTH_WAYS, RATE, Sent, close, flow, star

CAPACITY = Criterion("iperf3.throughput", Comparator.AT_LEAST, 0.8, Unit.ONE, Basis.CAPACITY)
ABSOLUTE = replace(CAPACITY, required=1.0, unit=Unit.BYTE_RATE, basis=Basis.ABSOLUTE)
BOTH = Sent("n3", "n4", (("out", 0.9 * RATE), ("in", 0.9 * RATE)), sending=BOTH_WAYS)


def scope(criterion: Criterion, closed: ClosedRound, *, judged: bool = True) -> CriterionScope:
    """The scope over one round; without ``judged`` no verdict was made."""
    described = replace(star(), criteria=(criterion,))
    results = {result.test.id: result for result in closed.results}
    verdicts = judge_round(JudgingContext(described, METRICS), closed) if judged else ()
    (found,) = list_scopes(described.criteria, closed.round.tests, results, verdicts)
    return found


@pytest.mark.parametrize(
    ("criterion", "sent", "subjects"),
    [
        (CAPACITY, [flow("n1", "n2", 0.9)], ("n1>n2",)),
        (CAPACITY, [flow("n1", "n2", 0.4, "a bundle"), flow("n1", "n3", 0.4, "a bundle")], ("a bundle",)),
        (CAPACITY, [BOTH], ("n3>n4", "n4>n3")),
        (ABSOLUTE, [flow("n1", "n2", 0.4, "a bundle"), flow("n1", "n3", 0.4, "a bundle")], ("n1>n2", "n1>n3")),
        (ABSOLUTE, [BOTH], ("n3>n4",)),
        (replace(ABSOLUTE, metric="stream.triad"), [flow("n1", "n2", 0.9)], ()),
    ],
)
def test_subjects_are_those_of_verdicts(criterion: Criterion, sent: Sequence[Sent], subjects: tuple[str, ...]) -> None:
    closed = close(star(), 1, *sent)
    assert scope(criterion, closed).met == subjects
    assert scope(criterion, closed).missed == ()
    without = scope(criterion, closed, judged=False)
    assert (without.met, tuple(sorted(without.missed))) == ((), subjects)


@pytest.mark.parametrize(
    ("asked", "missed"),
    [
        ({}, ("n1>n2",)),
        ({"direction": "out"}, ("n1>n2",)),
        ({"direction": "in"}, ()),
        ({"threads": "4"}, ("n1>n2",)),
        ({"direction": "in", "threads": "4"}, ()),
    ],
)
def test_a_pair_whose_labels_are_others_is_not_meant_one_without_them_is(
    asked: dict[str, str], missed: tuple[str, ...]
) -> None:
    closed = close(star(), 1, flow("n1", "n2", 0.9))
    criterion = replace(ABSOLUTE, where=labels(**asked))
    assert scope(criterion, closed, judged=False).missed == missed


def test_a_point_of_a_sweep_that_is_not_asked_for_is_not_meant() -> None:
    closed = close(star(), 1, flow("n1", "n2", 0.9))
    (test,) = closed.round.tests
    swept = replace(test, target=replace(test.target, labels=labels(streams=2)))
    for asked, missed in (("2", ("n1>n2",)), ("4", ())):
        (found,) = list_scopes(
            [replace(ABSOLUTE, where=labels(streams=asked))], [swept], {test.id: closed.results[0]}, ()
        )
        assert found.missed == missed


def test_a_test_without_a_number_lacks_no_criterion() -> None:
    closed = close(star(), 1, flow("n1", "n2", 0.9), flow("n3", "n4", 0.9))
    failure = Failure(FailedAt.TIMEOUT, "", closed.round.tests[1].target.node.id)
    failed = replace(closed.results[1], measurements=(), failure=failure)
    found = scope(CAPACITY, replace(closed, results=(closed.results[0], failed)))
    assert (found.met, found.missed, found.planned, found.measured) == (("n1>n2",), (), 2, 1)


@pytest.mark.parametrize(("unjudged", "missed"), [((), ()), ((2,), ("a bundle",)), ((1, 2), ("a bundle",))])
def test_a_bundle_is_not_met_by_another_one_of_its_name(unjudged: Sequence[int], missed: tuple[str, ...]) -> None:
    """Two stages fill equal links; the verdicts of the rounds ``unjudged`` were not made."""
    described = replace(star(), criteria=(CAPACITY,))
    rounds = [
        close(described, number, flow(source, "n3", 0.4, "a bundle"), flow(source, "n4", 0.4, "a bundle"))
        for number, source in ((1, "n1"), (2, "n2"))
    ]
    results = {result.test.id: result for closed in rounds for result in closed.results}
    context = JudgingContext(described, METRICS)
    verdicts = [
        each for closed in rounds if closed.round.number not in unjudged for each in judge_round(context, closed)
    ]
    (found,) = list_scopes([CAPACITY], [result.test for result in results.values()], results, verdicts)
    assert found.missed == missed


def test_a_bundle_that_was_repeated_lacks_nothing_of_its_first_round() -> None:
    """Only the results and verdicts of the repeat count, and the plan holds both."""
    described = replace(star(), criteria=(CAPACITY,))
    first, again = (
        close(described, number, flow("n1", "n2", 0.4, "b"), flow("n1", "n3", 0.4, "b")) for number in (1, 2)
    )
    results = {result.test.id: result for result in again.results}
    verdicts = judge_round(JudgingContext(described, METRICS), again)
    (found,) = list_scopes([CAPACITY], [*first.round.tests, *again.round.tests], results, verdicts)
    assert (found.met, found.missed) == (("b",), ())


@pytest.mark.parametrize(
    ("nodes", "met", "missed"),
    [
        (("n1",), ("n1", "n2"), ()),
        (("n1", "n2"), ("n1", "n2"), ()),
        (("n2",), (), ("n2",)),
        (("n2", "n4"), (), ("n2", "n4")),
        (("n2", "n3"), ("n3", "n4"), ("n2",)),
    ],
)
@pytest.mark.parametrize("criterion", [CAPACITY, ABSOLUTE])
def test_a_verdict_on_what_another_node_sends_meets_no_criterion_on_a_receiver(
    criterion: Criterion, nodes: Sequence[str], met: tuple[str, ...], missed: tuple[str, ...]
) -> None:
    """The default, or a clause of the same source on everybody, gives the other verdicts."""
    own = replace(criterion, nodes=frozenset(map(NodeId, nodes)), source="5.1")
    everybody = replace(criterion, source="5.1")
    described = replace(star(), criteria=(own, everybody))
    closed = close(described, 1, flow("n1", "n2", 0.9), flow("n3", "n4", 0.9))
    results = {result.test.id: result for result in closed.results}
    verdicts = judge_round(JudgingContext(described, METRICS), closed)
    found, _ = list_scopes(described.criteria, closed.round.tests, results, verdicts)
    assert (found.met, found.missed) == (met, missed)


HIGHEST = replace(ABSOLUTE, statistic="highest")


@pytest.mark.parametrize(
    ("criterion", "met", "missed"),
    [
        (HIGHEST, ("n1>n2",), ("n3>n4",)),
        (replace(HIGHEST, nodes=frozenset({NodeId("n1")})), ("n1", "n2"), ()),
        (replace(HIGHEST, nodes=frozenset({NodeId("n1"), NodeId("n3")})), ("n1", "n2"), ("n3",)),
        (replace(HIGHEST, nodes=frozenset({NodeId("n1"), NodeId("n8")})), ("n1", "n2"), ("n8",)),
        (replace(HIGHEST, where=(("direction", "out"),)), ("n1>n2",), ("n3>n4",)),
        (replace(HIGHEST, where=(("direction", "in"),)), (), ("n3>n4",)),
        (replace(HIGHEST, metric="stream.triad"), (), ()),
    ],
)
def test_of_all_numbers_together_those_that_gave_none_are_missed(
    criterion: Criterion, met: tuple[str, ...], missed: tuple[str, ...]
) -> None:
    """n3>n4 ended well and told another metric only, n5>n6 failed."""
    closed = close(star(), 1, flow("n1", "n2", 0.9), flow("n3", "n4", 0.9), flow("n5", "n6", 0.9))
    first, second, third = closed.results
    other = replace(second, measurements=(replace(second.measurements[0], metric="iperf3.retransmits"),))
    failed = replace(third, measurements=(), failure=Failure(FailedAt.TIMEOUT, "", third.test.target.node.id))
    results = {each.test.id: each for each in (first, other, failed)}
    found = find_session_scope(criterion, closed.round.tests, results)
    assert (found.met, found.missed) == (met, missed)
