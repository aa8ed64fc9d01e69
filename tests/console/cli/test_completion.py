"""Completion of the command line: commands come from the table, so that none of them is imported."""

import subprocess
import sys

import pytest
from click.shell_completion import BashComplete

from benchconsole.console.cli import COMMANDS, command


@pytest.mark.parametrize(
    ("typed", "completed"),
    [("se", ["sessions"]), ("un", ["undrain"]), ("xyz", []), ("--ver", ["--version", "--verbose"])],
)
def test_what_begins_so_is_completed(typed: str, completed: list[str]) -> None:
    found = BashComplete(command, {}, "benchconsole", "_BENCHCONSOLE_COMPLETE").get_completions([], typed)
    assert [each.value for each in found] == completed
    assert all(each.help == COMMANDS[each.value] for each in found if each.value in COMMANDS)


def test_no_command_is_imported_for_it() -> None:
    code = (
        "import sys; from click.shell_completion import BashComplete; from benchconsole.console.cli import command; "
        "BashComplete(command, {}, 'b', 'C').get_completions([], ''); "
        "print([name for name in sys.modules if name.startswith('benchconsole.console.cli.')])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
