"""Owns the third step: how many outputs a result has, and how long they took, is told without reading them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database


def change(db: "Database") -> None:
    """The whole step."""
    db.execute("DROP INDEX IF EXISTS output_of")
    db.execute("CREATE INDEX output_lengths ON output (result_id, seconds)")
