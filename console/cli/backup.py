"""Copies the database while it is in use."""

from pathlib import Path

import click

from benchconsole.console.cli import common


@click.command("backup")
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
@common.db_option
def command(target: Path, db: Path | None) -> None:
    """Copy the database to TARGET, whole, also while a run writes to it.

    A file that is there is never replaced. Every page of the copy is read afterwards. The copy is a database like any
    other: name it with --db.
    """
    from benchconsole.store.files.maintenance import back_up
    from benchconsole.topology.units import counted, disk_size

    with common.open_store(db, create=False) as store:
        back_up(store.database, target.absolute())
        click.echo(f"{target}: {counted(len(store.list_sessions()), 'session')}, {disk_size(target.stat().st_size)}")
