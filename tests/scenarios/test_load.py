"""The load of real nodes while real iperf3 runs: a busy core is found, and no sampler is left, whatever ends first."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.lab import Lab, wait_for
from tests.lab.observe import Process
from tests.scenarios.commands import await_while, benchconsole, report
from tests.scenarios.test_hygiene import GRACE, going, suite
from tests.scenarios.test_laboratory import marked

pytestmark = pytest.mark.lab


@pytest.fixture(autouse=True)
def _no_file_left(lab: Lab) -> Iterator[None]:
    """Remove the file beside the laboratory's own one, as it would keep the directory alive."""
    yield
    lab.topology.with_name("hygiene.yaml").unlink(missing_ok=True)


LOOP = """import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
end = time.monotonic() + 60
while time.monotonic() < end: pass
"""


@contextmanager
def busy_core(core: int) -> Iterator[None]:
    """One core that a program fills, for a minute at most."""
    with subprocess.Popen([sys.executable, "-c", LOOP, str(core)]) as loop:
        try:
            yield
        finally:
            loop.kill()


def samplers(lab: Lab, *nodes: str) -> list[Process]:
    """Shells of ours that sample, on these nodes."""
    return [
        process
        for node in nodes
        for process in lab.processes(node)
        if process.session and any("/proc/diskstats" in word for word in process.argv)
    ]


def find(facts: list[dict[str, Any]], name: str, **marks: str) -> dict[str, Any]:
    return next(each for each in facts if each["fact"] == name and marks.items() <= each["labels"].items())


def test_a_busy_core_is_found_on_both_ends_and_no_sampler_is_left(healthy_lab: Lab, tmp_path: Path) -> None:
    lab, db = healthy_lab, tmp_path / "s.db"
    path = suite(lab, "{probe: iperf3, nodes: 'n[1-2]', design: neighbours, streams: 1, seconds: 6, omit: 0}")
    with busy_core(max(os.sched_getaffinity(0))):
        done = benchconsole("run", path, "-w", "n[1-2]", "--sample-load", "--no-confirm", "--db", db, "--quiet")
    assert done.code in (0, 1, 3), done.err
    found = report(db)
    facts = [each for each in found["facts"] if each["fact"].startswith("load.")]
    assert {each["labels"]["node"] for each in facts} == {"n1", "n2"}
    assert not [each for each in facts if each["fact"] == "load.failed"]
    for node in ("n1", "n2"):
        assert find(facts, "load.samples", node=node)["value"] >= 3
        core = find(facts, "load.core.busy", node=node, of="median")
        assert core["value"] >= 0.9
        assert find(facts, "load.sampler.cpu", node=node)["value"] < 0.25
        assert find(facts, "load.nic.received", node=node)["value"] > 0
    assert all(each["clean"] for each in found["proofs"]), found["proofs"]
    assert samplers(lab, "n1", "n2") == []


def test_samplers_end_with_a_run_that_is_cancelled_and_with_one_that_is_killed(
    healthy_lab: Lab, tmp_path: Path
) -> None:
    lab = healthy_lab
    path = suite(lab, "{probe: iperf3, nodes: 'n[1-2]', design: neighbours, streams: 1, seconds: 60, omit: 0}")
    for number, name in ((signal.SIGINT, "i.db"), (signal.SIGKILL, "k.db")):
        arguments = ("run", path, "-w", "n[1-2]", "--sample-load", "--db", tmp_path / name, "--quiet")
        with going(*arguments) as console:
            await_while(console, lambda: len(samplers(lab, "n1", "n2")) >= 2, 60, "samplers of ours")
            console.send_signal(number)
            console.wait(60)
        wait_for(lambda: not samplers(lab, "n1", "n2") and not marked(lab), GRACE, "everything of ours to end")
