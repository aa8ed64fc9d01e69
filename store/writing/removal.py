"""Removing a whole session: every row that hangs on it, whatever table it stands in, in one transaction.

The tables are found by what refers to what, so that one that a later shape adds is not forgotten.
"""

from collections.abc import Iterator, Mapping

from benchconsole.store.errors import ConflictError, DrivenError
from benchconsole.store.files.ownership import read_driver
from benchconsole.store.schema import tables
from benchconsole.store.sqlite import Connection

_ROOT = "session"


def require_removable(connection: Connection, session: int, now: float) -> None:
    """Check that a session may go: DrivenError while it runs, ConflictError where others were held against it."""
    driver = read_driver(connection, session)
    if driver is not None and driver.at_work(now):
        raise DrivenError("the session is running", "end it first, or leave it")
    if connection.execute("SELECT 1 FROM baseline WHERE session_id = ?", (session,)).fetchone():
        raise ConflictError("the session is or was a baseline", "leave it: others are held against it")


def remove_session(connection: Connection, session: int) -> None:
    """Delete the session with this number. Call it inside a transaction, with ``foreign_keys`` off.

    Where they are on SQLite looks for the children of each row that goes, and most of them have no index for that.
    """
    for table, condition in _list_dependents(connection):
        connection.execute(f"DELETE FROM {table} WHERE {condition}", (session,))  # noqa: S608 - names of ours
    connection.execute(f"DELETE FROM {_ROOT} WHERE id = ?", (session,))  # noqa: S608


def _list_dependents(connection: Connection) -> Iterator[tuple[str, str]]:
    """Each table whose rows hang on a session, children first, with the condition for those of one session."""
    parents = {
        table: [(column, parent) for _, _, parent, column, *_ in _list_references(connection, table)]
        for table in tables.columns()
    }
    depths = _measure_depths(parents)
    for table in sorted(depths, key=lambda name: -depths[name]):
        if table != _ROOT:
            yield table, _make_condition(table, parents, depths)


def _list_references(connection: Connection, table: str) -> list[tuple[str, ...]]:
    """In the order in which the table names them: the first of several leads by an index."""
    return connection.execute("SELECT * FROM pragma_foreign_key_list(?) ORDER BY id DESC", (table,)).fetchall()


def _measure_depths(parents: Mapping[str, list[tuple[str, str]]]) -> dict[str, int]:
    """The longest way from each table to a session, by references; tables without one are left out."""
    depths = {_ROOT: 0}
    for _ in parents:
        for table, references in parents.items():
            above = [depths[parent] for _, parent in references if parent in depths]
            if above and table != _ROOT:
                depths[table] = max(above) + 1
    return depths


def _make_condition(table: str, parents: Mapping[str, list[tuple[str, str]]], depths: Mapping[str, int]) -> str:
    """``result_id IN (SELECT id FROM result WHERE ...)``, by the shortest way up."""
    column, parent = min(
        ((column, parent) for column, parent in parents[table] if parent in depths), key=lambda pair: depths[pair[1]]
    )
    if parent == _ROOT:
        return f"{column} = ?"
    return f"{column} IN (SELECT id FROM {parent} WHERE {_make_condition(parent, parents, depths)})"  # noqa: S608
