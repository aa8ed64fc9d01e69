"""kill -9 at random instants of a laboratory run; ``make crash-loop`` does the same two hundred times."""

import random
from pathlib import Path

import pytest

from tests.lab import Lab
from tests.scenarios.crash_loop import CrashLoop

pytestmark = [pytest.mark.fault("F22"), pytest.mark.lab]
KILLS = 5


def test_what_was_acknowledged_is_there_nothing_lives_on_and_resume_completes(healthy_lab: Lab, tmp_path: Path) -> None:
    tally = CrashLoop(healthy_lab, tmp_path, random.Random(22), say=print).run(KILLS)
    assert tally.kills == KILLS
    assert tally.acknowledged > 0
