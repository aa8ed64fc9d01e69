"""Events as JSON lines: also those that only a screen is told are numbers in base units."""

import json

from benchconsole.console.cli.event_lines import format_event_json
from benchconsole.console.view.events import IntervalsTold
from benchconsole.console.view.interval_rates import ToldInterval
from benchconsole.probes.api import Interval, Unit
from benchconsole.probes.model.load import NodeLoad


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
