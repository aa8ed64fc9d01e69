"""Brings back what a console kept in a spool while the database refused. Touches no node."""

import asyncio
from pathlib import Path

import click

from benchconsole.console.cli.common import db_option, open_store
from benchconsole.console.exits import Exit, complain
from benchconsole.store.errors import StoreError
from benchconsole.store.model import SpoolImport
from benchconsole.store.spool.spool_file import find_spools
from benchconsole.store.store import Store
from benchconsole.topology.units import counted as count


@click.command("import-spool")
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path(path_type=Path, dir_okay=False))
@db_option
def command(files: tuple[Path, ...], db: Path | None) -> None:
    """Bring the results of spool FILEs back into the database; without a FILE, all that wait for it.

    A spool keeps what a run had finished while its database was full, locked or gone. Each record
    comes back once, however often a file is imported; a file of ours is removed when everything of
    it is committed. Lines that no console can have written are refused one by one, and the file is
    kept. A file of which nothing can be read is told, and the others come back. Exit code 0:
    everything is there; 3: something was refused; 2: nothing of a file could be read.
    """
    with open_store(db, create=False) as store:
        chosen = files or find_spools(store.path)
        if not chosen:
            click.echo(f"nothing waits to be imported into {store.path}")
            return
        ends = [_import_spool(store, file) for file in chosen]
    raise click.exceptions.Exit(next((end for end in _WORST_FIRST if end in ends), Exit.PASSED))


_WORST_FIRST = (Exit.BAD_INPUT, Exit.UNTESTED)


def _import_spool(store: Store, file: Path) -> Exit:
    """Bring one file back and tell it. StoreError where the database itself refuses, as it would the others."""
    try:
        found = asyncio.run(store.import_spool(file))
    except StoreError as error:
        if error.to_spool:
            raise
        complain(f"benchconsole: {error}")
        return Exit.BAD_INPUT
    click.echo(f"{file}: {_format_import(found)}")
    for refused in found.refused:
        complain(f"line {refused.line} is refused: {refused.why}")
    if found.refused:
        complain(f"the file is kept as {found.kept}")
    return Exit.UNTESTED if found.refused else Exit.PASSED


def _format_import(found: SpoolImport) -> str:
    parts = [count(found.results, "result"), count(found.rounds, "round")]
    if found.others:
        parts.append(count(found.others, "other record"))
    known = f"; {count(found.known, 'record')} known already" if found.known else ""
    return f"{', '.join(parts)} came back{known}"
