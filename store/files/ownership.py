"""The driver of a session: one process at a time, held by a row with a heartbeat.

On another machine only the heartbeat counts. Every transaction that writes to a session checks that it still holds
it, so a driver that was given up for dead cannot write when it wakes.
"""

import os
import socket
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from benchconsole.store.codec.values import replace_surrogates, require_finite
from benchconsole.store.errors import DrivenError
from benchconsole.store.session_summary import SessionState
from benchconsole.store.sqlite import Connection

_PROC = Path("/proc")


class Holder(Struct, frozen=True):
    """One store within one process: ``token`` tells it from others there, ``born`` from a later process (or empty)."""

    host: str
    pid: int
    born: str
    token: str


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def this_host() -> str:
    """The machine and, within it, the space that its pids count in (a container has its own)."""
    try:
        space = str((_PROC / "self/ns/pid").readlink())
    except OSError:
        space = ""
    machine = _read(Path("/etc/machine-id"))[:12]
    return " ".join(part for part in (socket.gethostname(), machine, space) if part)


def _born(pid: int) -> str | None:
    """Boot and start time of a process; None when it is gone, empty where that cannot be known."""
    if not (_PROC / "self/stat").exists():
        try:
            with suppress(PermissionError):
                os.kill(pid, 0)
        except ProcessLookupError:
            return None
        return ""
    stat = _read(_PROC / str(pid) / "stat")
    # The name in parentheses may hold anything, so count from the last one.
    fields = stat.rpartition(")")[2].split()
    if len(fields) < 20 or fields[0] in ("Z", "X"):  # ended, and waiting for its parent to notice
        return None
    return f"{_read(_PROC / 'sys/kernel/random/boot_id')} {fields[19]}"


def make_holder(token: str) -> Holder:
    """The holder in the process that asks."""
    pid = os.getpid()
    return Holder(this_host(), pid, _born(pid) or "", token)


# -- the driver of a session

HEARTBEAT_SECONDS = 15.0
SILENCE_SECONDS = 120.0
"""After this long without a heartbeat a driver on another machine counts as dead."""


class DriverRecord(Struct, frozen=True):
    """The last stretch of work on a session. ``ended`` and ``complete`` are None while it lasts."""

    id: int
    holder: Holder
    heartbeat: float
    ended: float | None
    complete: bool | None
    because: str

    def at_work(self, now: float) -> bool:
        if self.ended is not None:
            return False
        if self.holder.host != this_host():
            return now - self.heartbeat <= SILENCE_SECONDS
        return _born(self.holder.pid) == self.holder.born

    def state(self, now: float) -> SessionState:
        if self.complete:
            return SessionState.COMPLETE
        return SessionState.RUNNING if self.at_work(now) else SessionState.INTERRUPTED


def parse_driver(row: tuple[object, ...]) -> DriverRecord:
    """From id, host, pid, born, token, heartbeat, ended, complete, because."""
    id_, host, pid, born, token, heartbeat, ended, complete, because = row
    if not isinstance(id_, int) or not isinstance(pid, int) or not isinstance(heartbeat, (int, float)):
        raise ValueError("a driver without id, pid or heartbeat")
    return DriverRecord(
        id_,
        Holder(str(host), pid, str(born), str(token)),
        float(heartbeat),
        float(ended) if isinstance(ended, (int, float)) else None,
        None if complete is None else bool(complete),
        str(because),
    )


_DRIVERS = "SELECT id, host, pid, born, token, heartbeat, ended, complete, because FROM driver"


def read_driver(connection: Connection, session: int) -> DriverRecord | None:
    """The last stretch of work on the session with this number."""
    row = connection.execute(f"{_DRIVERS} WHERE session_id = ? ORDER BY id DESC LIMIT 1", (session,)).fetchone()
    return None if row is None else parse_driver(row)


def _name_driver(driver: DriverRecord) -> str:
    return f"process {driver.holder.pid} on {driver.holder.host.split(' ')[0]}"


def claim(connection: Connection, session: int, holder: Holder, now: float) -> None:
    """Start a stretch of work; DrivenError while another holder is at it. Twice is once."""
    if require_free(connection, session, holder, now):
        return
    connection.execute(
        "INSERT INTO driver (session_id, host, pid, born, token, since, heartbeat) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (session, holder.host, holder.pid, holder.born, holder.token, require_finite(now, "now"), now),
    )


def require_free(connection: Connection, session: int, holder: Holder, now: float) -> bool:
    """Check that nobody else drives the session; whether ``holder`` does. DrivenError while another one does."""
    driver = read_driver(connection, session)
    if driver is None or not driver.at_work(now):
        return False
    if driver.holder != holder:
        raise DrivenError(
            f"the session is driven by {_name_driver(driver)}", "end that one first, or look on without driving"
        )
    return True


def require_driven(connection: Connection, session: int, holder: Holder) -> None:
    """Check that ``holder`` drives the session now; DrivenError if not."""
    driver = read_driver(connection, session)
    if driver is None or driver.holder != holder or driver.ended is not None:
        whose = "nobody" if driver is None or driver.ended is not None else _name_driver(driver)
        raise DrivenError(
            f"the session is driven by {whose}, not by this console",
            "claim it before writing to it; what was acknowledged is kept",
        )


def release(connection: Connection, session: int, holder: Holder, *, at: float, complete: bool, because: str) -> None:
    """End the stretch of work of ``holder``; DrivenError when it has none."""
    require_driven(connection, session, holder)
    connection.execute(
        "UPDATE driver SET ended = ?, complete = ?, because = ? WHERE session_id = ? AND token = ? AND ended IS NULL",
        (at, int(complete), replace_surrogates(because), session, holder.token),
    )


def beat(connection: Connection, holder: Holder, now: float) -> None:
    """Note that ``holder`` lives, for every session that it drives."""
    connection.execute(
        "UPDATE driver SET heartbeat = ? WHERE token = ? AND ended IS NULL", (require_finite(now, "now"), holder.token)
    )


def release_all(connection: Connection, holder: Holder, now: float) -> None:
    """End everything that ``holder`` still drives: the console is closing."""
    connection.execute(
        """UPDATE driver SET ended = ?, complete = 0, because = 'the console was closed'
        WHERE token = ? AND ended IS NULL""",
        (require_finite(now, "now"), holder.token),
    )


def find_driver_at_work(connection: Connection, now: float) -> str | None:
    """Who drives any session of this database now, in words; None when nobody does."""
    newest = f"{_DRIVERS} WHERE ended IS NULL AND id IN (SELECT max(id) FROM driver GROUP BY session_id)"  # noqa: S608
    rows = connection.execute(newest)
    return next((_name_driver(driver) for driver in map(parse_driver, rows.fetchall()) if driver.at_work(now)), None)
