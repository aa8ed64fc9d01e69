"""Start-up: what the cheap commands import, seen from a fresh interpreter."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"textual", "asyncssh", "pydantic", "numpy", "scipy", "aiohttp", "textual_serve"}

PROBE = """
import json, sys
sys.argv = ["benchconsole", *json.loads(sys.argv[1])]
from benchconsole.console.cli import main
try:
    main()
except SystemExit:
    pass
print("LOADED " + json.dumps(sorted({name.partition(".")[0] for name in sys.modules})), file=sys.stderr)
print("COUNT " + str(len(sys.modules)), file=sys.stderr)
"""


def loaded(arguments: list[str], home: Path, **environment: str) -> tuple[set[str], int]:
    """Top-level packages and the number of modules in memory after a command."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "HOME": str(home), "XDG_DATA_HOME": str(home / "data"), **environment},
        check=True,
    )
    lines = {line.split(" ", 1)[0]: line.split(" ", 1)[1] for line in done.stderr.splitlines() if " " in line}
    return set(json.loads(lines["LOADED"])), int(lines["COUNT"])


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["sessions"]])
def test_cheap_commands_import_nothing_heavy(arguments: list[str], tmp_path: Path) -> None:
    packages, count = loaded(arguments, tmp_path)
    assert packages.isdisjoint(HEAVY), packages & HEAVY
    assert count < 260, f"{count} modules"


def test_completion_imports_nothing_heavy(tmp_path: Path) -> None:
    packages, count = loaded(
        [], tmp_path, _BENCHCONSOLE_COMPLETE="bash_complete", COMP_WORDS="benchconsole se", COMP_CWORD="1"
    )
    assert packages.isdisjoint(HEAVY), packages & HEAVY
    assert count < 200, f"{count} modules"


def test_the_screen_is_painted_before_ssh_is_imported(tmp_path: Path) -> None:
    """The application knows nothing of SSH, sessions or the store until it asks for its conductor."""
    code = (
        "import sys, benchconsole.console.tui.app.console_app\n"
        "slow = {'asyncssh', 'apsw', 'sqlite3', 'pydantic', 'benchconsole.console.session.session', 'benchconsole.console.session.controller'}\n"
        "bad = slow & set(sys.modules)\n"
        "sys.exit(f'loaded {bad}' if bad else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
