"""Runs a piece of Python with mounts that nobody else sees; says aloud where that is not possible."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest

ROOT = Path(__file__).parents[2]


def _untested(why: str) -> NoReturn:
    """Say loudly that nothing was tested; in CI that is a failure."""
    if os.environ.get("CI"):
        pytest.fail(f"NOT TESTED: {why}", pytrace=False)
    pytest.skip(f"NOT TESTED: {why}")  # a machine where this may not be done; CI fails above


def run(mounts: str, program: str, folder: Path) -> Any:
    """Run ``mounts`` (shell, ``$1`` is ``folder``) and then ``program`` (``sys.argv[1]`` is ``folder``).

    Returns what the program printed last, as JSON.
    """
    if os.geteuid() != 0 or not shutil.which("unshare"):
        _untested("mounting needs root and unshare(1)")
    done = subprocess.run(
        [
            *("unshare", "--mount", "--propagation", "private", "sh", "-ec", f'{mounts}\nexec "$2" -c "$3" "$1"'),
            *("sh", str(folder), sys.executable, program),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if "unshare failed" in done.stderr or "permission denied" in done.stderr.lower():
        _untested(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
