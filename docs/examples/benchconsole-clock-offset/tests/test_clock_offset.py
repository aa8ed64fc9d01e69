from pathlib import Path

import pytest
from benchconsole_clock_offset import ClockOffset
from benchconsole.probes.testing import PROBE_CHECKS, captured


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_clock_offset_keeps_the_contract(check):
    check(ClockOffset(), [captured(Path(__file__).with_name("tracking.csv"), "chronyc", "-c", "tracking")])
