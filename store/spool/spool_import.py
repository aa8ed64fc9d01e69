"""The way of a spool back into the database: each record once, in groups, refused one by one.

The file goes only after everything of it is committed; where a record was refused it is kept, under another name.
"""

import asyncio
import fcntl
import os
import stat
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from benchconsole.store.errors import ConflictError, DrivenError, SpoolError, StoreError
from benchconsole.store.files.connection import concerns_file, savepoint
from benchconsole.store.model import RefusedLine, SpoolImport
from benchconsole.store.spool.spool_file import (
    SUFFIX,
    TORN,
    AttemptAddress,
    CloseRecord,
    EndRecord,
    NoteRecord,
    ProofRecord,
    Record,
    ResultRecord,
    Spool,
    SpoolLine,
    read_lines,
)
from benchconsole.store.sqlite import SqliteError
from benchconsole.store.writing import round_rows, session_rows
from benchconsole.store.writing.write_cache import KnownAttempt, WriteCache

GROUP, BYTES = 500, 64 * 2**20
MAX_REFUSED = 100
"""So many refused lines are named."""

Answers = Sequence[RefusedLine | str]
"""For each line the kind of its record, ``known``, or a refusal."""

RunJob = Callable[[Callable[[WriteCache], Answers]], Awaitable[Answers]]


async def import_spool(spool: Spool, run: RunJob) -> SpoolImport:
    """Bring back everything that a spool of ours keeps; ``run`` runs a function in one transaction of the writer.

    It may be written to meanwhile: new records are brought back, too, and nothing is left when this
    returns. Raises as ``import_spool_file``; the rest then stays in the spool. A database that refuses is asked even
    where the spool holds nothing yet: that this returns says that it takes everything again.
    """
    total = SpoolImport()
    await run(lambda _: ())
    while files := await spool.close_files():
        for path in files:
            one = await import_spool_file(path, run)
            total = SpoolImport(
                total.results + one.results,
                total.rounds + one.rounds,
                total.others + one.others,
                total.known + one.known,
                (total.refused + one.refused)[:MAX_REFUSED],
                one.kept or total.kept,
            )
            spool.forget(path)
    return total


async def import_spool_file(path: Path, run: RunJob) -> SpoolImport:
    """Bring back the records of one file.

    SpoolError when it cannot be read, is no spool, or a console writes to it; DrivenError when
    another process drives its session.
    """
    counts: Counter[str] = Counter()
    refused: list[RefusedLine] = []
    with _open_locked(path) as file:
        lines = read_lines(file)
        while group := await asyncio.to_thread(_take_group, lines):
            refused += [
                RefusedLine(line.number, line.why) for line in group if line.record is None and line.why != TORN
            ]
            answers = await run(lambda cache, group=group: _write_group(cache, group))  # type: ignore[misc]
            refused += [answer for answer in answers if isinstance(answer, RefusedLine)]
            counts.update(answer for answer in answers if isinstance(answer, str))
        if refused and not counts:
            why = f"line {refused[0].line}: {refused[0].why}"
            raise SpoolError(f"nothing in it could be brought back ({why})", "it was left as it is", path)
        kept = await asyncio.to_thread(_remove, path, keep=bool(refused))
    others = counts.total() - counts["result"] - counts["closed"] - counts["known"]
    return SpoolImport(counts["result"], counts["closed"], others, counts["known"], tuple(refused[:MAX_REFUSED]), kept)


def _take_group(lines: Iterator[SpoolLine]) -> list[SpoolLine]:
    """The next lines, at most as many as one transaction and the memory take."""
    group: list[SpoolLine] = []
    size = 0
    while len(group) < GROUP and size < BYTES and (line := next(lines, None)) is not None:
        group.append(line)
        size += line.size
    return group


