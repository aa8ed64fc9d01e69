"""The measurements of one test, which become columns once its round is judged: objects are made when somebody looks.

A session keeps the numbers of all its tests until its end, and hardly any of them is read again. As objects they are
a quarter of the memory that a node costs.
"""

from array import array
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from benchconsole.probes.model.fetched_sequence import FetchedSequence
from benchconsole.probes.model.measuring import Labels, Reading, Result
from benchconsole.topology.units import Unit

_SHARED = 4096
"""Lists of kinds of which each is kept once: tests that measure alike have the same."""

_BETWEEN = b"\xff"
"""Stands between texts in UTF-8, in which this byte never occurs."""

_SURROGATES = "surrogatepass"
"""How texts go to UTF-8 and back: a tool may have printed anything."""

Kinds = tuple[tuple[str, Unit, Labels], ...]
"""Metric, unit and labels of each measurement."""


class _Columns(NamedTuple):
    """Measurements by column; ``raws`` are the texts that they were read from, joined."""

    kinds: Kinds
    values: "array[float]"
    raws: bytes


class KeptReadings(FetchedSequence[Reading]):
    """The ``readings`` of the test with the id ``test``, as measurements made ``at`` (UTC, seconds since 1970).

    The id of each is that of its test with its place. They are objects until ``release``, and from then on made anew
    for each who looks, until ``hold``. Equal to any sequence of the same measurements; may be read in any thread.
    """

    __slots__ = ("_at", "_at_hand", "_columns", "_test")

    def __init__(self, test: str, at: float, readings: Iterable[Reading]) -> None:
        self._test = test
        self._at = at
        rows = (((each.metric, each.unit, each.labels), float(each.value), each.raw) for each in readings)
        self._at_hand: tuple[Reading, ...] | None = self._make(rows)
        self._columns: _Columns | None = None

    @classmethod
    def of_columns(
        cls, test: str, at: float, kinds: Kinds, values: Iterable[float], raws: Iterable[str]
    ) -> "KeptReadings":
        """Measurements that are given by column, and are no objects; at least one."""
        made = cls(test, at, ())
        made._columns = _make_columns(kinds, values, raws)
        made._at_hand = None
        return made

    def hold(self) -> None:
        """Make the objects once for all who look before the next ``release``."""
        self._at_hand = self._fetch()

    def release(self) -> None:
        """Let the objects go; what they say is kept."""
        at_hand = self._at_hand
        if not at_hand:
            return
        if self._columns is not None:
            self._at_hand = None
            return
        kinds = tuple((each.metric, each.unit, each.labels) for each in at_hand)
        values, raws = (each.value for each in at_hand), (each.raw for each in at_hand)
        self._columns = _make_columns(kinds, values, raws)
        self._at_hand = None

    def __len__(self) -> int:
        at_hand = self._at_hand  # first: ``release`` in another thread sets the columns before it lets go
        return len(at_hand) if at_hand is not None else len(self._columns.values) if self._columns is not None else 0

    def __repr__(self) -> str:
        return repr(self._fetch())

    def _fetch(self) -> tuple[Reading, ...]:
        at_hand, columns = self._at_hand, self._columns
        if at_hand is not None or columns is None:
            return at_hand or ()
        raws = (each.decode("utf-8", _SURROGATES) for each in columns.raws.split(_BETWEEN))
        return self._make(zip(columns.kinds, columns.values, raws, strict=True))

    def _make(self, rows: Iterable[tuple[tuple[str, Unit, Labels], float, str]]) -> tuple[Reading, ...]:
        test, at = self._test, self._at
        return tuple(
            Reading(metric, value, unit, labels, raw, name_measurement(test, place), at)
            for place, ((metric, unit, labels), value, raw) in enumerate(rows)
        )


def hold_readings(results: Iterable[Result]) -> None:
    """Have the measurements of these results at hand, for work that looks at them again and again."""
    for result in results:
        if isinstance(result.measurements, KeptReadings):
            result.measurements.hold()


def release_readings(results: Iterable[Result]) -> None:
    """Let the objects of their measurements go."""
    for result in results:
        if isinstance(result.measurements, KeptReadings):
            result.measurements.release()


def name_measurement(test: str, place: int) -> str:
    """The id of the measurement at this place of a test."""
    return f"{test}#{place}"


def _make_columns(kinds: Kinds, values: Iterable[float], raws: Iterable[str]) -> _Columns:
    joined = _BETWEEN.join([each.encode("utf-8", _SURROGATES) for each in raws])
    return _Columns(_share_kinds(kinds), array("d", values), joined)


@lru_cache(maxsize=_SHARED)
def _share_kinds(kinds: Kinds) -> Kinds:
    """``kinds``, the same object for all that are equal."""
    return kinds
