"""The numbers of the session that is named as baseline, by place."""

from collections.abc import Sequence
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from benchconsole.console.session.stored_fabric import describe_fabric
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.physical_limits import describe_excess
from benchconsole.probes.judging.session_criteria import (
    NO_BASELINE,
    Number,
    find_wrong,
    make_number,
    make_place_labels,
)
from benchconsole.probes.model.measuring import Result
from benchconsole.probes.model.repeats import make_test_key
from benchconsole.store.reading.session_list import find_baseline
from benchconsole.store.reading.session_reading import SessionReader
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.baseline import BaselineNumbers, BaselineValue, Place
from benchconsole.topology.model.fabric import Fabric

if TYPE_CHECKING:
    from benchconsole.store.files.database import Database


def read_baseline_numbers(
    fabric: Fabric, database: "Database", session: str, started: float, metrics: frozenset[str]
) -> BaselineNumbers:
    """The numbers of ``metrics`` of the baseline that counts for ``session``, or why there is none."""
    named = find_baseline(database, fabric.name, started)
    if named is None:
        any_named = find_baseline(database, fabric.name)
        if any_named is None:
            return BaselineNumbers(why=f"{NO_BASELINE} of {fabric.name}; benchconsole baseline SESSION names one")
        if any_named.session == session:
            return BaselineNumbers(why="it is the baseline itself")
        return BaselineNumbers(why=f"it began before the baseline {_find_name(any_named.session, database)}")
    values = _read_values(SessionReader(named.session, database), metrics)
    return BaselineNumbers(_find_name(named.session, database), values)


def _find_name(session: str, database: "Database") -> str:
    return SessionReader(session, database).describe().new.label or session


def _read_values(session: SessionReader, metrics: frozenset[str]) -> dict[Place, BaselineValue]:
    """The numbers of each place; of a test that was repeated those of its newest result."""
    new = session.describe().new
    newest: dict[object, Result] = {}
    fabric = describe_fabric(new)
    excess = partial(describe_excess, JudgingContext(fabric, {}))
    for closed in session.read_rounds(fabric, judged=False):
        newest.update({make_test_key(result.test, closed.round.stage): result for result in closed.results})
    values = group_by_key(
        (
            (reading.metric, result.test.target.key, make_place_labels(reading.labels)),
            make_number(reading, result, excess),
        )
        for result in newest.values()
        for reading in result.measurements
        if reading.metric in metrics
    )
    return {place: _make_value(own) for place, own in values.items()}


def _make_value(numbers: Sequence[Number]) -> BaselineValue:
    distinct = {id(each.test.target.options): each.test.target.options for each in numbers}
    middle = median(each.reading.value for each in numbers)
    return BaselineValue(middle, tuple(distinct.values()), find_wrong(numbers))
