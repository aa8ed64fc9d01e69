"""The entry point: the version costs nothing but Python, and ends as it does on the way of all other commands."""

import json
import subprocess
import sys

import pytest

from benchconsole import __version__

ENTRY, COMMAND_LINE = "benchconsole.console.entry", "benchconsole.console.cli"
RUN = """
import sys
sys.argv = ["benchconsole", *{arguments!r}]
from {module} import main
try:
    main()
finally:
    import json
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def run(module: str, *arguments: str, redirected: str = "") -> subprocess.CompletedProcess[str]:
    """The program by one of its ways, in a fresh interpreter; ``redirected`` is what a shell does with its output."""
    code = RUN.format(module=module, arguments=arguments)
    command = ["sh", "-c", f'"$@" {redirected}', "sh", sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def list_modules(done: subprocess.CompletedProcess[str]) -> set[str]:
    """The names of the modules that had been imported at the end."""
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_the_version_is_told_before_the_command_line_is_imported() -> None:
    done = run(ENTRY, "--version")
    assert (done.returncode, done.stdout) == (0, f"benchconsole {__version__}\n")
    assert list_modules(done).isdisjoint({"click", COMMAND_LINE, "argparse", "importlib.metadata"})


@pytest.mark.parametrize("arguments", [("--version", "--help"), ("--help",), ("sessions", "--help"), ("nothing",)])
def test_all_else_is_left_to_the_command_line(arguments: tuple[str, ...]) -> None:
    ours, theirs = run(ENTRY, *arguments), run(COMMAND_LINE, *arguments)
    assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout)
    assert COMMAND_LINE in list_modules(ours)


@pytest.mark.parametrize("redirected", [">/dev/full", ">&-"])
def test_a_version_that_cannot_be_written_ends_as_any_other_output(redirected: str) -> None:
    ours, theirs = (run(module, "--version", redirected=redirected) for module in (ENTRY, COMMAND_LINE))
    assert ours.returncode == theirs.returncode
    assert ours.stderr.splitlines()[:-1] == theirs.stderr.splitlines()[:-1]
    assert (redirected == ">/dev/full") == ("could not be written whole" in ours.stderr)
