"""Options of a command line: of the command that was run, or as the tool prints it above its results.

An option that is not there was left at the tool's default, which is a condition of its numbers like any other.
"""

import itertools
import re
import shlex
from collections.abc import Mapping, Sequence
from getopt import GetoptError, gnu_getopt

Options = Mapping[str, str]
"""Values by option, without its dashes; empty for one that takes none, the last value of one that is repeated."""

_LONGEST = 20_000
"""Characters of a command line that is looked at."""

_PROMPT = re.compile(r"\s*(?:(?:[^\s'\"]{1,99} +){0,2}[^\s'\"]{0,99}[$#%>] +|\+{1,9} +)?")
"""In front of a command that somebody typed, or that a shell told with ``set -x``."""
_WRAPPERS = frozenset(("command", "env", "exec", "nice", "nohup", "sudo", "time"))
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_JOINING = re.compile(r"[();|`]|&&")
"""That which makes several commands of one line, outside quotes."""
_END = re.compile(r"\s*[0-9]?[<>]|\s*&")
"""Where the words of a command end: a redirection, or the sign that it runs in the background."""


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


def find_command(line: str, tool: str) -> list[str] | None:
    """The words after ``tool`` in a line that a shell was told, with its prompt or without: ``$ dd if=a of=b``.

    None for any other line, and where it is one of several commands of its line, for what belongs to it is not known.
    """
    if tool not in line or len(line) > _LONGEST:
        return None
    prompt = _PROMPT.match(line)
    text = line[prompt.end() if prompt else 0 :]
    bare = _QUOTED.sub(lambda quoted: "x" * len(quoted[0]), text)
    end = _END.search(bare)
    try:
        words = shlex.split(text[: end.start() if end else None])
    except ValueError:
        return None
    before = itertools.takewhile(lambda word: word in _WRAPPERS or _ASSIGNMENT.match(word), words)
    program, *own = words[len(list(before)) :] or [""]
    return None if program.rpartition("/")[2] != tool or _JOINING.search(bare) else own


def list_given(argv: Sequence[str]) -> list[str] | None:
    """The words after the program of the command that printed an output, where somebody said it; its name may be any.

    None where only a name is known, and for a script of ours.
    """
    return None if len(argv) < 2 or argv[0] in ("sh", "env") else list(argv[1:])
