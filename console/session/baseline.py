"""The numbers of the session that is named as baseline, for criteria that ask for shares of them."""

import math
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from benchconsole.probes.judging.session_criteria import NO_BASELINE, make_place_labels
from benchconsole.probes.model.measuring import Result
from benchconsole.probes.model.repeats import make_test_key
from benchconsole.store.reading.session_list import find_baseline
from benchconsole.store.reading.session_reading import SessionReader
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.baseline import BaselineNumbers, Place
from benchconsole.topology.model.fabric import Basis, Fabric

if TYPE_CHECKING:
    from benchconsole.store.files.database import Database


def add_baseline(fabric: Fabric, database: "Database", session: str = "", started: float = math.inf) -> Fabric:
    """``fabric`` with the numbers that its criteria with ``of: baseline`` hold a session against, where it has such.

    ``session`` is its id (empty before it is stored), ``started`` in UTC seconds (infinite: it begins now). A baseline
    judges later sessions: not itself, and none that began before it.
    """
    metrics = frozenset(each.metric for each in fabric.criteria if each.basis is Basis.BASELINE)
    return replace(fabric, baseline=_read_numbers(fabric, database, session, started, metrics)) if metrics else fabric


def _read_numbers(
    fabric: Fabric, database: "Database", session: str, started: float, metrics: frozenset[str]
) -> BaselineNumbers:
    named = find_baseline(database, fabric.name)
    if named is None:
        return BaselineNumbers(why=f"{NO_BASELINE} of {fabric.name}; benchconsole baseline SESSION names one")
    if named.session == session:
        return BaselineNumbers(why="it is the baseline itself")
    earlier = SessionReader(named.session, database)
    new = earlier.describe().new
    if started < new.started:
        return BaselineNumbers(why=f"it began before the baseline {new.label or named.session}")
    return BaselineNumbers(new.label or named.session, _read_medians(earlier, metrics))


def _read_medians(session: SessionReader, metrics: frozenset[str]) -> dict[Place, float]:
    """The median of each place; of a test that was repeated its newest result."""
    new = session.describe().new
    newest: dict[object, Result] = {}
    for closed in session.read_rounds(load_text(new.topology, new.topology_path), judged=False):
        newest.update({make_test_key(result.test, closed.round.stage): result for result in closed.results})
    values = group_by_key(
        ((reading.metric, result.test.target.key, make_place_labels(reading.labels)), reading.value)
        for result in newest.values()
        for reading in result.measurements
        if reading.metric in metrics and math.isfinite(reading.value)
    )
    return {place: median(own) for place, own in values.items()}
