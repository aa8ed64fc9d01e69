"""Gives the room of removed sessions back to the disk."""

from pathlib import Path

import click

from benchconsole.console.cli import common


@click.command("vacuum")
@common.db_option
def command(db: Path | None) -> None:
    """Give free room of the database back to the disk; the file is written anew, which needs its room once more.

    Not while a session runs (exit code 2).
    """
    from benchconsole.store.files.maintenance import measure_room, vacuum
    from benchconsole.topology.units import disk_size

    with common.open_store(db, create=False) as store:
        before = measure_room(store.database).whole
        vacuum(store.database)
        click.echo(f"{store.path}: {disk_size(before)} before, {disk_size(measure_room(store.database).whole)} now")
