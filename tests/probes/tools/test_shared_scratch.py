"""A rank may start in the directory of the run only, and why one did not is told."""

import os
import subprocess
from pathlib import Path

import pytest

from benchconsole.probes.api import Output, RemoteError
from benchconsole.probes.launch import Job, Options
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.testing import FakeContact, FakeRemote, a_node
from benchconsole.probes.tools.files.shared_directory import in_shared, launch_shared
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Node


def _node(index: int) -> Node:
    return replace(a_node(f"n{index}", f"10.0.0.{index}"), data_address=f"10.1.0.{index}")


def _rank(place: Path, *program: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LC_ALL": "de_DE.UTF-8"}
    return subprocess.run(in_shared(program), cwd=place, env=environment, capture_output=True, text=True, check=False)


def test_a_rank_runs_where_the_mark_is_and_nowhere_else(tmp_path: Path) -> None:
    elsewhere = _rank(tmp_path, "touch", "written")
    assert (elsewhere.returncode, list(tmp_path.iterdir())) == (77, [])
    assert "scratch must name a file system that all nodes share" in elsewhere.stderr
    (tmp_path / ".benchconsole").touch()
    assert _rank(tmp_path, "sh", "-c", 'echo "$LC_ALL"').stdout == "C\n"
    absent = _rank(tmp_path, "no-such-ior")
    assert (absent.returncode, "no-such-ior: command not found on" in absent.stderr) == (127, True)


@pytest.mark.parametrize(
    ("line", "stage", "words"),
    [
        (
            "benchconsole: refused: the directory of the run is not on n2: scratch must",
            FailedAt.REFUSED,
            "is not on n2",
        ),
        ("ior: command not found on n2", FailedAt.TOOL, "ior: command not found on n2"),
        ("mpirun: something else", FailedAt.TOOL, "something else"),
    ],
)
async def test_why_ranks_did_not_start_is_told(line: str, stage: FailedAt, words: str) -> None:
    ended = Output((), b"", f"{line}\n".encode(), 1, node="n1")
    contact = FakeContact(FakeRemote("n1", lenient=True).when("sh", answers=ended), FakeRemote("n2", lenient=True))
    job = Job((_node(1), _node(2)), in_shared(("ior",)), 2, 10, Options())
    with pytest.raises(RemoteError) as raised:
        await launch_shared(contact, job)
    assert raised.value.failure.stage is stage
    assert words in raised.value.failure.detail
