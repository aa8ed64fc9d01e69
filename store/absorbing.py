"""Owns how a spool comes back into the database: each record once, in groups, refused one by one.

A record that is there already is known and left alone. The file goes only after everything of it
is committed; where a record was refused it is kept, under another name. Refuses to trust a line.
"""

import asyncio
import fcntl
import os
import sqlite3
import stat
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from store import rounds, writing
from store.connection import of_the_file, savepoint
from store.errors import ConflictError, DrivenError, SpoolError, StoreError
from store.inserting import flat, insert
from store.ledger import Ledger, Running
from store.model import Absorbed, Refusal
from store.records import Begun, Closed, Ended, Finished, Noted, Place, Record, Shown
from store.spool import SUFFIX, TORN, Line, Spool, lines

GROUP, BYTES = 500, 64 * 2**20
REFUSALS = 100
"""So many refused lines are named."""

Do = Callable[[Callable[[Ledger], Sequence[Refusal | str]]], Awaitable[Sequence[Refusal | str]]]


async def absorb(spool: Spool, do: Do) -> Absorbed:
    """Bring back all that a spool of ours keeps; ``do`` runs a function in one transaction of the writer.

    It may be written to meanwhile: what comes is brought back, too, and nothing is left when this
    returns. Raises as ``absorb_file``; what is left then stays in the spool.
    """
    total = Absorbed()
    while files := await spool.shut():
        for path in files:
            total = _sum(total, await absorb_file(path, do))
            spool.forget(path)
    return total


def _sum(one: Absorbed, two: Absorbed) -> Absorbed:
    return Absorbed(
        one.results + two.results,
        one.rounds + two.rounds,
        one.others + two.others,
        one.known + two.known,
        (one.refused + two.refused)[:REFUSALS],
        two.kept or one.kept,
    )


async def absorb_file(path: Path, do: Do) -> Absorbed:
    """Bring back what one file keeps.

    SpoolError when it cannot be read, is no spool, or a console writes to it; DrivenError when
    another process drives its session.
    """
    counts: Counter[str] = Counter()
    refused: list[Refusal] = []
    with _reading(path) as file:
        found = lines(file)
        while group := await asyncio.to_thread(_some, found):
            refused += [Refusal(line.number, line.why) for line in group if line.record is None and line.why != TORN]
            told = await do(lambda ledger, group=group: _take_in(ledger, group))  # type: ignore[misc]
            refused += [each for each in told if isinstance(each, Refusal)]
            counts.update(each for each in told if isinstance(each, str))
        if refused and not counts:
            why = f"line {refused[0].line}: {refused[0].why}"
            raise SpoolError(f"nothing in it could be brought back ({why})", "it was left as it is", path)
        kept = await asyncio.to_thread(_put_away, path, keep=bool(refused))
    others = counts.total() - counts["result"] - counts["closed"] - counts["known"]
    return Absorbed(counts["result"], counts["closed"], others, counts["known"], tuple(refused[:REFUSALS]), kept)


def _some(found: Iterator[Line]) -> list[Line]:
    """The next lines, as many as one transaction takes and the memory bears."""
    group: list[Line] = []
    held = 0
    while len(group) < GROUP and held < BYTES and (line := next(found, None)) is not None:
        group.append(line)
        held += line.size
    return group


@contextmanager
def _reading(path: Path) -> Iterator[BinaryIO]:
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


def _put_away(path: Path, *, keep: bool) -> str:
    """Remove what a console of ours wrote; what was refused, or has another name, is kept. Where it is then."""
    if path.suffix != SUFFIX:
        return str(path)
    if not keep:
        path.unlink(missing_ok=True)
        return ""
    name = path.with_name(f"{path.name}.refused")
    path.replace(name)
    return str(name)


def _take_in(ledger: Ledger, group: Sequence[Line]) -> Sequence[Refusal | str]:
    """What became of each line: the kind of its record, ``known``, or a refusal."""
    ledger.look_again()
    told: list[Refusal | str] = []
    for line in group:
        if line.record is None:
            continue
        try:
            with savepoint(ledger.connection):
                told.append(_one(ledger, line.id, line.record))
        except (StoreError, sqlite3.Error) as error:
            if of_the_file(error, ledger.connection) or isinstance(error, DrivenError):
                raise
            ledger.forget()
            told.append(Refusal(line.number, error.found if isinstance(error, StoreError) else str(error)))
    return told


def _one(ledger: Ledger, id: bytes, record: Record) -> str:
    connection = ledger.connection
    if connection.execute("SELECT 1 FROM absorbed WHERE id = ?", (id,)).fetchone():
        return "known"
    connection.execute("INSERT INTO absorbed (id, at) VALUES (?, ?)", (id, ledger.clock()))
    match record:
        case Finished(place):
            return "result" if _result(ledger, record, ledger.free(place.session)) else "known"
        case Closed(place):
            return "closed" if _closed(ledger, record, ledger.free(place.session)) else "known"
        case Begun(place, at):
            session = ledger.free(place.session)
            if ledger.attempt(session, place.round, place.attempt) is not None:
                return "known"
            rounds.begin_round(ledger, session, place.round, at=at, attempt=place.attempt)
            return "begun"
        case Noted(key, kind, words, at):
            writing.note(connection, ledger.session(key), kind, words, at)
            return "note"
        case Shown(key, at, proofs):
            session = ledger.session(key)
            insert(connection, writing.PROOF, 7, flat((session, at, *proof) for proof in proofs))
            return "proofs"
        case Ended():
            return "ended" if _ended(connection, ledger.session(record.session), record) else "known"


def _running(ledger: Ledger, session: int, place: Place) -> Running:
    """The attempt of a record, open or not; begun now where it is later than all that the database knows."""
    found = ledger.attempt(session, place.round, place.attempt)
    if found is None:
        rounds.begin_round(ledger, session, place.round, at=ledger.clock(), attempt=place.attempt)
        return ledger.running(session, place.round, place.attempt)
    return found


def _result(ledger: Ledger, record: Finished, session: int) -> bool:
    running = _running(ledger, session, record.place)
    if running.test(record.kept.test) in running.stored:
        return False
    if running.closed:
        raise ConflictError(f"round {record.place.round} was closed without this result", "look at the kept file")
    rounds.append_results(ledger, [(running, record.kept)])
    return True


def _closed(ledger: Ledger, record: Closed, session: int) -> bool:
    running = _running(ledger, session, record.place)
    if running.closed:
        return False
    if len(running.stored) < record.results:
        raise ConflictError(
            f"round {record.place.round} was closed with {record.results} results, {len(running.stored)} are stored",
            "import the other spools of this database first",
        )
    rounds.finish(ledger, running, record.end)
    ledger.over(session, record.place.round)
    writing.append_judgement(ledger, session, running.attempt, record.judgement)
    return True


def _ended(connection: sqlite3.Connection, session: int, record: Ended) -> bool:
    """Whether this stretch of work is the last one, and its end was not known, or only that its console went away."""
    done = connection.execute(
        """UPDATE driver SET ended = ?, complete = ?, because = ? WHERE session_id = ? AND token = ?
        AND id = (SELECT max(id) FROM driver WHERE session_id = ?) AND coalesce(complete, 0) = 0""",
        (record.at, int(record.complete), record.because, session, record.token, session),
    )
    return done.rowcount > 0
