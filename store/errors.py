"""The errors of the store: each names what was found and what to do about it.

``store.files.connection`` turns the errors of SQLite into these.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar


class StoreError(Exception):
    """Root of everything that this package raises on purpose.

    ``path`` is the database (None where no file is meant), ``found`` what was found and ``do``
    what to do now, one line each. ``to_spool`` says whether the database refuses as a whole, so
    that finished results belong into a spool (``store.spool.spool_file``) until it answers again; where it
    is False, what was to be written is at fault, and waiting cures nothing.
    """

    to_spool: ClassVar[bool] = True

    def __init__(self, found: str, do: str, path: Path | None = None) -> None:
        self.path = path
        self.found = found
        self.do = do
        where = f"{path}: " if path is not None else ""
        super().__init__(f"{where}{found}; {do}")


class TooNewError(StoreError):
    """A database that a newer program has written: it can be looked at, never written."""


class TooOldError(StoreError):
    """A database that a development version has written, before the first shape that can be upgraded."""


class LockedError(StoreError):
    """Another process holds the database for longer than we wait."""


class DamagedError(StoreError):
    """A database of ours whose contents contradict themselves."""


class ForeignError(StoreError):
    """A file that this program did not make: text, or the database of another program."""


class ReadOnlyError(StoreError):
    """A file or directory that cannot be written."""


class FullError(StoreError):
    """No room left on the disk. Everything that was acknowledged before is kept."""


class MissingError(StoreError):
    """No database where one was asked for, or it was moved away while in use."""


class ConflictError(StoreError):
    """Something that is stored already, or that does not fit what is stored."""

    to_spool = False


class RefusedError(StoreError):
    """A value that cannot be kept without changing it: NaN, infinity, an integer beyond 64 bits."""

    to_spool = False


class DrivenError(StoreError):
    """A session that another process drives, or that this one does not drive any more."""

    to_spool = False


class UnknownSessionError(StoreError):
    """A name that fits no session, or several. ``near`` holds the ids or labels that come close."""

    to_spool = False

    def __init__(self, found: str, do: str, path: Path | None = None, near: Sequence[str] = ()) -> None:
        self.near = tuple(near)
        super().__init__(found, do, path)


class TakenError(StoreError):
    """A name for a new file that another file has."""


class SpoolError(StoreError):
    """A spool that cannot be written, or read back: what was to be kept in it is not acknowledged."""

    to_spool = False
