"""Owns the fourth step: what a test is labelled with, and which point of a sweep a round measures."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database


def change(db: "Database") -> None:
    """The whole step."""
    db.execute("ALTER TABLE test ADD COLUMN labels TEXT NOT NULL DEFAULT '[]'")  # JSON array of pairs
    db.execute("ALTER TABLE round ADD COLUMN swept TEXT NOT NULL DEFAULT ''")  # JSON object; empty: of no sweep
