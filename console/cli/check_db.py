"""Reads the whole database and says whether it is what was stored."""

from itertools import islice
from pathlib import Path

import click

from benchconsole.console.cli import common
from benchconsole.console.exits import Exit

_MOST = 50


@click.command("check-db")
@common.db_option
def command(db: Path | None) -> None:
    """Read every page and every output of the database, and hold outputs against their checksums.

    Exit codes: 0 it is what was stored, 1 something is damaged, 2 it cannot be read at all.
    """
    from benchconsole.console.text.sanitize import sanitize
    from benchconsole.store.files.maintenance import measure_room
    from benchconsole.store.reading.integrity import count_outputs, find_damage
    from benchconsole.topology.units import disk_size

    with common.open_store(db, create=False) as store:
        damages = list(islice(find_damage(store.database), _MOST + 1))
        for words in damages[:_MOST]:
            click.echo(f"damaged: {sanitize(words)}")
        if damages:
            more = "; there is more" if len(damages) > _MOST else ""
            click.echo(f"keep this file, and go on from a backup{more}")
            raise click.exceptions.Exit(Exit.BELOW)
        room, (outputs, unsummed) = measure_room(store.database), count_outputs(store.database)
        size = f"{disk_size(room.whole)}, of which {disk_size(room.free)} free"
        words = f"{store.path}: whole; {size}; {outputs:,} outputs"
        older = f", {unsummed:,} of them without a checksum, stored by an older program" if unsummed else ""
        click.echo(words + older)
