"""Options of a command line: of the command that was run, or as the tool prints it above its results.

An option that is not there was left at the tool's default, which is a condition of its numbers like any other.
"""

import shlex
from collections.abc import Mapping, Sequence
from getopt import GetoptError, gnu_getopt

Options = Mapping[str, str]
"""Values by option, without its dashes; empty for one that takes none, the last value of one that is repeated."""

_LONGEST = 20_000
"""Characters of a command line that is looked at."""


def split_command(text: str) -> list[str]:
    """The words after the program of a command line; none where its quotes are not closed."""
    try:
        return shlex.split(text)[1:] if len(text) <= _LONGEST else []
    except ValueError:
        return []


def read_options(words: Sequence[str], short: str, long: Sequence[str] = ()) -> Options | None:
    """The options among ``words``, in the notation of getopt; None where one is not known, or lacks its value."""
    try:
        found, _ = gnu_getopt(list(words), short, list(long))
    except GetoptError:
        return None
    return {name.lstrip("-"): value for name, value in found}
