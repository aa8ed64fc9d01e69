"""What a node says of itself: by running the script here, and by answers that are none."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from benchconsole.probes.hygiene.node_check import Health, Sudo, examine
from benchconsole.probes.model.errors import ProbeOutputError
from benchconsole.probes.model.measuring import Output
from benchconsole.probes.testing import FakeRemote
from tests.probes.hygiene.local import Here


def tool(directory: Path, name: str, text: str) -> None:
    directory.mkdir(exist_ok=True)
    (directory / name).write_text(f"#!/bin/sh\n{text}\n")
    (directory / name).chmod(0o755)


async def test_a_real_answer(tmp_path: Path) -> None:
    bin_, link = tmp_path / "bin", tmp_path / "link"
    tool(bin_, "fio", 'echo "fio-3.33"')
    tool(bin_, "iperf3", 'echo "iperf 3.12 (cJSON 1.7.15)"; echo "Linux host 6.1"')
    tool(bin_, "date", 'echo "1000000000.500000000"')
    link.symlink_to(tmp_path)
    before = time.time()
    found = await examine(
        Here("x", str(bin_)), ["fio", "iperf3", "nosuchtool", "sh"], [str(tmp_path), str(link), "/nowhere"]
    )
    assert dict(found.tools) == {"fio": "3.33", "iperf3": "3.12", "sh": ""}
    assert found.offset == pytest.approx(1_000_000_000.5 - before, abs=10)
    assert list(found.rooms) == [str(tmp_path)]
    assert 0 < found.rooms[str(tmp_path)].free < found.rooms[str(tmp_path)].total
    assert [words.partition(": ")[2] for words in found.unfit] == [
        f"{link} is a symbolic link: name the directory that it leads to",
        "there is no directory /nowhere",
    ]
    assert (found.sudo is Sudo.ROOT) is (os.geteuid() == 0)
    assert 0 < found.within < 10


async def test_a_tool_that_hangs_or_writes_what_it_likes_spoils_nothing(tmp_path: Path) -> None:
    tool(tmp_path, "iperf3", "printf 'iperf 9.9\\tend\\t\\033[31m\\n'; echo end; exit 3")
    tool(tmp_path, "fio", "echo uid 0; printf 'bad\\t/x'")
    found = await examine(Here("x", str(tmp_path)), ["iperf3", "fio"], [])
    assert dict(found.tools) == {"iperf3": "9.9", "fio": ""}
    assert found.unfit == ()


async def test_a_tool_that_will_not_be_ended_is_killed_and_the_others_are_told(tmp_path: Path) -> None:
    tool(tmp_path, "iperf3", "trap '' TERM; while :; do sleep 1; done")
    tool(tmp_path, "fio", 'echo "fio-3.33"')
    async with asyncio.timeout(25):
        found = await examine(Here("x", str(tmp_path)), ["iperf3", "fio"], [])
    assert dict(found.tools) == {"iperf3": "", "fio": "3.33"}


def said(*lines: str) -> Output:
    return Output((), "".join(f"{line}\n" for line in lines).encode())


async def answered(*lines: str) -> Health:
    return await examine(FakeRemote().when("benchconsole-doctor", answers=said(*lines)), [], [])


@pytest.mark.parametrize(
    ("line", "sudo"),
    [
        ("sudo\troot", Sudo.ROOT),
        ("sudo\tyes", Sudo.FREE),
        ("sudo\tabsent", Sudo.ABSENT),
        ("sudo\tno sudo: a password is required", Sudo.PASSWORD),
        ("sudo\tno sudo: a terminal is required to read the password", Sudo.PASSWORD),
        ("sudo\tno alice is not in the sudoers file.", Sudo.REFUSED),
    ],
)
async def test_privileges_are_told_apart(line: str, sudo: Sudo) -> None:
    assert (await answered("now\t1700000000.5", line, "end\t")).sudo is sudo


async def test_a_clock_without_fractions_is_known_less_well() -> None:
    exact, coarse = await answered("now\t1700000000.5", "end\t"), await answered("now\t1700000000.%N", "end\t")
    assert coarse.within == pytest.approx(exact.within + 0.5, abs=0.1)
    assert coarse.offset == pytest.approx(exact.offset, abs=0.6)


async def test_a_machine_outside_of_any_cluster_has_no_slurm() -> None:
    outside = "slurm\tno sinfo: fatal: Could not establish a configuration source"
    assert (await answered("now\t1.0", outside, "end\t")).slurm == ""
    assert (await answered("now\t1.0", "slurm\tworks", "end\t")).slurm == "works"
    assert (await answered("now\t1.0", "slurm\tno sinfo: error: timed out", "end\t")).slurm == "sinfo: error: timed out"


@pytest.mark.parametrize(
    "lines", [(), ("now\t1.0",), ("end\t",), ("now\tyesterday", "end\t"), ("now\t1.0", "root\tx y /z", "end\t")]
)
async def test_an_answer_that_is_none_is_an_error(lines: tuple[str, ...]) -> None:
    with pytest.raises(ProbeOutputError):
        await answered(*lines)
