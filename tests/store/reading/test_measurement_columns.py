"""Stored measurements are read in columns, and those that are named otherwise as objects: both say what was stored."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from benchconsole.probes.api import Reading, Unit, labels
from benchconsole.probes.model.kept_readings import KeptReadings
from benchconsole.store.reading.measurement_columns import read_measurements

METRICS = {1: ("a.rate", "B/s"), 2: ("a.time", "s")}
UNITS = {1: Unit.BYTE_RATE, 2: Unit.SECOND}
LABELS = {1: (), 2: labels(way="in")}
TESTS = {7: "0001/a/n1", 8: "0001/a/n2"}
Drawn = tuple[int, int, int, str | None, float, str, float]
MEASURED = st.tuples(
    st.sampled_from(sorted(TESTS)), st.sampled_from((1, 2)), st.sampled_from((1, 2)), st.sampled_from((None, "other")),
    st.floats(allow_nan=False), st.text(max_size=3), st.sampled_from((5.0, 6.0)),
)  # fmt: skip


@given(st.lists(MEASURED, max_size=8), st.booleans())
def test_each_result_has_its_own_in_their_order(drawn: Sequence[Drawn], named: bool) -> None:
    rows: list[tuple[object, ...]] = []
    wanted: dict[int, list[Reading]] = {}
    for number, metric, of, key, value, raw, at in drawn:
        own = wanted.setdefault(number, [])
        name = f"{TESTS[number]}#{len(own)}" if named or key is None else key
        time = 5.0 if named else at
        rows.append((number, metric, of, name, value, raw, time))
        own.append(Reading(METRICS[metric][0], value, UNITS[metric], LABELS[of], raw, name, time))
    found = read_measurements(rows, TESTS, METRICS, LABELS)
    assert {number: list(own) for number, own in found.items()} == wanted
    if named:
        assert all(isinstance(own, KeptReadings) for own in found.values())
