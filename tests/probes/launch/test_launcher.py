"""The script of a launch on this machine, with an mpirun that is played; real ones are in the scenarios."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchconsole.probes.launch import Job, Options, launch
from benchconsole.probes.launch.launcher import command
from benchconsole.probes.model.measuring import FailedAt, Failure, Output
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.testing import FakeContact, FakeRemote, a_node
from benchconsole.topology.copying import replace

NODES = tuple(replace(a_node(f"n{i}", f"10.0.0.{i}"), data_address=f"10.1.0.{i}") for i in (1, 2))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A scratch directory that nobody else may write in, and an mpirun that tells what it was given."""
    (tmp_path / "scratch").mkdir(mode=0o700)
    played = tmp_path / "mpirun"
    played.write_text(
        '#!/bin/sh\ncat hosts\ncat input.txt\nenv | grep -E "^(SLURM|TMPDIR|OMPI)" | sort\necho done >result.txt\nexit ${RC:-0}\n'
    )
    played.chmod(0o755)
    return tmp_path


def _job(place: Path) -> Job:
    options = Options(mpirun=str(place / "mpirun"), scratch=str(place / "scratch"), as_root=1)
    files = {"input.txt": "one 100%\\n\ntwo 'three'\n"}
    return Job(NODES, ("program",), 2, 5, options, files, ("result.txt",))


def _run(argv: Sequence[str], **environment: str) -> "subprocess.CompletedProcess[str]":
    keep = {"PATH": os.environ["PATH"], "BENCHCONSOLE_SESSION": "s1"}
    return subprocess.run(argv, capture_output=True, text=True, env={**keep, **environment}, check=False, timeout=30)


def test_files_and_results_pass_through_a_directory_that_is_gone_afterwards(place: Path) -> None:
    done = _run(command(_job(place)))

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("10.0.0.1 slots=1\n10.0.0.2 slots=1\none 100%\\n\ntwo 'three'\n")
    assert done.stdout.endswith("done\n")
    assert f"TMPDIR={place}/scratch/benchconsole.s1." in done.stdout
    assert "OMPI_MCA_orte_launch_agent=env BENCHCONSOLE_SESSION=s1 orted" in done.stdout
    assert list((place / "scratch").iterdir()) == []


def test_the_exit_status_is_that_of_mpirun_and_no_result_is_told(place: Path) -> None:
    done = _run(command(_job(place)), RC="205")

    assert done.returncode == 205
    assert "done" not in done.stdout
    assert list((place / "scratch").iterdir()) == []


def test_inside_an_allocation_the_whole_job_is_named_and_the_step_forgotten(place: Path) -> None:
    done = _run(command(_job(place)), SLURM_JOB_ID="7", SLURM_STEP_ID="3", SLURM_NODELIST="n1", SLURM_CONF="/c")

    assert done.stdout.startswith("n1 slots=1\nn2 slots=1\n")
    told = [line for line in done.stdout.splitlines() if line.startswith("SLURM")]
    assert told == [
        "SLURM_CONF=/c", "SLURM_JOBID=7", "SLURM_JOB_ID=7", "SLURM_NODELIST=n1,n2", "SLURM_OVERLAP=1",
        "SLURM_TASKS_PER_NODE=1(x2)",
    ]  # fmt: skip
    assert "orte_launch_agent" not in done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT TESTED: only root is asked whether root is meant")
def test_root_must_be_meant(place: Path) -> None:
    job = _job(place)
    done = _run(command(replace(job, options=replace(job.options, as_root=0))))

    assert done.returncode == 77
    assert "not started as root unless as_root=1" in done.stderr
    assert done.stdout == ""


def test_no_mpirun_is_a_missing_tool(place: Path) -> None:
    (place / "mpirun").unlink()
    done = _run(command(_job(place)))

    assert (done.returncode, done.stderr) == (127, "benchconsole: mpirun: command not found\n")


def test_the_command_is_one_line_that_every_login_shell_takes(place: Path) -> None:
    assert not any("\n" in word for word in command(_job(place)))


def _contact(*answers: Output | RemoteError) -> tuple[FakeContact, list[FakeRemote]]:
    remotes = [FakeRemote("n1"), FakeRemote("n2")]
    for remote in remotes:
        remote.when("printenv", answers=Output((), b"s1\n"))
        remote.when_matching(lambda argv: argv[3:4] == ("list",), answers=Output((), b"\x1e"))
    remotes[0].when_matching(lambda argv: argv[3:4] == ("benchconsole-launch",), answers=list(answers))
    return FakeContact(*remotes), remotes


async def test_a_good_end_asks_no_other_node(place: Path) -> None:
    contact, remotes = _contact(Output((), b"rates\n"))

    assert (await launch(contact, _job(place))).stdout == b"rates\n"
    assert [len(remote.calls) for remote in remotes] == [1, 0]


async def test_after_a_bad_end_every_node_is_searched_and_what_was_ended_is_told(place: Path) -> None:
    _, remotes = _contact(Output((), b"", b"", 137))
    left = "\x1eP42 (hpcc) S " + "1 " * 17 + "99 0\x1fBENCHCONSOLE_SESSION=s1\x1fhpcc\x00\x1f\x1e"
    remotes[1] = FakeRemote("n2")
    remotes[1].when("printenv", answers=Output((), b"s1\n"))
    remotes[1].when_matching(lambda argv: argv[3:4] == ("list",), answers=Output((), left.encode()))
    remotes[1].when_matching(lambda argv: argv[3:4] == ("end",), answers=Output((), b"\n"))
    with pytest.raises(RemoteError) as raised:
        await launch(FakeContact(*remotes), _job(place))

    assert raised.value.failure.stage is FailedAt.KILLED
    assert "1 of its processes were still on n2 and were ended" in raised.value.failure.detail


async def test_a_node_that_cannot_be_searched_is_named(place: Path) -> None:
    _, remotes = _contact(RemoteError(Failure(FailedAt.LOST, "gone", NODES[0].id)))
    silent = RemoteError(Failure(FailedAt.LOST, "gone", NODES[1].id))
    remotes[1] = FakeRemote("n2")
    remotes[1].when("printenv", answers=silent)
    with pytest.raises(RemoteError) as raised:
        await launch(FakeContact(*remotes), _job(place))

    assert raised.value.failure.stage is FailedAt.LOST
    assert "n2 could not be searched: connection lost" in raised.value.failure.detail


async def test_a_refusal_touched_nothing_so_nothing_is_searched(place: Path) -> None:
    contact, remotes = _contact(Output((), b"", b"benchconsole: refused: no room\n", 77))
    with pytest.raises(RemoteError) as raised:
        await launch(contact, _job(place))

    assert (raised.value.failure.stage, raised.value.failure.detail) == (FailedAt.REFUSED, "no room")
    assert [len(remote.calls) for remote in remotes] == [1, 0]
