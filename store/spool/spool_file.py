r"""The spool: a file that keeps finished results while the database refuses, written and synced line by line.

Each line is one record as JSON with a UUID and a checksum: ``{"sum":"...","id":"...","record":{...}}``.
A record is what the writer would have been given, in rows: no fabric is needed to understand it. An acknowledged line
is on the disk; a last line that is torn was not acknowledged. The file is private and locked while a console writes to
it; ``Store.import_spool`` brings it back.
"""

import asyncio
import fcntl
import hashlib
import os
import re
import secrets
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, Literal, NamedTuple

from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Finding
from benchconsole.probes.model.measuring import KeptOutputs, Proof, Result
from benchconsole.store.codec.rows import (
    ProofRow,
    ResultRows,
    make_proof_row,
    make_result_rows,
    parse_fact,
    parse_failure,
    parse_output,
    parse_proof,
)
from benchconsole.store.codec.values import Count, Integer, replace_surrogates, require_finite
from benchconsole.store.codec.verdict_rows import VerdictParser
from benchconsole.store.errors import SpoolError
from benchconsole.store.files.filesystem import make_directory, make_private
from benchconsole.store.files.paths import spool_places
from benchconsole.store.session_summary import StoredVerdict
from benchconsole.store.writing.round_rows import RoundEnd, make_round_end
from benchconsole.store.writing.session_rows import Judgement, make_judgement
from benchconsole.topology.units import Unit

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from benchconsole.probes.model.detectable_loss import DetectableLoss

SUFFIX = ".spool"
TORN = "it is torn: it was never acknowledged"
LONGEST_LINE = 256 * 2**20
"""Bytes; a longer line is no line of ours."""

_NO_PLACE = "free some space: what was not acknowledged is lost when the console ends"


# -- records


class AttemptAddress(NamedTuple):
    """An attempt at a round of a session."""

    session: str
    round: Integer
    attempt: Integer


@dataclass(frozen=True, slots=True)
class ResultRecord:
    """One result."""

    address: AttemptAddress
    rows: ResultRows
    kind: Literal["result"] = "result"

    def __post_init__(self) -> None:
        measurements = self.rows.measurements
        if len({row.key for row in measurements}) < len(measurements):
            raise ValueError("a measurement comes twice")
        for row in measurements:
            Unit(row.unit)
        for output in self.rows.outputs:
            parse_output(output)
        for fact in self.rows.facts:
            parse_fact(fact)
        parse_failure(self.rows.result)


@dataclass(frozen=True, slots=True)
class CloseRecord:
    """A round was closed and judged. ``results`` counts those that must be stored by then."""

    address: AttemptAddress
    end: RoundEnd
    results: Count
    judgement: Judgement
    kind: Literal["closed"] = "closed"

    def __post_init__(self) -> None:
        CloseReason(self.end.reason)
        parser = VerdictParser(self.address.round)
        for row in self.judgement.verdicts:
            parser.parse(row)


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """A decision or an event."""

    session: str
    what: str
    text: str
    at: float
    kind: Literal["note"] = "note"


@dataclass(frozen=True, slots=True)
class ProofRecord:
    """The nodes were searched for anything of ours."""

    session: str
    at: float
    proofs: tuple[ProofRow, ...]
    kind: Literal["proofs"] = "proofs"

    def __post_init__(self) -> None:
        for row in self.proofs:
            parse_proof(row)


@dataclass(frozen=True, slots=True)
class EndRecord:
    """The stretch of work of one console, known by its token, came to its end."""

    session: str
    token: str
    at: float
    complete: bool
    because: str
    kind: Literal["ended"] = "ended"


Record = ResultRecord | CloseRecord | NoteRecord | ProofRecord | EndRecord


def make_result_record(address: AttemptAddress, result: Result) -> ResultRecord:
    """The record of a result; RefusedError for a number that cannot be kept."""
    return ResultRecord(address, make_result_rows(result))


