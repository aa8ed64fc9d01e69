from pathlib import Path

import pytest
from benchconsole_iperf2 import Iperf2
from benchconsole.probes.testing import PROBE_CHECKS, captured


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_iperf2_keeps_the_contract(check):
    check(Iperf2(), [captured(Path(__file__).with_name("streams.csv"), "iperf", "-P", "4")])
