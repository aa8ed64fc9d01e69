"""Topology files and databases that the user opened lately: ``recent.json`` of the state folder, the newest first.

The list is a convenience: one that is broken, or cannot be written, never stands in the way of what was asked for.
"""

import json
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from benchconsole.console.session.user_files import (
    find_state_path,
    hold_user_file,
    read_user_text,
    tell_first,
    write_user_file,
)
from benchconsole.console.text.atomic_write import FileError
from benchconsole.topology.errors import Position, TopologyError, refuse

FILE = "recent.json"

MOST = 20
"""Files of the list, topologies and databases together."""

ANSWER_SECONDS = 0.3
"""How long the list waits to hear whether its files are there: a file server that is gone answers never."""


class RecentKind(StrEnum):
    """The kind of a file."""

    TOPOLOGY = "topology"
    DATABASE = "database"


class RecentFile(NamedTuple):
    """A file of the list; ``path`` is absolute."""

    kind: RecentKind
    path: str


class RecentFiles:
    """The list of one user."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or find_state_path(FILE)

    def read(self) -> tuple[RecentFile, ...]:
        """Every file of the list, also those that are gone. TopologyError says why the list is not used."""
        text = read_user_text(self.path)
        known = _parse(text)
        if known is None:
            raise refuse(Position(str(self.path), 1, 1), "no list of recent files", "the one that was written here")
        return known

    def list_there(self) -> tuple[tuple[RecentFile, ...], str]:
        """The files that are still there; none, and the words for that, where the list is not used."""
        try:
            return _keep_there(self.read()), ""
        except TopologyError as error:
            return (), f"The list of recent files is not used: {tell_first(error)}"

    def keep(self, *opened: RecentFile) -> None:
        """Put ``opened`` first, and drop the oldest beyond MOST. A broken list begins anew.

        Nothing is written, and nothing said, where that is refused, or where others can write the list.
        """
        with suppress(TopologyError, FileError, OSError), hold_user_file(self.path):
            known = _parse(read_user_text(self.path))
            wanted = tuple(dict.fromkeys((*opened, *(known or ()))))[:MOST]
            if wanted != known:
                write_user_file(self.path, _format(wanted))


def _parse(text: str) -> tuple[RecentFile, ...] | None:
    """The files of a list; None for what is none."""
    if not text.strip():
        return ()
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    found = [_parse_file(each) for each in data] if isinstance(data, list) else [None]
    known = [each for each in found if each is not None]
    return tuple(dict.fromkeys(known))[:MOST] if len(known) == len(found) else None


def _parse_file(data: object) -> RecentFile | None:
    kind, path = (data.get("kind"), data.get("path")) if isinstance(data, dict) else (None, None)
    if kind not in list(RecentKind) or not isinstance(path, str) or "\0" in path or not Path(path).is_absolute():
        return None
    return RecentFile(RecentKind(kind), path)


def _format(files: Sequence[RecentFile]) -> str:
    """One file a line; names that are no text stand as escapes."""
    lines = ",\n".join(json.dumps({"kind": each.kind.value, "path": each.path}) for each in files)
    return f"[\n{lines}\n]\n"


def _keep_there(files: Sequence[RecentFile]) -> tuple[RecentFile, ...]:
    """Those that are there by what the file system says within ANSWER_SECONDS; each is asked beside the others."""
    there: set[RecentFile] = set()

    def look(each: RecentFile) -> None:
        with suppress(OSError):
            if Path(each.path).is_file():
                there.add(each)

    asking = [threading.Thread(target=look, args=(each,), daemon=True) for each in files]
    ends = time.monotonic() + ANSWER_SECONDS
    for each in asking:
        each.start()
    for each in asking:
        each.join(max(ends - time.monotonic(), 0.0))
    return tuple(each for each in files if each in there)
