"""Care for a database file: its room, a copy while it is in use, and giving free room back to the disk."""

from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from benchconsole.store.errors import DrivenError
from benchconsole.store.files.connection import Mode, connect, translate_errors
from benchconsole.store.files.database import Database
from benchconsole.store.files.ownership import find_driver_at_work
from benchconsole.store.files.upgrade import copy_into
from benchconsole.store.sqlite import Connection


class FileRoom(NamedTuple):
    """Bytes of a file, and how many of them are free for what is stored next."""

    whole: int
    free: int


def measure_room(database: Database) -> FileRoom:
    """How large a file is, by its pages."""
    with database.reading() as connection:
        page, pages, free = (
            int(connection.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_size", "page_count", "freelist_count")
        )
    return FileRoom(page * pages, page * free)


def back_up(database: Database, target: Path) -> None:
    """Write a copy to ``target``, mode 0600, while others may go on; every page of it is read before it has its name.

    TakenError where something has that name, FullError without room for it, DamagedError for a copy that is not whole.
    """
    database.require_in_place()
    with translate_errors(database.path), closing(connect(database.path, Mode.WRITE, busy=database.busy)) as connection:
        copy_into(connection, target)


def vacuum(database: Database) -> None:
    """Give free room back to the disk; needs as much room again meanwhile. DrivenError while a session runs."""
    with database.writing() as connection:
        _require_idle(connection, database)
        connection.execute("VACUUM")
        (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
        if journal == "wal":
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _require_idle(connection: Connection, database: Database) -> None:
    """DrivenError while anybody drives a session of this file: who writes would wait for as long as this takes."""
    who = find_driver_at_work(connection, database.clock())
    if who is not None:
        raise DrivenError(f"{who} is writing to it", "wait for the end of its session", database.path)
