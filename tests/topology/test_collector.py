"""The collector rests inside, and is afterwards as it was before, whatever happened."""

import gc

import pytest

from benchconsole.topology.collector import pause_collector


def test_the_collector_rests_inside_and_runs_again_after_an_error() -> None:
    assert gc.isenabled()

    @pause_collector()
    def fail() -> None:
        assert not gc.isenabled()
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        fail()
    assert gc.isenabled()


def test_who_paused_it_first_starts_it_again() -> None:
    with pause_collector():
        with pause_collector():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_what_was_made_meanwhile_is_old_and_not_given_up() -> None:
    with pause_collector():
        made: list[object] = []
    assert any(each is made for each in gc.get_objects(generation=2))
    assert gc.get_freeze_count() == 0
