"""Runs the real command in a process of its own, as an operator would, and reads what it stored."""

import json
import os
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from benchconsole.console.cli import report as stored
from tests import plain_sqlite
from tests.lab import Lab, wait_for


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str


def argv(*arguments: str | Path) -> list[str]:
    """The command line of ``benchconsole`` with this interpreter."""
    return [sys.executable, "-m", "benchconsole.console.cli", *map(str, arguments)]


def benchconsole(*arguments: str | Path, seconds: float = 240, **environment: str) -> Ran:
    """Run to the end; a command that hangs fails the test."""
    done = subprocess.run(
        argv(*arguments),
        capture_output=True,
        text=True,
        timeout=seconds,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **environment},
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def await_while(console: "subprocess.Popen[Any]", predicate: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait until the predicate holds; a console that has ended instead fails the test at once."""

    def holds() -> bool:
        ended = console.poll()
        if predicate():
            return True
        assert ended is None, f"the console ended with {ended} before there was {what}"
        return False

    wait_for(holds, seconds, what)


def report(db: Path, session: str = "last") -> dict[str, Any]:
    """A stored session as its JSON report; asked for in this process, for it is asked for after every run."""
    done = CliRunner().invoke(stored.command, [session, "--format", "json", "--db", str(db)])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@contextmanager
def written(lab: Lab, name: str, text: str) -> Iterator[Path]:
    """The laboratory's file with this as its end, beside the SSH files that it names."""
    whole = lab.topology.read_text()
    path = lab.topology.with_name(name)
    path.write_text(whole[: whole.index(text[: text.index(":") + 1])] + text)
    try:
        yield path
    finally:
        path.unlink()


def read_stored_outputs(db: Path) -> list[str]:
    """The standard output of every command that is stored, in the order of the file, read without the store."""
    with closing(plain_sqlite.connect(db)) as connection:
        rows = connection.execute("SELECT stdout, packed FROM output ORDER BY id").fetchall()
    return [str(zlib.decompress(raw) if is_packed else raw, "utf-8") for raw, is_packed in rows]
