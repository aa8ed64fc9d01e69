"""Numbers of running tests beside what is expected of them, told as events and to nobody else."""

import threading
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


def hear(folder: Path, *turns: Sequence[tuple[int, float]]) -> list[IntervalsTold]:
    """The events of the first round, turn by turn; each turn names tests by their place."""
    described = fabric(folder)
    planned = plan(described, find_suite(described, None), PROBES)[0]
    heard: list[IntervalsTold] = []
    teller = IntervalTeller(described, PROBES, heard.append, lambda: 17.0)
    each = teller.begin(planned)
    for turn in turns:
        each.hear([(planned.tests[place].id, number(value)) for place, value in turn], [NodeLoad("n1", "3", 0.9, 0.5)])
        assert each._preparing is not None
        wait([each._preparing], 10)
    teller.close()
    assert {event.at for event in heard} == {17.0}
    assert {event.loads for event in heard} == {(NodeLoad("n1", "3", 0.9, 0.5),)}
    return heard


def told(folder: Path, *turns: Sequence[tuple[int, float]]) -> list[tuple[ToldInterval, ...]]:
    """The numbers among these."""
    return [event.found for event in hear(folder, *turns)]


def test_numbers_stand_alone_until_it_is_known_what_is_expected(tmp_path: Path) -> None:
    none, second, third = told(tmp_path, [], [(0, 2.0), (1, 3.0)], [(0, 4.0)])
    assert none == ()
    assert [each.interval.value for each in second] == [2.0, 3.0]
    assert [each.expected for each in second] == pytest.approx([1.25e9 * 0.9415] * 2, rel=0.01)
    assert third[0].expected == second[0].expected


def test_the_links_of_the_flows_are_told_with_them_once_they_are_known(tmp_path: Path) -> None:
    events = hear(tmp_path, [(0, 2.0)], [(0, 3.0)], [])
    assert events[1].ways is not None
    assert events[1].ways is events[2].ways
    assert events[1].ways.tests
    assert (events[1].found[0].test, "iperf3.throughput", False) in events[1].ways.places


def test_the_first_number_does_not_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    may_end = threading.Event()
    prepare = running_round.RunningRound.prepare

    def late(self: running_round.RunningRound) -> None:
        may_end.wait(10)
        prepare(self)

    monkeypatch.setattr(running_round.RunningRound, "prepare", late)
    monkeypatch.setattr("tests.console.session.test_interval_teller.wait", lambda *_: None)
    assert [each.expected for each in told(tmp_path, [(0, 1.0)])[0]] == [None]
    may_end.set()


def test_a_round_that_cannot_be_routed_is_told_without_what_is_expected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RoutingError("no path")

    monkeypatch.setattr(running_round.RunningRound, "_read_flows", fail)
    assert [[each.expected for each in turn] for turn in told(tmp_path, [(0, 1.0)], [(0, 2.0)])] == [[None], [None]]


def test_what_is_expected_is_computed_in_another_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []
    monkeypatch.setattr(
        running_round.RunningRound, "prepare", lambda _: threads.append(threading.current_thread().name)
    )
    told(tmp_path, [(0, 1.0)], [(0, 2.0)])
    assert len(threads) == 1
    assert threads[0].startswith("yardsticks")
