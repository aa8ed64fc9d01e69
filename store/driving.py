"""Owns who drives a session: one process at a time, held by a row with a heartbeat.

On the machine of the driver its process is looked at; from elsewhere only the heartbeat speaks.
Every transaction that writes to a session checks that it still holds it, so a driver that was
given up for dead cannot write when it wakes. Refuses to know what is written.
"""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from store.errors import DrivenError
from store.model import SessionState
from store.process import Process, lives
from store.values import number, text

HEARTBEAT_SECONDS = 15.0
SILENCE_SECONDS = 120.0
"""After this long without a heartbeat a driver on another machine counts as dead."""


@dataclass(frozen=True, slots=True)
class Holder:
    """One store within one process; ``token`` tells it from other stores there."""

    process: Process
    token: str


@dataclass(frozen=True, slots=True)
class Drive:
    """The last stretch of work on a session. ``ended`` and ``complete`` are None while it lasts."""

    id: int
    holder: Holder
    heartbeat: float
    ended: float | None
    complete: bool | None
    because: str

    def at_work(self, now: float) -> bool:
        """Whether somebody is driving now."""
        if self.ended is not None:
            return False
        alive = lives(self.holder.process)
        return now - self.heartbeat <= SILENCE_SECONDS if alive is None else alive

    def state(self, now: float) -> SessionState:
        """What this stretch makes of its session."""
        if self.complete:
            return SessionState.COMPLETE
        return SessionState.RUNNING if self.at_work(now) else SessionState.INTERRUPTED


def drive_of(row: tuple[object, ...]) -> Drive:
    """From id, host, pid, born, token, heartbeat, ended, complete, because."""
    id_, host, pid, born, token, heartbeat, ended, complete, because = row
    if not isinstance(id_, int) or not isinstance(pid, int) or not isinstance(heartbeat, (int, float)):
        raise ValueError("a driver without id, pid or heartbeat")
    return Drive(
        id_,
        Holder(Process(str(host), pid, str(born)), str(token)),
        float(heartbeat),
        float(ended) if isinstance(ended, (int, float)) else None,
        None if complete is None else bool(complete),
        str(because),
    )


def last_drive(connection: sqlite3.Connection, session: int) -> Drive | None:
    """The last stretch of work on the session with this number."""
    row = connection.execute(
        """SELECT id, host, pid, born, token, heartbeat, ended, complete, because
        FROM driver WHERE session_id = ? ORDER BY id DESC LIMIT 1""",
        (session,),
    ).fetchone()
    return None if row is None else drive_of(row)


def _in_words(drive: Drive) -> str:
    process = drive.holder.process
    return f"process {process.pid} on {process.host.split(' ')[0]}"


def take(connection: sqlite3.Connection, session: int, holder: Holder, now: float) -> None:
    """Start a stretch of work; DrivenError while another holder is at it. Twice is once."""
    if require_free(connection, session, holder, now):
        return
    process = holder.process
    connection.execute(
        "INSERT INTO driver (session_id, host, pid, born, token, since, heartbeat) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (session, process.host, process.pid, process.born, holder.token, number(now, "now"), now),
    )


def require_free(connection: sqlite3.Connection, session: int, holder: Holder, now: float) -> bool:
    """Check that nobody else drives the session; whether ``holder`` does. DrivenError while another one does."""
    drive = last_drive(connection, session)
    if drive is None or not drive.at_work(now):
        return False
    if drive.holder != holder:
        raise DrivenError(
            f"the session is driven by {_in_words(drive)}",
            "end that one first, or look on without driving",
        )
    return True


def require(connection: sqlite3.Connection, session: int, holder: Holder) -> None:
    """Check that ``holder`` drives the session now; DrivenError if not."""
    drive = last_drive(connection, session)
    if drive is None or drive.holder != holder or drive.ended is not None:
        whose = "nobody" if drive is None or drive.ended is not None else _in_words(drive)
        raise DrivenError(
            f"the session is driven by {whose}, not by this console",
            "claim it before writing to it; what was acknowledged is kept",
        )


def give_up(
    connection: sqlite3.Connection, session: int, holder: Holder, *, at: float, complete: bool, because: str
) -> None:
    """End the stretch of work of ``holder``; DrivenError when it has none."""
    require(connection, session, holder)
    connection.execute(
        "UPDATE driver SET ended = ?, complete = ?, because = ? WHERE session_id = ? AND token = ? AND ended IS NULL",
        (at, int(complete), text(because), session, holder.token),
    )


def beat(connection: sqlite3.Connection, holder: Holder, now: float) -> None:
    """Note that ``holder`` lives, for every session that it drives."""
    connection.execute(
        "UPDATE driver SET heartbeat = ? WHERE token = ? AND ended IS NULL", (number(now, "now"), holder.token)
    )


def leave(connection: sqlite3.Connection, holder: Holder, now: float) -> None:
    """End whatever ``holder`` still drives: the console is closing."""
    connection.execute(
        """UPDATE driver SET ended = ?, complete = 0, because = 'the console was closed'
        WHERE token = ? AND ended IS NULL""",
        (number(now, "now"), holder.token),
    )


def somebody_at_work(connection: sqlite3.Connection, now: float) -> str | None:
    """Who drives any session of this database now, in words; None when nobody does."""
    rows = connection.execute(
        """SELECT id, host, pid, born, token, heartbeat, ended, complete, because
        FROM driver WHERE ended IS NULL AND id IN (SELECT max(id) FROM driver GROUP BY session_id)"""
    )
    return next((_in_words(drive) for drive in map(drive_of, rows.fetchall()) if drive.at_work(now)), None)


def refuse_upgrade(path: Path, who: str) -> DrivenError:
    """An upgrade while an older program is at work would pull the floor from under it."""
    return DrivenError(
        f"it has an older shape and {who} is writing to it", "end that one first; the upgrade follows", path
    )
