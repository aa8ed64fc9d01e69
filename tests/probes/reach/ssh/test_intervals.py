"""Real iperf3 and fio over a real sshd: their intervals are told while they run, and their results are as ever."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

import pytest

from benchconsole.probes.api import Interval, Probe, Target
from benchconsole.probes.model.load import NodeLoad
from benchconsole.probes.model.measuring import Result, Round, Test
from benchconsole.probes.running.runner import RoundObserver, Runner
from benchconsole.probes.tools.fio.probe import Fio
from benchconsole.probes.tools.iperf3.probe import Iperf3
from tests.probes.reach.ssh.conftest import Bench, Server, node


async def run(bench: Bench, server: Server, probe: Probe, **options: str | int) -> tuple[Result, list[Interval]]:
    """One test on one node, or between two names of it, and what it told on its way, before it had ended."""
    here, there = node(server.address, "n1"), node(server.address, "n2")
    pair = there if isinstance(probe, Iperf3) else None
    test = Test("t1", probe.name, Target(here, pair, MappingProxyType(dict(options))), 1)
    ended: list[Result] = []
    told: list[Interval] = []

    class Hearing:
        def hear(self, found: Sequence[tuple[str, Interval]], loads: Sequence[NodeLoad]) -> None:
            assert not ended
            assert {name for name, _ in found} <= {"t1"}
            told.extend(interval for _, interval in found)

    watchers = RoundObserver(on_end=ended.append, intervals=Hearing())
    await Runner(bench.reach(bench.access(server)), {probe.name: probe}).run(
        Round(1, "one", probe.name, (test,), 10.0, "to see"), watchers
    )
    return ended[0], told


@pytest.mark.skipif(shutil.which("iperf3") is None and not os.environ.get("CI"), reason="iperf3 is not installed here")
async def test_iperf3_tells_of_its_seconds_and_ends_with_a_result(bench: Bench, server: Server) -> None:
    result, told = await run(bench, server, Iperf3(), seconds=4, omit=0, streams=2, bitrate="400 Mb/s")
    rate = next(each for each in result.measurements if each.metric == "iperf3.throughput")
    assert result.failure is None
    assert [each.until for each in told] == sorted({each.until for each in told})
    assert len(told) >= 2
    assert all(each.metric == "iperf3.throughput" for each in told)
    assert all(each.value == pytest.approx(rate.value, rel=0.3) for each in told)


@pytest.mark.skipif(shutil.which("fio") is None and not os.environ.get("CI"), reason="fio is not installed here")
async def test_fio_tells_of_its_seconds_and_its_output_is_its_own(bench: Bench, server: Server, tmp_path: Path) -> None:
    result, told = await run(bench, server, Fio(), scratch=str(tmp_path), size="1 MiB", seconds=2, direct=0)
    assert result.failure is None
    assert {each.metric for each in result.measurements} >= {"fio.read", "fio.write"}
    assert {(each.metric, dict(each.labels)["block"]) for each in told} >= {("fio.read", "1MiB"), ("fio.write", "4KiB")}
    assert all(each.value > 0 and 0.5 <= each.seconds < 2 for each in told)
    assert [output.stderr for output in result.outputs] == [b""]
    assert not [name for name in os.listdir(tmp_path) if name.startswith("benchconsole.")]  # noqa: PTH208
    assert bench.marked() == []


async def test_nothing_is_read_where_nobody_asks(bench: Bench, server: Server) -> None:
    class Told(Iperf3):
        def read_intervals(self, line: str, target: Target) -> Sequence[Interval]:
            raise AssertionError(line)

    test = Test("t1", "iperf3", Target(node(server.address, "n1"), node(server.address, "n2"), {"seconds": 1}), 1)
    reach = bench.reach(bench.access(server))
    closed = await Runner(reach, {"iperf3": Told()}).run(
        Round(1, "one", "iperf3", (test,), 10.0, "to see"), RoundObserver()
    )
    assert [result.failure for result in closed.results] == [None]
