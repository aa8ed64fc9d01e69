"""A reader of standard output that goes away ends no run, and turns no verdict into a pass."""

import os
import subprocess
from pathlib import Path

import pytest

from benchconsole.console.exits import Exit
from tests.scenarios.commands import argv, benchconsole

FABRIC = """\
schema: 1
fabric: pipe
nodes: {n1: {address: 127.0.0.9}}
ssh: {port: 1}
criteria: [{metric: stream.triad, at_least: 1 GB/s}]
suites: {default: [{probe: stream, nodes: n1}]}
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "pipe.yaml").write_text(FABRIC)
    return tmp_path


def run_unread(*arguments: str | Path) -> tuple[int, str]:
    """The exit code and standard error of a command whose standard output nobody reads from the first byte on."""
    reader, writer = os.pipe()
    os.close(reader)
    with subprocess.Popen(argv(*arguments), stdout=writer, stderr=subprocess.PIPE, text=True) as console:
        os.close(writer)
        _, said = console.communicate(timeout=120)
    return console.returncode, said


def test_a_run_goes_on_and_its_exit_code_is_its_verdict(site: Path) -> None:
    db = site / "s.db"
    code, said = run_unread("run", site / "pipe.yaml", "--db", db)
    assert code == Exit.UNTESTED
    assert said.count("nobody reads standard output any more; run goes on") == 1
    assert "could not reach the node: n1" in benchconsole("show", "last", "--db", db).out


def test_errors_of_a_description_keep_their_code(site: Path) -> None:
    (site / "pipe.yaml").write_text(FABRIC + "stated: [{nodes: 2, of: n1}]\n")
    codes = {
        run_unread("check", site / "pipe.yaml", "--strict")[0],
        benchconsole("check", site / "pipe.yaml", "--strict").code,
    }
    assert len(codes) == 1
    assert codes != {Exit.PASSED}


def test_a_list_that_nobody_reads_to_its_end_is_no_fault(site: Path) -> None:
    assert run_unread("probes") == (Exit.PASSED, "")