def make_close_record(address: AttemptAddress, closed: ClosedRound, *, at: float) -> CloseRecord:
    """The record of a closed round, without its results."""
    judgement = make_judgement(closed.verdicts, judged_by=closed.judged_by, at=at)
    return CloseRecord(address, make_round_end(closed), len(closed.results), judgement)


@cache
def _load_adapter() -> "TypeAdapter[Record]":
    from pydantic import ConfigDict, Field, TypeAdapter  # loaded only here: a run without a spool needs none of it

    config = ConfigDict(
        strict=True, allow_inf_nan=False, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64"
    )
    return TypeAdapter(Annotated[Record, Field(discriminator="kind")], config=config)


# -- the spool


class Spool:
    """The records of one session that ``database`` refuses; open it with ``SessionStore.open_spool``.

    Its methods are those of ``SessionStore`` and return when the records are on the disk: that is their
    acknowledgement. SpoolError when no place can be written; RefusedError as ``SessionStore`` raises it.
    """

    def __init__(
        self,
        database: Path,
        session: str,
        token: str,
        *,
        clock: Callable[[], float] = time.time,
        places: Sequence[tuple[Path, str]] | None = None,
    ) -> None:
        self._database = database.absolute()
        self._session = session
        self._token = token
        self._clock = clock
        self._places = tuple(places if places is not None else spool_places(self._database))
        self._lock = threading.Lock()
        self._handle: int | None = None
        self._length = 0
        self._writing: set[asyncio.Future[None]] = set()
        self.files: list[Path] = []
        """Files that were written and not brought back yet."""

    @property
    def path(self) -> Path:
        """The file that is written to, or was last."""
        return self.files[-1] if self.files else self._places[0][0]

    def open(self) -> None:
        """Make the file now rather than with the first record; SpoolError when there is no place for one."""
        with self._lock:
            if self._handle is None:
                self._write(b"")

    async def append_result(self, number: int, attempt: int, result: Result) -> None:
        await self._keep(lambda: [make_result_record(self._address(number, attempt), result)])

    async def close_round(self, closed: ClosedRound) -> None:
        """Keep the end of a round, its verdicts and its results, without those whose outputs are in the database."""
        address = self._address(closed.round.number, closed.attempt)

        def make_records() -> list[Record]:
            end = make_close_record(address, closed, at=self._clock())
            here = (result for result in closed.results if not isinstance(result.outputs, KeptOutputs))
            return [*(make_result_record(address, result) for result in here), end]

        await self._keep(make_records)

    async def append_note(self, kind: str, text: str, at: float) -> None:
        time_of_note = require_finite(at, "the time of a note")
        await self._keep(
            lambda: [NoteRecord(self._session, replace_surrogates(kind), replace_surrogates(text), time_of_note)]
        )

    async def append_proofs(self, proofs: Sequence[Proof], at: float) -> None:
        time_of_proof = require_finite(at, "the time of a proof")
        await self._keep(lambda: [ProofRecord(self._session, time_of_proof, tuple(map(make_proof_row, proofs)))])

    async def end(
        self,
        *,
        at: float,
        complete: bool,
        because: str = "",
        findings: Sequence[Finding] | None = None,
        losses: Sequence["DetectableLoss"] | None = None,
        verdict: StoredVerdict | None = None,
    ) -> None:
        """Keep that this stretch of work ended. Conclusions are not kept: they follow from the rest."""
        ended = require_finite(at, "an end")
        await self._keep(lambda: [EndRecord(self._session, self._token, ended, complete, replace_surrogates(because))])

    def _address(self, number: int, attempt: int) -> AttemptAddress:
        return AttemptAddress(self._session, number, attempt)

    async def _keep(self, make: Callable[[], Sequence[Record]]) -> None:
        def write() -> None:
            lines = b"".join(make_line(uuid.uuid4(), record) for record in make())
            with self._lock:
                self._write(lines)

        # The caller may be cancelled; the line is written all the same.
        writing = asyncio.ensure_future(asyncio.to_thread(write))
        self._writing.add(writing)
        writing.add_done_callback(self._writing.discard)
        await asyncio.shield(writing)

    async def close_files(self) -> tuple[Path, ...]:
        """The files that can be brought back now, none of them written to any more; empty: nothing is left.

        Once it gives none, and as long as nobody else runs, everything that was kept is in the database.
        """
        if self._writing:
            await asyncio.wait(tuple(self._writing))
        self.close()
        return tuple(self.files)

    def forget(self, path: Path) -> None:
        self.files.remove(path)

    def close(self) -> None:
        """Let go of the file, so that it can be brought back; further records go into another one."""
        with self._lock:
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


