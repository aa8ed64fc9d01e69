"""The measurements of tests, which become columns once their round is judged: objects are made when somebody looks.

A session keeps the numbers of all its tests until its end, and hardly any of them is read again. As objects they are
a quarter of the memory that a node costs. The texts that they were read from are alike in the tests of a round, and
are packed together.
"""

import zlib
from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from benchconsole.probes.model.fetched_sequence import FetchedSequence
from benchconsole.probes.model.measuring import Labels, Reading, Result
from benchconsole.topology.units import Unit

_SHARED = 4096
"""Lists of kinds of which each is kept once: tests that measure alike have the same."""

_UNPACKED = 2
"""Rounds of which the texts that were read last are at hand: who looks at a test looks at its neighbours, too."""

_BETWEEN, _BETWEEN_TESTS = b"\xff", b"\xfe"
"""Stand between texts in UTF-8, in which these bytes never occur."""

_SURROGATES = "surrogatepass"
"""How texts go to UTF-8 and back: a tool may have printed anything."""

_FAST = 1
"""The level of zlib: a higher one saves a tenth and takes twice the time."""

Kinds = tuple[tuple[str, Unit, Labels], ...]
"""Metric, unit and labels of each measurement."""


class ReadingColumns(NamedTuple):
    """The measurements of the test with the id ``test`` by column, made ``at`` (UTC, seconds since 1970)."""

    test: str
    at: float
    kinds: Kinds
    values: Iterable[float]
    raws: Iterable[str]


class _Columns:
    """The measurements of several tests; those of one stand between its place in ``starts`` and the next."""

    __slots__ = ("kinds", "packed", "starts", "values")

    def __init__(self, tests: Iterable[ReadingColumns]) -> None:
        self.kinds: list[Kinds] = []
        self.starts = array("L", [0])
        self.values = array("d")
        texts: list[bytes] = []
        for each in tests:
            self.kinds.append(_share_kinds(each.kinds))
            self.values.extend(each.values)
            self.starts.append(len(self.values))
            texts.append(_BETWEEN.join([raw.encode("utf-8", _SURROGATES) for raw in each.raws]))
        self.packed = zlib.compress(_BETWEEN_TESTS.join(texts), _FAST)

    def count(self, place: int) -> int:
        return self.starts[place + 1] - self.starts[place]

    def list_raws(self, place: int) -> list[str]:
        """The text of each measurement of the test at this place; the texts of all tests are unpacked for it."""
        if not self.count(place):
            return []
        return [each.decode("utf-8", _SURROGATES) for each in _unpack(self)[place].split(_BETWEEN)]

    def list_values(self, place: int) -> list[tuple[tuple[str, Unit, Labels], float]]:
        """Kind and value of each measurement of the test at this place."""
        return list(zip(self.kinds[place], self.values[self.starts[place] : self.starts[place + 1]], strict=True))

    def list_rows(self, place: int, raws: Sequence[str]) -> list[tuple[tuple[str, Unit, Labels], float, str]]:
        """Kind and value of each measurement of the test at this place, with its text."""
        values = self.values[self.starts[place] : self.starts[place + 1]]
        return list(zip(self.kinds[place], values, raws, strict=True))


@lru_cache(maxsize=_UNPACKED)
def _unpack(columns: _Columns) -> list[bytes]:
    """The texts of each test, joined."""
    return zlib.decompress(columns.packed).split(_BETWEEN_TESTS)


