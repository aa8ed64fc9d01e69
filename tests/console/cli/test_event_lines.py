"""Events as JSON lines: also those that only a screen is told are numbers in base units."""

import json

import pytest

from benchconsole.console.cli.event_lines import format_event_json
from benchconsole.console.view.events import IntervalsTold, RoundStarted, SessionEnded
from benchconsole.console.view.interval_rates import ToldInterval
from benchconsole.probes.api import Interval, Unit
from benchconsole.probes.model.load import NodeLoad
from benchconsole.probes.model.measuring import Round


def test_intervals_are_told_with_their_test_and_what_is_expected() -> None:
    interval = Interval("iperf3.throughput", 7.0, Unit.BYTE_RATE, 3.0, 1.0, (("direction", "out"),))
    told = IntervalsTold((ToldInterval("t1", interval, 10.0),), 17.0, (NodeLoad("n1", "3", 0.9, 0.5),))
    assert json.loads(format_event_json(told)) == {
        "event": "IntervalsTold",
        "at": 17.0,
        "found": [
            {
                "test": "t1",
                "interval": {
                    "metric": "iperf3.throughput", "value": 7.0, "unit": "B/s", "until": 3.0, "seconds": 1.0,
                    "labels": [["direction", "out"]],
                },
                "expected": 10.0,
            }
        ],
        "loads": [{"node": "n1", "core": "3", "busy": 0.9, "softirq": 0.5}],
    }  # fmt: skip


@pytest.mark.parametrize(("limit", "told"), [(35.0, 35.0), (0.0, None)])
def test_a_round_is_told_with_its_seconds_and_those_in_which_it_ends_where_a_tool_hangs(
    limit: float, told: float | None
) -> None:
    begun = RoundStarted(Round(2, "iperf3 trunks", "iperf3", (), 6.0, ""), 17.0, limit)
    assert json.loads(format_event_json(begun)) == {
        "event": "RoundStarted", "at": 17.0, "round": 2, "stage": "iperf3 trunks", "tests": 0,
        "seconds": 6.0, "limit": told,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("complete", "because", "words"),
    [
        (True, "", "complete"),
        (False, "", "stopped"),
        (False, "stopped", "stopped"),
        (False, "cancelled", "stopped: cancelled"),
        (False, "stopped at its time limit, 4 of 9 rounds left", "stopped at its time limit, 4 of 9 rounds left"),
    ],
)
def test_how_a_session_ended_is_said_once(complete: bool, because: str, words: str) -> None:
    assert SessionEnded(17.0, complete, because).words == words