class SpoolLine(NamedTuple):
    """One line that was read: its number from 1, and its record with its UUID, or why there is none."""

    number: int
    id: bytes
    record: Record | None
    why: str = ""
    size: int = 0


_LINE = re.compile(rb'\{"sum":"([0-9a-f]{16})","id":"([0-9a-f]{32})","record":(.*)\}\n', re.DOTALL)


def make_line(id: uuid.UUID, record: Record) -> bytes:
    """A record as one line."""
    body = _load_adapter().dump_json(record)
    name = id.hex.encode()
    return b'{"sum":"%s","id":"%s","record":%s}\n' % (_compute_sum(name, body), name, body)


def _compute_sum(id: bytes, body: bytes) -> bytes:
    return hashlib.blake2b(b"%s %s" % (id, body), digest_size=8).hexdigest().encode()


def read_lines(file: BinaryIO) -> Iterator[SpoolLine]:
    """The lines of a spool. A line that is torn, changed or foreign says why."""
    number = 0
    while raw := file.readline(LONGEST_LINE):
        number += 1
        if not raw.endswith(b"\n"):
            torn = not file.read(1)
            yield SpoolLine(number, b"", None, TORN if torn else "it is too long")
            if torn:
                return
            while (raw := file.readline(LONGEST_LINE)) and not raw.endswith(b"\n"):
                pass
            continue
        try:
            match = _LINE.fullmatch(raw)
            if match is None:
                raise ValueError("an object with sum, id and record is expected")
            checksum, id, body = match.groups()
            if checksum != _compute_sum(id, body):
                raise ValueError("its sum is not that of its contents")
            # Every value is checked as if a stranger had written it: its type and bounds by the row types, then its
            # meaning by reading it as domain objects.
            record = _load_adapter().validate_json(body)
            yield SpoolLine(number, bytes.fromhex(id.decode()), record, size=len(raw))
        except (ValueError, TypeError, KeyError) as error:
            reason = " ".join(str(error).split())
            yield SpoolLine(number, b"", None, f"it is no record ({type(error).__name__}: {reason})"[:300])


_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Without waiting: a pipe of this name would have no end."""


def list_waiting_sessions(database: Path) -> frozenset[str]:
    """The sessions that the waiting spools of ``database`` keep something of, by their first records."""
    return frozenset(filter(None, map(_read_session, find_spools(database))))


def _read_session(path: Path) -> str:
    """The session of the first record of a spool; empty where there is none."""
    try:
        handle = os.open(path, _READ)
        with os.fdopen(handle, "rb") as file:
            record = next((line.record for line in read_lines(file) if line.record is not None), None)
    except OSError:
        return ""
    if isinstance(record, ResultRecord | CloseRecord):
        return record.address.session
    return "" if record is None else record.session


def find_spools(database: Path) -> tuple[Path, ...]:
    """Spools of ``database`` that lie where a console would leave them, and that nobody is writing to."""
    paths: list[Path] = []
    for folder, begin in spool_places(database):
        with suppress(OSError):
            paths += sorted(
                path for path in folder.iterdir() if path.name.startswith(begin) and path.name.endswith(SUFFIX)
            )
    return tuple(path for path in paths if not path.is_symlink() and not _is_locked(path))


def _is_locked(path: Path) -> bool:
    try:
        handle = os.open(path, _READ)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