class KeptReadings(FetchedSequence[Reading]):
    """The ``readings`` of the test with the id ``test``, as measurements made ``at`` (UTC, seconds since 1970).

    The id of each is that of its test with its place. They are objects until ``release_readings``, and from then on
    made anew for each who looks, until ``hold_readings``. Equal to any sequence of the same measurements; may be read
    in any thread.
    """

    __slots__ = ("_at", "_at_hand", "_columns", "_place", "_test")

    def __init__(self, test: str, at: float, readings: Iterable[Reading]) -> None:
        self._test = test
        self._at = at
        rows = (((each.metric, each.unit, each.labels), float(each.value), each.raw) for each in readings)
        self._at_hand: tuple[Reading, ...] | None = self._make(rows)
        self._columns: _Columns | None = None
        self._place = 0

    def hold(self) -> None:
        """Make the objects once for all who look before they are released."""
        self._at_hand = self._fetch()

    @property
    def is_in_columns(self) -> bool:
        return self._columns is not None

    def list_columns(self) -> ReadingColumns:
        """The same by column."""
        own = self._fetch()
        return ReadingColumns(
            self._test, self._at, _name_kinds(own), [each.value for each in own], [each.raw for each in own]
        )

    def release(self, columns: _Columns | None = None, place: int = 0) -> None:
        """Let the objects go; what they say stands at this place of the columns, or where it stood already."""
        if columns is not None:
            self._place = place
            self._columns = columns
        self._at_hand = None

    def __len__(self) -> int:
        at_hand = self._at_hand  # first: ``release`` in another thread sets the columns before it lets go
        if at_hand is not None:
            return len(at_hand)
        return self._columns.count(self._place) if self._columns is not None else 0

    def __repr__(self) -> str:
        return repr(self._fetch())

    def _fetch(self) -> tuple[Reading, ...]:
        at_hand, columns = self._at_hand, self._columns
        if at_hand is not None or columns is None:
            return at_hand or ()
        return self._make(columns.list_rows(self._place, columns.list_raws(self._place)))

    def list_numbers(self) -> tuple[Reading, ...]:
        """The same without the texts where these would have to be unpacked."""
        columns = self._columns
        if self._at_hand is not None or columns is None:
            return self._fetch()
        return self._make(columns.list_rows(self._place, [""] * columns.count(self._place)))

    def list_kinds(self) -> Kinds:
        """Metric, unit and labels of each, for which no object is made."""
        columns = self._columns
        if self._at_hand is not None or columns is None:
            return _name_kinds(self._fetch())
        return columns.kinds[self._place]

    def list_values(self) -> list[tuple[tuple[str, Unit, Labels], float]]:
        """Kind and value of each, for which no object is made."""
        columns = self._columns
        if self._at_hand is not None or columns is None:
            return _pair_values(self._fetch())
        return columns.list_values(self._place)

    def _make(self, rows: Iterable[tuple[tuple[str, Unit, Labels], float, str]]) -> tuple[Reading, ...]:
        test, at = self._test, self._at
        return tuple(
            Reading(metric, value, unit, labels, raw, name_measurement(test, place), at)
            for place, ((metric, unit, labels), value, raw) in enumerate(rows)
        )


def keep_columns(tests: Sequence[ReadingColumns]) -> list[KeptReadings]:
    """Measurements that are given by column, and are no objects, in the order of ``tests``."""
    made = [KeptReadings(each.test, each.at, ()) for each in tests]
    _release_together(made, tests)
    return made


def hold_readings(results: Iterable[Result]) -> None:
    """Have the measurements of these results at hand, for work that looks at them again and again."""
    for result in results:
        if isinstance(result.measurements, KeptReadings):
            result.measurements.hold()


def list_numbers(result: Result) -> Sequence[Reading]:
    """The measurements of a result for one who needs no text that a number was read from; it may be missing."""
    kept = result.measurements
    return kept.list_numbers() if isinstance(kept, KeptReadings) else kept


def list_kinds(result: Result) -> Kinds:
    """Metric, unit and labels of each measurement of a result."""
    kept = result.measurements
    return kept.list_kinds() if isinstance(kept, KeptReadings) else _name_kinds(kept)


def list_values(result: Result) -> list[tuple[tuple[str, Unit, Labels], float]]:
    """Kind and value of each measurement of a result: metric, unit and labels, beside the number."""
    kept = result.measurements
    return kept.list_values() if isinstance(kept, KeptReadings) else _pair_values(kept)


def _pair_values(readings: Iterable[Reading]) -> list[tuple[tuple[str, Unit, Labels], float]]:
    return [((each.metric, each.unit, each.labels), each.value) for each in readings]


def _name_kinds(readings: Iterable[Reading]) -> Kinds:
    return tuple((each.metric, each.unit, each.labels) for each in readings)


def release_readings(results: Iterable[Result]) -> None:
    """Let the objects of their measurements go."""
    kept = [result.measurements for result in results if isinstance(result.measurements, KeptReadings)]
    for each in kept:
        if each.is_in_columns:
            each.release()
    new = [each for each in kept if not each.is_in_columns]
    _release_together(new, (each.list_columns() for each in new))


def _release_together(kept: Sequence[KeptReadings], tests: Iterable[ReadingColumns]) -> None:
    if kept:
        columns = _Columns(tests)
        for place, each in enumerate(kept):
            each.release(columns, place)


def name_measurement(test: str, place: int) -> str:
    """The id of the measurement at this place of a test."""
    return f"{test}#{place}"


@lru_cache(maxsize=_SHARED)
def _share_kinds(kinds: Kinds) -> Kinds:
    """``kinds``, the same object for all that are equal."""
    return kinds
