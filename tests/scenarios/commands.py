"""Runs the real command in a process of its own, as an operator would."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str


def argv(*arguments: str | Path) -> list[str]:
    """The command line of ``benchconsole`` with this interpreter."""
    return [sys.executable, "-m", "console.cli", *map(str, arguments)]


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


def report(db: Path, session: str = "last") -> dict[str, Any]:
    """A stored session as its JSON report."""
    ran = benchconsole("report", session, "--format", "json", "--db", db)
    assert ran.code == 0, ran.err
    found: dict[str, Any] = json.loads(ran.out)
    return found
