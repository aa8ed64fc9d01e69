"""Measurements that stand in columns say what they said as objects, and are no objects any more."""

import gc
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.probes.api import Reading, Unit, labels
from benchconsole.probes.model.kept_readings import (
    KeptReadings,
    ReadingColumns,
    _unpack,
    hold_readings,
    keep_columns,
    list_kinds,
    list_numbers,
    list_values,
    release_readings,
)
from benchconsole.probes.model.measuring import Result, Target, Test
from benchconsole.probes.testing import a_node

TEXTS = st.text(st.characters() | st.sampled_from("\udcff\ud800ÿ\x00\n"))
READINGS = st.builds(
    Reading,
    st.sampled_from(("a.rate", "a.time")),
    st.floats(allow_nan=False),
    st.sampled_from(list(Unit)),
    st.sampled_from(((), labels(way="in"), labels(block="4 KiB", way="out"))),
    TEXTS,
)


@given(st.lists(READINGS, max_size=6), st.text(max_size=3), st.floats(0, 2e9))
def test_a_released_measurement_says_what_it_said(readings: list[Reading], test: str, at: float) -> None:
    kept = KeptReadings(test, at, readings)
    wanted = [
        Reading(each.metric, each.value, each.unit, each.labels, each.raw, f"{test}#{place}", at)
        for place, each in enumerate(readings)
    ]
    beside = KeptReadings("beside", at, [Reading("a.rate", 7.0, Unit.ONE, raw="seven")])
    check(kept, wanted)
    for _ in range(2):
        release(beside, kept, beside)
        check(kept, wanted)
        assert [each.raw for each in beside] == ["seven"]


def check(kept: KeptReadings, wanted: list[Reading]) -> None:
    assert list(kept) == wanted
    assert kept == wanted
    assert kept == tuple(wanted)
    assert hash(kept) == hash(tuple(wanted))
    assert len(kept) == len(wanted)
    assert bool(kept) == bool(wanted)
    assert [kept[place] for place in range(len(wanted))] == wanted
    assert list(kept[1:]) == wanted[1:]
    assert [math.copysign(1, each.value) for each in kept] == [math.copysign(1, each.value) for each in wanted]
    assert all(type(each.value) is float for each in kept)
    assert repr(kept) == repr(tuple(wanted))


def test_others_are_unlike() -> None:
    one = Reading("a.rate", 1.0, Unit.ONE, raw="1")
    kept = KeptReadings("t", 2.0, [one])
    assert kept != [one]
    assert kept != KeptReadings("t", 3.0, [one])
    assert kept != KeptReadings("u", 2.0, [one])
    assert kept != KeptReadings("t", 2.0, [one, one])
    assert kept != 7


def test_a_number_that_is_no_float_is_one_from_the_start() -> None:
    """A reader of JSON gives whole numbers as they stand there; nobody must see the release."""
    kept = KeptReadings("t", 2.0, [Reading("a.count", 3, Unit.ONE)])
    assert type(kept[0].value) is float


def test_what_is_released_is_gone() -> None:
    kept = KeptReadings("t", 2.0, [Reading("a.rate", 1.0, Unit.ONE, raw="1") for _ in range(3)])
    assert kept[0] is kept[0]
    release(kept)
    gc.collect()
    assert not [each for each in gc.get_objects() if isinstance(each, Reading) and each.id.startswith("t#")]
    assert kept[0] is not kept[0]
    assert kept[0] == kept[0]


def test_kinds_are_shared() -> None:
    first, second = (KeptReadings(name, 2.0, [Reading("a.rate", 1.0, Unit.ONE, labels(x=1))]) for name in "ab")
    release(first)
    release(second)
    assert first[0].labels is second[0].labels


@pytest.mark.parametrize("index", [1, -2])
def test_an_index_beyond_the_end_is_refused(index: int) -> None:
    kept = KeptReadings("t", 2.0, [Reading("a.rate", 1.0, Unit.ONE)])
    release(kept)
    with pytest.raises(IndexError):
        kept[index]


def test_objects_are_at_hand_between_hold_and_release() -> None:
    kept = keep_columns([ReadingColumns("t", 2.0, (("a.rate", Unit.ONE, ()),), [1.0], ["one"])])[0]
    result = Result(a_test(), measurements=kept)
    assert kept[0] is not kept[0]
    hold_readings([result, Result(a_test(), measurements=(kept[0],))])
    assert kept[0] is kept[0]
    assert list(kept) == [Reading("a.rate", 1.0, Unit.ONE, (), "one", "t#0", 2.0)]
    release_readings([result, Result(a_test(), measurements=(kept[0],))])
    assert kept[0] is not kept[0]
    assert list(kept) == [Reading("a.rate", 1.0, Unit.ONE, (), "one", "t#0", 2.0)]


def test_numbers_are_read_without_texts() -> None:
    one = Reading("a.rate", 1.0, Unit.ONE, labels(way="in"), raw="one")
    kept = KeptReadings("t", 2.0, [one, one])
    result = Result(a_test(), measurements=kept)
    assert list_numbers(result) == tuple(kept)
    release(kept)
    _unpack.cache_clear()
    wanted = [Reading("a.rate", 1.0, Unit.ONE, labels(way="in"), "", f"t#{place}", 2.0) for place in range(2)]
    assert list(list_numbers(result)) == wanted
    assert _unpack.cache_info().misses == 0
    assert list_numbers(Result(a_test(), measurements=(one,))) == (one,)


def test_kinds_and_values_are_told_without_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Reading("a.rate", 1.0, Unit.ONE, labels(way="in"), raw="one")
    kept = KeptReadings("t", 2.0, [one, one])
    other = KeptReadings("u", 2.0, [])
    result = Result(a_test(), measurements=kept)
    wanted = (("a.rate", Unit.ONE, labels(way="in")),) * 2
    values = [(kind, 1.0) for kind in wanted]
    plain = Result(a_test(), measurements=(one, one))
    assert list_kinds(result) == list_kinds(plain) == wanted
    assert list_values(result) == list_values(plain) == values
    release(kept, other)
    monkeypatch.setattr(KeptReadings, "_make", None)
    assert list_kinds(result) == wanted
    assert list_values(result) == values
    assert list_kinds(Result(a_test(), measurements=other)) == ()
    assert list_values(Result(a_test(), measurements=other)) == []


def release(*kept: KeptReadings) -> None:
    release_readings([Result(a_test(), measurements=each) for each in kept])


def a_test() -> Test:
    return Test("t", "a", Target(a_node()), 1)
