"""Owns the fifth step: checklists of what is checked by hand or by script, every change of a step, its evidence."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database

_STATEMENTS = (
    """CREATE TABLE checklist (             -- a checklist as it was read; the last row of a name counts
        id INTEGER PRIMARY KEY,
        session_id INTEGER NOT NULL REFERENCES session (id),
        name TEXT NOT NULL,
        source TEXT NOT NULL,
        file TEXT NOT NULL,               -- as it was written
        at REAL NOT NULL
    )""",
    "CREATE INDEX checklist_of ON checklist (session_id, id)",
    """CREATE TABLE checklist_step (        -- in order of id within a checklist
        id INTEGER PRIMARY KEY,
        checklist_id INTEGER NOT NULL REFERENCES checklist (id),
        key TEXT NOT NULL,
        text TEXT NOT NULL,
        clause TEXT NOT NULL,
        argv TEXT NOT NULL,               -- JSON array; empty: done by hand
        seconds REAL NOT NULL,            -- how long the command may take
        UNIQUE (checklist_id, key)
    )""",
    """CREATE TABLE checklist_mark (        -- what was said of a step; the last row of a step counts
        id INTEGER PRIMARY KEY,
        step_id INTEGER NOT NULL REFERENCES checklist_step (id),
        state TEXT NOT NULL CHECK (state IN ('pass', 'fail', 'not done', 'not applicable')),
        note TEXT NOT NULL,
        who TEXT NOT NULL,
        at REAL NOT NULL
    )""",
    "CREATE INDEX checklist_mark_of ON checklist_mark (step_id, id)",
    """CREATE TABLE checklist_attachment (  -- evidence, byte for byte
        id INTEGER PRIMARY KEY,
        mark_id INTEGER NOT NULL REFERENCES checklist_mark (id),
        name TEXT NOT NULL,
        sha256 TEXT NOT NULL,             -- hex
        content BLOB NOT NULL
    )""",
    "CREATE INDEX checklist_attachment_of ON checklist_attachment (mark_id)",
)


def change(db: "Database") -> None:
    """The whole step."""
    for statement in _STATEMENTS:
        db.execute(statement)