@contextmanager
def _open_locked(path: Path) -> Iterator[BinaryIO]:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise SpoolError(f"this spool cannot be read ({error.strerror})", "check its name and mode", path) from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise SpoolError("this is no file", "name a spool", path)
    with os.fdopen(handle, "rb") as file:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SpoolError(
                "a console is writing to this spool or bringing it back", "let it come to its end", path
            ) from error
        yield file


def _remove(path: Path, *, keep: bool) -> str:
    """Remove a spool of ours, or rename it where it is to be kept; its path then, empty once it is gone."""
    if path.suffix != SUFFIX:
        return str(path)
    if not keep:
        path.unlink(missing_ok=True)
        return ""
    name = path.with_name(f"{path.name}.refused")
    path.replace(name)
    return str(name)


def _write_group(cache: WriteCache, group: Sequence[SpoolLine]) -> Answers:
    """Write each record that did not come before, each by itself."""
    cache.forget_attempts()
    connection = cache.connection
    answers: list[RefusedLine | str] = []
    for line in group:
        if line.record is None:
            continue
        try:
            with savepoint(connection):
                is_new = not connection.execute("SELECT 1 FROM absorbed WHERE id = ?", (line.id,)).fetchone()
                if is_new:
                    connection.execute("INSERT INTO absorbed (id, at) VALUES (?, ?)", (line.id, cache.clock()))
                    is_new = _write(cache, line.record)
                answers.append(line.record.kind if is_new else "known")
        except (StoreError, SqliteError) as error:
            if concerns_file(error, connection) or isinstance(error, DrivenError):
                raise
            cache.forget()
            answers.append(RefusedLine(line.number, error.found if isinstance(error, StoreError) else str(error)))
    return answers


def _write(cache: WriteCache, record: Record) -> bool:
    """Write a record; whether it was not there already."""
    match record:
        case ResultRecord(address, rows):
            attempt = _find_attempt(cache, cache.require_free(address.session), address)
            if attempt.find_test(rows.test) in attempt.stored:
                return False
            if attempt.closed:
                raise ConflictError(f"round {address.round} was closed without this result", "look at the kept file")
            round_rows.append_results(cache, [(attempt, rows)])
        case CloseRecord():
            return _write_close(cache, record)
        case NoteRecord(key, kind, text, at):
            session_rows.append_note(cache.connection, cache.find_session(key), kind, text, at)
        case ProofRecord(key, at, proofs):
            session_rows.append_proof_rows(cache.connection, cache.find_session(key), proofs, at)
        case EndRecord(key, token, at, complete, because):
            # Only of the last stretch of work, whose end was not known, or only that its console went away.
            session = cache.find_session(key)
            cache.connection.execute(
                """UPDATE driver SET ended = ?, complete = ?, because = ? WHERE session_id = ? AND token = ?
                AND id = (SELECT max(id) FROM driver WHERE session_id = ?) AND coalesce(complete, 0) = 0""",
                (at, int(complete), because, session, token, session),
            )
            return cache.connection.changes() > 0
    return True


def _find_attempt(cache: WriteCache, session: int, address: AttemptAddress) -> KnownAttempt:
    """The attempt of a record, open or not; begun now where it is later than all that the database knows."""
    known = cache.find_attempt(session, address.round, address.attempt)
    if known is None:
        round_rows.begin_round(cache, session, address.round, at=cache.clock(), attempt=address.attempt)
        return cache.require_open(session, address.round, address.attempt)
    return known


def _write_close(cache: WriteCache, record: CloseRecord) -> bool:
    address = record.address
    session = cache.require_free(address.session)
    attempt = _find_attempt(cache, session, address)
    if attempt.closed:
        return False
    if len(attempt.stored) < record.results:
        raise ConflictError(
            f"round {address.round} was closed with {record.results} results, {len(attempt.stored)} are stored",
            "import the other spools of this database first",
        )
    round_rows.write_end(cache, attempt, record.end)
    cache.forget_round(session, address.round)
    session_rows.append_judgement(cache, attempt.attempt, record.judgement)
    return True
