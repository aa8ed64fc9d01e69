"""Classes of hosts that the ssh configuration cannot tell apart; the configuration is read once for each class.

Only conditions count, never the settings below them: hosts are of one class when every pattern of every
``Host`` line matches all of them or none. Where anything else could tell them apart (``Match``, a
token such as ``%h`` in a value, a line that cannot be read) each host is a class of its own. Files that
are included under a condition count as if they always were, which can only make finer classes.
"""

import re
import shlex
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path

from benchconsole.probes.reach.ssh.known_hosts import compile_name

_LINE = re.compile(r"""\s*"?([A-Za-z0-9]+)"?\s*[\s=]\s*(.*)""")
_OF_THE_HOST = re.compile(r"%[^%diulL]")
"""Tokens of ssh_config(5) except home, user, user number and the names of this machine."""
DEEPEST_INCLUDE = 16
"""As in ssh (``readconf.c``: READCONF_MAX_DEPTH)."""


class _OnItsOwnError(Exception):
    """Something besides a pattern of names may tell hosts apart; ``slow`` when it runs a command."""

    def __init__(self, *, slow: bool = False) -> None:
        self.slow = slow
        super().__init__()


class HostClasses:
    """Names classes of hosts that some configuration files cannot tell apart."""

    def __init__(self, files: Sequence[str]) -> None:
        self.runs_commands = False
        self._patterns: list[re.Pattern[str]] | None = None
        found: set[str] = set()
        try:
            for file in files:
                found.update(_patterns(Path(file), 0))
        except _OnItsOwnError as error:
            self.runs_commands = error.slow
        except (OSError, ValueError):
            pass  # reading it for a host says what is wrong with it
        else:
            self._patterns = [compile_name(pattern) for pattern in sorted(found - {"*"})]

    def find_class(self, host: str) -> Hashable:
        """The name of the class of ``host``: the host itself when it may differ from all others."""
        if self._patterns is None:
            return host
        return tuple(number for number, pattern in enumerate(self._patterns) if pattern.fullmatch(host))


def _patterns(path: Path, depth: int) -> Iterator[str]:
    """Every pattern of every Host line of ``path`` and of what it includes."""
    if depth > DEEPEST_INCLUDE:
        raise _OnItsOwnError
    for line in path.read_text(errors="surrogateescape").splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        read = _LINE.match(line)
        if read is None:
            raise _OnItsOwnError
        yield from _of_line(read[1].lower(), read[2], depth)


def _of_line(keyword: str, rest: str, depth: int) -> Iterator[str]:
    if keyword == "match":
        if rest.strip().lower() != "all":
            raise _OnItsOwnError(slow="exec" in rest.lower())
    elif keyword == "host":
        yield from (word.lstrip("!") for word in re.split(r"""[\s,"']+""", rest) if word)
    elif keyword == "include":
        for included in list_included(shlex.split(rest)):
            yield from _patterns(included, depth + 1)
    elif _OF_THE_HOST.search(rest.replace("%%", "")):
        raise _OnItsOwnError


def list_included(patterns: Sequence[str]) -> Iterator[Path]:
    """The files of an Include line, found as asyncssh finds them: relative names stand beside the user's file."""
    for pattern in patterns:
        path = Path(pattern).expanduser()
        base = Path(path.anchor) if path.anchor else Path("~", ".ssh").expanduser()
        relative = str(Path(*path.parts[1:])) if path.anchor else pattern
        yield from (found for found in base.glob(relative) if found.is_file())
