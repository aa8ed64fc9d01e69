"""The scope of each criterion: which subjects it was held against, and which it should have been. Pure.

Asks the verdicts that were made, never a number: a criterion that matched a measurement and gave no verdict was not
held against it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from benchconsole.probes.model.judgement import Verdict, Yardstick
from benchconsole.probes.model.measuring import Result, Test
from benchconsole.probes.model.sending import Directions
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.conditions import accept_labels, parse_condition
from benchconsole.topology.model.fabric import Basis, Criterion

Subject = tuple[str, int]
"""The name of a subject and, of a bundle, its round: bundles of other rounds may have its name. 0 of all others."""


@dataclass(frozen=True, slots=True)
class CriterionScope:
    """One criterion with the subjects of its scope that it was held against (``met``) and was not (``missed``).

    A subject is a node, a pair ``a>b``, a set or the name of a bundle. Nodes and subjects whose test gave no number at
    all are in neither: they lack a test, not a criterion. ``planned`` counts the tests of the probe that gives the
    metric, ``measured`` the results that hold a reading of it, whatever its labels are.
    """

    criterion: Criterion
    met: tuple[str, ...]
    missed: tuple[str, ...]
    planned: int
    measured: int


def is_held_against(criterion: Criterion, verdict: Verdict) -> bool:
    """Whether this verdict was made with this criterion; one of capacity names its model, not the clause."""
    if criterion.basis is Basis.CAPACITY:
        made = verdict.kind is Yardstick.CAPACITY
    else:
        sources = (criterion.source or "criterion", criterion.source)
        made = verdict.kind is Yardstick.CRITERION and verdict.source in sources
    return (
        made
        and criterion.metric == verdict.metric
        and (
            not criterion.where
            or accept_labels(criterion.where, {"nodes": str(len(verdict.nodes)), **dict(verdict.labels)})
        )
        and (not criterion.nodes or bool(criterion.nodes.intersection(verdict.nodes)))
    )


def list_scopes(
    criteria: Iterable[Criterion], tests: Iterable[Test], results: Mapping[str, Result], verdicts: Iterable[Verdict]
) -> tuple[CriterionScope, ...]:
    """The scope of each criterion, in order, over the planned ``tests``, their ``results`` by id and ``verdicts``.

    Results and verdicts are those that count: none of a test that a later one has repeated.
    """
    by_probe = group_by_key((test.probe, test) for test in tests)
    by_metric = group_by_key((verdict.metric, verdict) for verdict in verdicts)
    read = {test: {reading.metric for reading in result.measurements} for test, result in results.items()}
    return tuple(
        _find_scope(
            criterion, by_probe.get(_name_probe(criterion), ()), results, by_metric.get(criterion.metric, ()), read
        )
        for criterion in criteria
    )


def _name_probe(criterion: Criterion) -> str:
    """The probe that gives a metric: its name stands before the first dot."""
    return criterion.metric.partition(".")[0]


def _find_scope(
    criterion: Criterion,
    tests: Sequence[Test],
    results: Mapping[str, Result],
    verdicts: Sequence[Verdict],
    read: Mapping[str, Set[str]],
) -> CriterionScope:
    """The scope of one criterion; ``read`` are the metrics of which each test gave a reading."""
    held = [verdict for verdict in verdicts if is_held_against(criterion, verdict)]
    measured = sum(criterion.metric in read.get(test.id, ()) for test in tests)
    without = [test for test in tests if (result := results.get(test.id)) is None or result.failure is not None]
    if criterion.nodes:
        met = {_alone(node) for verdict in held for node in verdict.nodes}
        lacking = {_alone(str(node.id)) for test in without for node in test.target.nodes}
        scope = dict.fromkeys(map(_alone, sorted(criterion.nodes)))
    else:
        bundles = {(test.bundle, test.round) for test in tests if test.bundle}
        named = ((verdict.subject, verdict.round) for verdict in held)
        met = {each if each in bundles else _alone(each[0]) for each in named}
        lacking = {subject for test in without for subject in _name_subjects(criterion, test)}
        scope = dict.fromkeys(
            subject
            for test in tests
            if _may_concern(criterion, test, results.get(test.id))
            for subject in _name_subjects(criterion, test)
        )
    known = met | lacking
    missed = (subject[0] for subject in scope if subject not in known)
    return CriterionScope(
        criterion, tuple(sorted({name for name, _ in met})), tuple(dict.fromkeys(missed)), len(tests), measured
    )


def _alone(name: str) -> Subject:
    """A subject that is the same one in every round."""
    return name, 0


def _name_subjects(criterion: Criterion, test: Test) -> Iterator[Subject]:
    """The subjects of the verdicts that a test should give: what it is of, its bundle, or each of its directions."""
    if criterion.basis is not Basis.CAPACITY:
        yield _alone(test.target.key)
    elif test.bundle:
        yield test.bundle, test.round
    elif test.target.peer is not None and test.sending.directions is Directions.BOTH:
        yield from (_alone(f"{flow.source}>{flow.sink}") for flow in test.flows)
    else:
        yield _alone(test.target.key)


def _may_concern(criterion: Criterion, test: Test, result: Result | None) -> bool:
    """False where the labels of a test, or of all that it measured, say that the criterion means another one.

    A label that is missing says nothing: the criterion may mean this test, and nothing was held against it. What a
    node measured alone never frees it: another test of the same node has to carry the label.
    """
    asked = dict(criterion.where)
    if not asked:
        return True
    if _differ(asked, (("nodes", str(len(test.target.nodes))), *test.target.labels)):
        return False
    read = _read_labels(criterion, result) if len(test.target.nodes) > 1 else []
    return not read or not all(_differ(asked, labels) for labels in read)


def _read_labels(criterion: Criterion, result: Result | None) -> list[tuple[tuple[str, str], ...]]:
    """The labels of each reading of the metric that a test gave."""
    if result is None:
        return []
    return [reading.labels for reading in result.measurements if reading.metric == criterion.metric]


def _differ(asked: Mapping[str, str], labels: Iterable[tuple[str, str]]) -> bool:
    """Whether one of the labels has another value than is asked."""
    return any(name in asked and not parse_condition(asked[name]).accepts(value) for name, value in labels)
