r"""Owns the file that keeps what is finished while the database refuses: written and synced, line by line.

Each line is one record as JSON with a UUID and a checksum: ``{"sum": ..., "id": ..., "record": {...}}``.
A line that was told is on the disk; a last line that is torn was not told. The file is private and
locked while a console writes to it; ``Store.absorb`` brings it back. Refuses to know SQLite.
"""

import asyncio
import fcntl
import hashlib
import json
import os
import secrets
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from probes.judging.verdict import Verdict
from probes.model import ClosedRound, Proof, Result
from store import records
from store.errors import SpoolError
from store.filesystem import make_directory, make_private
from store.places import spool_places
from store.records import Place, Record
from store.values import number, text

SUFFIX = ".spool"
TORN = "it is torn: it was never acknowledged"
LONGEST_LINE = 256 * 2**20
"""Bytes; a longer line is no line of ours."""

_NO_PLACE = "free some space: what was not acknowledged is lost when the console ends"


class Spool:
    """Where one console keeps what ``database`` refuses; open it with ``Store.open_spool``.

    Its methods are those of ``Store`` and return when the records are on the disk: that is their
    acknowledgement. SpoolError when no place can be written; RefusedError as ``Store`` raises it.
    """

    def __init__(
        self,
        database: Path,
        token: str,
        *,
        clock: Callable[[], float] = time.time,
        places: Sequence[tuple[Path, str]] | None = None,
    ) -> None:
        self._database = database.absolute()
        self._token = token
        self._clock = clock
        self._places = tuple(places if places is not None else spool_places(self._database))
        self._door = threading.Lock()
        self._handle: int | None = None
        self._length = 0
        self._writing: set[asyncio.Future[None]] = set()
        self.files: list[Path] = []
        """What was written and not brought back yet."""

    @property
    def path(self) -> Path:
        """The file that is written to, or was last."""
        return self.files[-1] if self.files else self._places[0][0]

    def open(self) -> None:
        """Make the file now rather than with the first record; SpoolError when there is no place for one."""
        with self._door:
            if self._handle is None:
                self._write(b"")

    async def begin_round(self, session: str, number: int, attempt: int, *, at: float) -> None:
        """Keep that a round was begun."""
        await self._keep(lambda: [records.Begun(Place(session, number, attempt), at)])

    async def append_result(self, session: str, number: int, attempt: int, result: Result) -> None:
        """Keep one result."""
        await self._keep(lambda: [records.finished(Place(session, number, attempt), result)])

    async def close_round(
        self, session: str, closed: ClosedRound, verdicts: Sequence[Verdict], *, attempt: int, judged_by: str
    ) -> None:
        """Keep the end of a round, its verdicts and all its results; what is stored already is known when it comes."""
        place = Place(session, closed.round.number, attempt)

        def found() -> list[Record]:
            end = records.closed(place, closed, verdicts, judged_by=judged_by, at=self._clock())
            return [*(records.finished(place, result) for result in closed.results), end]

        await self._keep(found)

    async def note(self, session: str, kind: str, words: str, at: float) -> None:
        """Keep a note."""
        await self._keep(lambda: [records.Noted(session, text(kind), text(words), number(at, "the time of a note"))])

    async def append_proofs(self, session: str, proofs: Sequence[Proof], at: float) -> None:
        """Keep what the nodes showed at the end of a run."""
        await self._keep(lambda: [records.shown(session, proofs, at)])

    async def end_session(self, session: str, *, at: float, complete: bool, because: str = "") -> None:
        """Keep that this stretch of work ended."""
        await self._keep(lambda: [records.Ended(session, self._token, number(at, "an end"), complete, text(because))])

    async def _keep(self, make: Callable[[], Sequence[Record]]) -> None:
        def write() -> None:
            found = b"".join(line_of(uuid.uuid4(), record) for record in make())
            with self._door:
                self._write(found)

        # Whoever waits may be cancelled; the line is written all the same.
        writing = asyncio.ensure_future(asyncio.to_thread(write))
        self._writing.add(writing)
        writing.add_done_callback(self._writing.discard)
        await asyncio.shield(writing)

    async def shut(self) -> tuple[Path, ...]:
        """The files that can be brought back now, none of them written to any more; empty: nothing is left.

        Once it gives none, and as long as nobody else runs, everything that was kept is in the database.
        """
        if self._writing:
            await asyncio.wait(tuple(self._writing))
        self.close()
        return tuple(self.files)

    def forget(self, path: Path) -> None:
        """A file was brought back."""
        self.files.remove(path)

    def close(self) -> None:
        """Let go of the file, so that it can be brought back; further records go into another one."""
        with self._door:
            if self._handle is not None:
                os.close(self._handle)
            self._handle = None

    # -- the file

    def _write(self, lines: bytes) -> None:
        why = []
        if self._handle is not None:
            try:
                self._append(self._handle, lines)
            except OSError as error:
                why.append(f"{self.path}: {error.strerror}")
            else:
                return
        for folder, begin in self._places:
            try:
                self._begin(folder, begin, lines)
            except OSError as error:
                why.append(f"{folder}: {error.strerror}")
            else:
                return
        raise SpoolError(
            f"neither the database nor a spool can be written ({'; '.join(why)})", _NO_PLACE, self._database
        )

    def _begin(self, folder: Path, begin: str, lines: bytes) -> None:
        make_directory(folder)
        path = folder / f"{begin}{secrets.token_hex(4)}{SUFFIX}"
        make_private(path)
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
        before, self._length = self._length, 0
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._append(handle, lines)
        except OSError:
            self._length = before
            os.close(handle)
            with suppress(OSError):
                path.unlink()
            raise
        # One that is full stays as it is: what it acknowledged is in it.
        if self._handle is not None:
            os.close(self._handle)
        self._handle = handle
        self.files.append(path)

    def _append(self, handle: int, lines: bytes) -> None:
        """Add lines and sync them; a part of them is taken back."""
        left = memoryview(lines)
        try:
            while left:
                left = left[os.write(handle, left) :]
            os.fsync(handle)
        except OSError:
            with suppress(OSError):
                os.ftruncate(handle, self._length)
            raise
        self._length += len(lines)


