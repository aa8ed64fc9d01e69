"""Surroundings that are not what programs expect: the real command in a process of its own."""

import os
import pwd
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.fabrics import SMALL
from tests.scenarios.commands import argv

pytestmark = pytest.mark.fault("F53")

NOBODY = SMALL.replace("n[1-4]: {role: compute}", 'n[1-4]: {role: compute, address: "127.99.99.[1-4]"}').replace(
    "- {probe: iperf3, design: trunks}", ""
)
"""The small fabric with four nodes at addresses of this machine where nothing listens."""


@pytest.fixture
def topology(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(NOBODY)
    return path


def ran(
    arguments: Sequence[str | Path], first: Sequence[str] = (), **environment: str
) -> "subprocess.CompletedProcess[str]":
    """One command with nothing in its environment but what is given."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return subprocess.run(
        [*first, *argv(*arguments)],
        env={"PYTHONPATH": str(Path(__file__).parents[2] / "src"), **kept, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd="/",
    )


def test_without_home_the_users_own_is_found() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from benchconsole.store.files.paths import default_path; print(default_path())"],
        env={"PYTHONPATH": str(Path(__file__).parents[2] / "src")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd="/",
    )
    own = Path(pwd.getpwuid(os.getuid()).pw_dir) / ".local/share/benchconsole/sessions.db"
    assert (done.stdout.strip(), done.stderr) == (str(own), "")


def test_a_home_in_which_nothing_can_be_made_is_one_line(topology: Path) -> None:
    done = ran(["run", topology, "-w", "n[1-4]"], HOME="/proc")
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "--db or BENCHCONSOLE_DB" in done.stderr


def test_a_relative_data_directory_makes_nothing_where_we_stand(topology: Path, tmp_path: Path) -> None:
    done = ran(["run", topology, "-w", "n[1-4]"], HOME=str(tmp_path), XDG_DATA_HOME="relative")
    assert done.returncode == 3, done.stderr
    assert not Path("/relative").exists()
    assert (tmp_path / ".local/share/benchconsole/sessions.db").exists()


@pytest.mark.fault("I07")
def test_a_bare_environment_runs_and_every_file_is_private(topology: Path, tmp_path: Path) -> None:
    """umask 000, no TMPDIR or a wrong one, the C locale without its usual rescue, and 64 open files."""
    data, events, page = tmp_path / "data", tmp_path / "events.jsonl", tmp_path / "page.html"
    bare = {"HOME": str(tmp_path), "LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    bare |= {"TMPDIR": "/nowhere", "BENCHCONSOLE_DB": str(data / "deep" / "s.db")}
    limited = ("sh", "-c", 'umask 000; ulimit -n 64; exec "$@"', "sh")
    done = ran(["run", topology, "-w", "n[1-4]", "--jsonl", events], limited, **bare)
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout.isascii()
    done = ran(["report", "last", "-o", page], limited, **bare)
    assert done.returncode == 0, done.stderr
    files = [events, page, *(path for path in data.rglob("*") if path.is_file())]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (data, data / "deep")} == {0o700}


def test_too_few_open_files_for_a_whole_cluster_is_one_line(tmp_path: Path) -> None:
    limited = ("sh", "-c", 'ulimit -n 64; exec "$@"', "sh")
    done = ran(["demo", "--headless", "--db", tmp_path / "s.db"], limited, HOME=str(tmp_path))
    assert done.returncode != 0
    assert "Too many open files" in done.stderr
    assert "Traceback" not in done.stderr
