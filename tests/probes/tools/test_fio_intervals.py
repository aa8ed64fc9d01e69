"""The lines of the script of fio for each second of its jobs, from real processes: they are read and dropped again."""

import os
import signal
import subprocess
import time
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.probes import scratch
from benchconsole.probes.api import Interval, Output, Target, Unit
from benchconsole.probes.plugins.interval_reader import check_interval
from benchconsole.probes.testing import FakeContact, FakeRemote, a_node
from benchconsole.probes.tools.fio import interval_lines
from benchconsole.probes.tools.fio.device_probe import FioDevice
from benchconsole.probes.tools.fio.probe import Fio
from benchconsole.topology.copying import replace

READ = "benchconsole: sequential-read at 300 in 200 read 2097152000 written 0"
MARKS = (("block", "1MiB"), ("pattern", "sequential"))
TARGET = Target(a_node())

JOBS = "(i=0; while [ $i -lt 23 ]; do head -c 100000 /dev/zero; sleep 0.1; i=$((i+1)); done) >/dev/null & wait"
"""A process with a job that moves a million bytes in a second, and ends with it."""


def tell(command: str, *, name: str = "random-read", before: str = "") -> subprocess.CompletedProcess[str]:
    text = scratch.script(f'{interval_lines.TOLD} {before} told {name} rchar wchar sh -c "$1"; exit "$?"')
    return subprocess.run(["sh", "-c", text, "x", command], capture_output=True, text=True, check=False, timeout=20)


def test_the_jobs_of_a_command_are_told_of_while_it_runs() -> None:
    done = tell(JOBS)
    assert done.returncode == 0
    told = [each for line in done.stderr.splitlines() for each in Fio().read_intervals(line, TARGET)]
    assert told
    assert {(each.metric, dict(each.labels)["pattern"]) for each in told} == {
        ("fio.read", "random"), ("fio.write", "random"),
    }  # fmt: skip
    assert all(0.5 < each.seconds < 3 for each in told)


def test_a_command_without_jobs_is_told_nothing_of_and_keeps_its_status_and_output() -> None:
    done = tell("echo said; echo also >&2; exit 7")
    assert (done.returncode, done.stdout, done.stderr) == (7, "said\n", "also\n")


def test_a_signal_for_the_script_ends_the_command_and_removes_the_directory(tmp_path: Path) -> None:
    text = scratch.script(f'{interval_lines.TOLD} scratch "$1" 1; told random-read rchar wchar sh -c "$2"')
    with subprocess.Popen(["sh", "-c", text, "x", str(tmp_path), "echo up; exec sleep 30"], stdout=-1) as script:
        assert script.stdout is not None
        assert script.stdout.readline() == b"up\n"
        began = time.monotonic()
        script.send_signal(signal.SIGTERM)
        assert script.wait(10) == 143
    assert time.monotonic() - began < 5
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - names only


def test_the_directory_outlives_the_one_who_tells(tmp_path: Path) -> None:
    """A shell that ends its copies as itself would remove the directory under the jobs."""
    before = f'scratch {tmp_path} 1; touch "$made/data";'
    done = tell(f"{JOBS}; ls {tmp_path}/*/data", before=before)
    assert (done.returncode, done.stdout.endswith("/data\n"), list(tmp_path.iterdir())) == (0, True, [])


def test_a_line_is_read_as_bytes_a_second_with_the_block_of_its_pattern() -> None:
    found = Interval("fio.read", 2097152000 / 2, Unit.BYTE_RATE, 3.0, 2.0, MARKS)
    assert Fio().read_intervals(READ, TARGET) == (found,)
    assert FioDevice().read_intervals(READ, TARGET) == (replace(found, metric="fio-device.read"),)
    given = replace(TARGET, options=MappingProxyType({"small": "8 KiB"}))
    mixed = "benchconsole: random-mixed at 100 in 100 read 700 written 300"
    told = [(each.metric, each.value, dict(each.labels)) for each in Fio().read_intervals(mixed, given)]
    marks = {"pattern": "random", "block": "8KiB"}
    assert told == [("fio.read", 700.0, marks), ("fio.write", 300.0, marks)]


@pytest.mark.parametrize(
    "line",
    [
        "benchconsole: refused: /scratch has no room",
        "benchconsole: sequential-read at 300 in 49 read 1 written 0",
        "benchconsole: sequential-read at 300 in 0 read 1 written 0",
        "benchconsole: sequential-read at 300 in 100 read 0 written 0",
        "benchconsole: sequential-read at 300 in 100 read 1 written",
        "benchconsole: sequential-read at 300 in 100 read -1 written 0",
        "benchconsole: backward-read at 300 in 100 read 1 written 0",
        f"{READ} ",
        "fio: pid=1, err=28/file:filesetup.c:240",
    ],
)
def test_what_is_no_interval_gives_no_number(line: str) -> None:
    assert Fio().read_intervals(line, TARGET) == ()


@given(
    line=st.text(max_size=100) | st.from_regex(r"benchconsole: random-(read|mixed) at \d+ in \d+ read \d+ written \d+")
)
def test_hostile_lines_give_a_declared_number_or_none(line: str) -> None:
    for each in Fio().read_intervals(line, TARGET):
        check_interval(Fio(), each)


async def test_what_is_stored_and_read_is_what_fio_said() -> None:
    said = Output((), b"{}", f"fio: a notice\n{READ}\nbenchconsole: something else\n{READ}\n".encode(), 0, node="n1")
    outputs = await Fio().run(FakeContact(FakeRemote("n1").when("sh", answers=said)), TARGET)
    assert [each.stderr for each in outputs] == [b"fio: a notice\nbenchconsole: something else\n"]