# -- lines


class Line(NamedTuple):
    """One line that was read: its number from 1, and its record with its UUID, or why there is none."""

    number: int
    id: bytes
    record: Record | None
    why: str = ""
    size: int = 0


def line_of(id: uuid.UUID, record: Record) -> bytes:
    """A record as one line."""
    body = _dump(records.to_json(record))
    return f'{{"sum":"{_sum(id.hex, body)}","id":"{id.hex}","record":{body}}}\n'.encode("ascii")


def _dump(value: object) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def _sum(id: str, body: str) -> str:
    return hashlib.blake2b(f"{id} {body}".encode(), digest_size=8).hexdigest()


def lines(file: BinaryIO) -> Iterator[Line]:
    """What stands in a spool, line by line. A line that is torn, changed or foreign says why."""
    count = 0
    while raw := file.readline(LONGEST_LINE):
        count += 1
        if not raw.endswith(b"\n"):
            torn = not file.read(1)
            yield Line(count, b"", None, TORN if torn else "it is too long")
            if torn:
                return
            _skip_line(file)
            continue
        try:
            yield _line(count, raw)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            yield Line(count, b"", None, f"it is no record ({type(error).__name__}: {error})"[:300])


def _skip_line(file: BinaryIO) -> None:
    while (raw := file.readline(LONGEST_LINE)) and not raw.endswith(b"\n"):
        pass


def _line(count: int, raw: bytes) -> Line:
    found = json.loads(raw)
    if not isinstance(found, dict) or not isinstance(found.get("id"), str):
        raise ValueError("an object with sum, id and record is expected")
    if found.get("sum") != _sum(found["id"], _dump(found.get("record"))):
        raise ValueError("its sum is not that of its contents")
    return Line(count, uuid.UUID(hex=found["id"]).bytes, records.from_json(found["record"]), size=len(raw))


def waiting(database: Path) -> tuple[Path, ...]:
    """Spools of ``database`` that lie where a console would leave them, and that nobody is writing to."""
    found = []
    for folder, begin in spool_places(database):
        with suppress(OSError):
            found += sorted(
                path for path in folder.iterdir() if path.name.startswith(begin) and path.name.endswith(SUFFIX)
            )
    return tuple(path for path in found if not path.is_symlink() and not _in_use(path))


def _in_use(path: Path) -> bool:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
