"""A late mapping is the mapping that it makes: once, whoever asks, and never before."""

import threading
from collections.abc import Mapping

import pytest

from benchconsole.console.session.late_mapping import LateMapping


def test_it_is_made_when_somebody_looks() -> None:
    made: list[int] = []

    def make() -> Mapping[str, int]:
        made.append(1)
        return {"one": 1, "two": 2}

    late = LateMapping(make)
    assert not made
    assert dict(late) == {"one": 1, "two": 2}
    assert (late["two"], len(late), late.get("three"), "one" in late) == (2, 2, None, True)
    assert made == [1]


def test_whoever_asks_meanwhile_waits() -> None:
    held: list[bool] = []

    def make() -> Mapping[str, int]:
        held.append(late._making.locked())
        return {"one": 1}

    late = LateMapping(make)
    threads = [threading.Thread(target=late.get, args=("one",)) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert held == [True]


def test_an_error_is_raised_to_each_who_asks() -> None:
    def make() -> Mapping[str, int]:
        raise ValueError("no plugin")

    late = LateMapping(make)
    for _ in range(2):
        with pytest.raises(ValueError, match="no plugin"):
            len(late)
