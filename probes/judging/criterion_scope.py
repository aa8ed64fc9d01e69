"""The scope of each criterion: which subjects it was held against, and which it should have been. Pure.

Asks the verdicts that were made, never a number: a criterion that matched a measurement and gave no verdict was not
held against it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property

from msgspec import Struct

from benchconsole.probes.judging.criterion_match import speaks_of_labels, speaks_of_test
from benchconsole.probes.model.alike_passes import AlikePasses, TestedNames
from benchconsole.probes.model.judgement import Verdict, Yardstick
from benchconsole.probes.model.kept_readings import list_kinds
from benchconsole.probes.model.measuring import Result, Test
from benchconsole.probes.model.sending import Directions
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.conditions import accept_labels, parse_condition
from benchconsole.topology.model.fabric import Basis, Criterion

Subject = tuple[str, int]
"""The name of a subject and, of a bundle, its round: bundles of other rounds may have its name. 0 of all others."""


class CriterionScope(Struct, frozen=True):
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
    return is_like_held(criterion, verdict) and (
        not criterion.nodes or bool(criterion.nodes.intersection(verdict.nodes))
    )


def is_like_held(criterion: Criterion, verdict: Verdict) -> bool:
    """The same of verdicts that differ in their nodes, of which there are as many."""
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
    )


def list_scopes(
    criteria: Iterable[Criterion],
    tests: Iterable[Test],
    results: Mapping[str, Result],
    verdicts: Iterable[Verdict],
    passed: Iterable[AlikePasses] = (),
) -> tuple[CriterionScope, ...]:
    """The scope of each criterion, in order, over the planned ``tests``, their ``results`` by id and their verdicts.

    Those are ``verdicts``, and ``passed`` in columns. Results and verdicts are those that count: none of a test that a
    later one has repeated.
    """
    by_probe = {
        probe: _Planned(own, results) for probe, own in group_by_key((each.probe, each) for each in tests).items()
    }
    by_metric = group_by_key((verdict.metric, verdict) for verdict in verdicts)
    names = TestedNames()
    in_columns = group_by_key((each.like.metric, each) for each in passed)
    asked = tuple(criteria)
    metrics = {criterion.metric for criterion in asked}
    read: dict[str, set[str]] = defaultdict(set)
    for test, result in results.items():
        for metric, _, _ in list_kinds(result):
            if metric in metrics:
                read[metric].add(test)
    return tuple(
        _find_scope(
            criterion,
            by_probe.get(_name_probe(criterion), _Planned((), results)),
            by_metric.get(criterion.metric, ()),
            in_columns.get(criterion.metric, ()),
            names,
            read,
        )
        for criterion in asked
    )


def find_session_scope(criterion: Criterion, tests: Iterable[Test], results: Mapping[str, Result]) -> CriterionScope:
    """The scope of a criterion on all numbers of a session: met is what gave a number that it speaks of."""
    own = [test for test in tests if test.probe == _name_probe(criterion)]
    planned = _Planned([test for test in own if speaks_of_test(criterion, test)], results)
    told = [test for test in planned.tests if _has_number(criterion, test, results.get(test.id))]
    if criterion.nodes:
        met = {_alone(str(node.id)) for test in told for node in test.target.nodes}
        lacking = {_alone(str(node.id)) for test in planned.without for node in test.target.nodes}
        scope: Sequence[Subject] = [_alone(node) for node in sorted(criterion.nodes)]
    else:
        met = {_alone(test.target.key) for test in told}
        lacking = {_alone(test.target.key) for test in planned.without}
        scope = planned.list_scope(criterion)
    missed = tuple(dict.fromkeys(name for name, number in scope if (name, number) not in met | lacking))
    measured = sum(_gave_metric(criterion, results.get(test.id)) for test in planned.tests)
    return CriterionScope(criterion, tuple(sorted(name for name, _ in met)), missed, len(planned.tests), measured)


def _has_number(criterion: Criterion, test: Test, result: Result | None) -> bool:
    size = len(test.target.nodes)
    return any(speaks_of_labels(criterion, labels, size) for labels in _read_labels(criterion, result))


def _gave_metric(criterion: Criterion, result: Result | None) -> bool:
    return bool(_read_labels(criterion, result))


def _name_probe(criterion: Criterion) -> str:
    """The probe that gives a metric: its name stands before the first dot."""
    return criterion.metric.partition(".")[0]


class _Planned:
    """The planned ``tests`` of one probe, and the ``results`` of all by their ids."""

    def __init__(self, tests: Sequence[Test], results: Mapping[str, Result]) -> None:
        self.tests = tests
        self.results = results

    @cached_property
    def ids(self) -> Set[str]:
        return {test.id for test in self.tests}

    def list_meant(self, criterion: Criterion) -> Set[str]:
        """The ids of the tests that a criterion speaks of by its nodes: of a pair it means the one that sends."""
        return {test.id for test in self.tests if speaks_of_test(criterion, test)}

    @cached_property
    def without(self) -> list[Test]:
        """The tests that gave no number."""
        found = ((test, self.results.get(test.id)) for test in self.tests)
        return [test for test, result in found if result is None or result.failure is not None]

    @cached_property
    def bundles(self) -> Set[Subject]:
        return {(test.bundle, test.round) for test in self.tests if test.bundle}

    @cached_property
    def single(self) -> Sequence[Subject]:
        """The subjects of verdicts that are of a test by itself."""
        return tuple(dict.fromkeys(_alone(test.target.key) for test in self.tests))

    def list_scope(self, criterion: Criterion) -> Sequence[Subject]:
        """The subjects that a criterion speaks of; it names no nodes."""
        if not criterion.where and criterion.basis not in (Basis.CAPACITY, Basis.CEILING):
            return self.single
        concerned = (test for test in self.tests if _may_concern(criterion, test, self.results.get(test.id)))
        return tuple(dict.fromkeys(subject for test in concerned for subject in _name_subjects(criterion, test)))


def _find_scope(
    criterion: Criterion,
    planned: _Planned,
    verdicts: Sequence[Verdict],
    passed: Sequence[AlikePasses],
    names: TestedNames,
    read: Mapping[str, Set[str]],
) -> CriterionScope:
    """The scope of one criterion; ``read`` are the tests that gave a reading of each metric."""
    held = [verdict for verdict in verdicts if is_held_against(criterion, verdict)]
    alike = [each for each in passed if is_like_held(criterion, each.like)]
    alone = names.list_nodes(alike)
    if criterion.nodes:
        meant = planned.list_meant(criterion)
        met = {_alone(node) for verdict in held if verdict.test in meant for node in verdict.nodes}
        met |= {_alone(node) for node in criterion.nodes & alone}
        lacking = {_alone(str(node.id)) for test in planned.without for node in test.target.nodes}
        scope: Sequence[Subject] = [_alone(node) for node in sorted(criterion.nodes)]
    else:
        named = ((verdict.subject, verdict.round) for verdict in held)
        met = {each if each in planned.bundles else _alone(each[0]) for each in named} | set(map(_alone, alone))
        lacking = {subject for test in planned.without for subject in _name_subjects(criterion, test)}
        scope = planned.list_scope(criterion)
    known = met | lacking
    missed = (subject[0] for subject in scope if subject not in known)
    measured = names.list_tests(passed) | read.get(criterion.metric, set())
    return CriterionScope(
        criterion,
        tuple(sorted({name for name, _ in met})),
        tuple(dict.fromkeys(missed)),
        len(planned.tests),
        len(measured & planned.ids),
    )


def _alone(name: str) -> Subject:
    """A subject that is the same one in every round."""
    return name, 0


def _name_subjects(criterion: Criterion, test: Test) -> Iterator[Subject]:
    """The subjects of the verdicts that a test should give: what it is of, its bundle, or each of its directions."""
    if test.bundle and criterion.basis in (Basis.CAPACITY, Basis.CEILING):
        yield test.bundle, test.round
    elif criterion.basis is not Basis.CAPACITY:
        yield _alone(test.target.key)
    elif test.target.peer is not None and test.sending.directions is Directions.BOTH:
        yield from (_alone(f"{flow.source}>{flow.sink}") for flow in test.flows)
    else:
        yield _alone(test.target.key)


def _may_concern(criterion: Criterion, test: Test, result: Result | None) -> bool:
    """False where the labels of a test, or of all that it measured, say that the criterion means another one.

    A label that is missing says nothing: the criterion may mean this test, and nothing was held against it. The
    measurements of a node alone never free it: another test of the same node has to carry the label.
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
    return [labels for metric, _, labels in list_kinds(result) if metric == criterion.metric]


def _differ(asked: Mapping[str, str], labels: Iterable[tuple[str, str]]) -> bool:
    """Whether one of the labels has another value than is asked."""
    return any(name in asked and not parse_condition(asked[name]).accepts(value) for name, value in labels)
