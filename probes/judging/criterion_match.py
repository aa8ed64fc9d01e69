"""The tests and measurements that a criterion speaks of. Pure, and without numpy: verdicts on sessions ask it, too."""

from benchconsole.probes.model.labels import read_typed
from benchconsole.probes.model.measuring import Labels, Reading, Result, Test
from benchconsole.topology.model.conditions import accept_labels
from benchconsole.topology.model.fabric import Criterion


class DefaultCriterion(Criterion, frozen=True):
    """A criterion that no file declares: it speaks of tests that send in bulk only."""


def matching(criterion: Criterion, result: Result) -> tuple[Reading, ...]:
    """The measurements of ``result`` that ``criterion`` speaks of."""
    if not speaks_of_test(criterion, result.test):
        return ()
    size = len(result.test.target.nodes)
    return tuple(
        measurement
        for measurement in result.measurements
        if measurement.metric == criterion.metric and speaks_of_labels(criterion, measurement.labels, size)
    )


def speaks_of_test(criterion: Criterion, test: Test) -> bool:
    """Whether ``criterion`` may speak of what a test measures."""
    if criterion.nodes and test.target.node.id not in criterion.nodes:
        return False
    return test.sending.bulk or not isinstance(criterion, DefaultCriterion)


def speaks_of_labels(criterion: Criterion, labels: Labels, size: int) -> bool:
    """Whether ``criterion`` speaks of measurements with these labels of tests on ``size`` nodes.

    Of a typed statistic, which is no value of a node, only a criterion on this statistic speaks.
    """
    typed = read_typed(labels)
    if typed is not None and criterion.statistic != typed.statistic:
        return False
    return not criterion.where or accept_labels(criterion.where, {"nodes": str(size), **dict(labels)})
