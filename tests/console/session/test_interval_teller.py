"""Numbers of running tests beside what is expected of them, told as events and to nobody else."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import wait
from pathlib import Path

import pytest

from benchconsole.console.session.interval_teller import IntervalTeller
from benchconsole.console.view.events import IntervalsTold
from benchconsole.console.view.interval_rates import ToldInterval
from benchconsole.probes.api import Interval, Unit
from benchconsole.probes.judging import running_round
from benchconsole.probes.model.load import NodeLoad
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.suites import find_suite
from benchconsole.topology.errors import RoutingError
from tests.fabrics import fabric
from tests.probes.played import PROBES


def number(value: float) -> Interval:
    return Interval("iperf3.throughput", value, Unit.BYTE_RATE, 1.0, 1.0)


def told(folder: Path, *turns: Sequence[tuple[int, float]]) -> list[tuple[ToldInterval, ...]]:
    """What is told of the first round, turn by turn; each turn names tests by their place."""
    described = fabric(folder)
    planned = plan(described, find_suite(described, None), PROBES)[0]
    heard: list[IntervalsTold] = []
    teller = IntervalTeller(described, PROBES, heard.append, lambda: 17.0)
    each = teller.begin(planned)
    for turn in turns:
        each.hear([(planned.tests[place].id, number(value)) for place, value in turn], [NodeLoad("n1", "3", 0.9, 0.5)])
        if each._computing is not None:
            wait([each._computing], 10)
    teller.close()
    assert {event.at for event in heard} == {17.0}
    assert {event.loads for event in heard} == {(NodeLoad("n1", "3", 0.9, 0.5),)}
    return [event.found for event in heard]


def test_the_first_number_stands_alone_and_the_next_beside_what_is_expected(tmp_path: Path) -> None:
    first, second, third, none = told(tmp_path, [(0, 1.0)], [(0, 2.0), (1, 3.0)], [(0, 4.0), (1, 5.0)], [])
    assert [(each.interval.value, each.expected) for each in first] == [(1.0, None)]
    assert second[0].expected == pytest.approx(1.25e9 * 0.9415, rel=0.01)
    assert second[1].expected is None
    assert [each.expected is None for each in third] == [False, False]
    assert none == ()


def test_a_round_that_cannot_be_routed_is_told_without_what_is_expected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RoutingError("no path")

    monkeypatch.setattr(running_round.RunningRound, "find_expected", fail)
    assert [[each.expected for each in turn] for turn in told(tmp_path, [(0, 1.0)], [(0, 2.0)])] == [[None], [None]]


def test_what_is_expected_is_computed_in_another_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()

    monkeypatch.setattr(running_round.RunningRound, "find_expected", fail)

    async def run() -> None:
        told(tmp_path, [(0, 1.0)], [(0, 2.0)])

    asyncio.run(run())
