"""The garbage collector while a session runs: no halt looks at more than a few thousand objects."""

import gc
from collections.abc import Iterator

import pytest

from benchconsole.console.session.collector import freeze_collector, tune_collector


@pytest.fixture(autouse=True)
def _settings() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


def test_the_young_are_looked_at_often_and_all_seldom() -> None:
    tune_collector()
    young, middle, old = gc.get_threshold()
    assert young <= 10_000
    assert young * middle >= 1_000_000
    assert old >= 100
    assert gc.get_freeze_count() == 0


def test_what_was_read_before_a_run_is_never_looked_at() -> None:
    freeze_collector()
    assert gc.get_freeze_count() > 0
    assert gc.get_threshold()[0] <= 10_000
