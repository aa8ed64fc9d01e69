"""Exports a stored session."""

import sys
from pathlib import Path

import click

from console.cli.common import db_option, installed, open_store, stored_view


@click.command("report")
@click.argument("session", default="last")
@click.option("--format", "format_", default=None, metavar="FORMAT", help="html, md, csv, json or text.")
@click.option("-o", "--output", type=click.Path(path_type=Path, allow_dash=True), default=None, help="File, or -.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@db_option
def command(session: str, format_: str | None, output: Path | None, force: bool, db: Path | None) -> None:
    """Export SESSION (id, label, last; default last).

    Without --format the ending of the file decides; without a file, text goes to standard output.
    """
    from console.reports import FORMATS, Options, render, write

    named = next((name for name, known in FORMATS.items() if output and output.suffix == known.suffix), None)
    chosen = format_ or named or "text"
    with open_store(db, create=False) as store:
        view = stored_view(store, session, installed())
    if output is None or str(output) == "-":
        render(chosen, view, sys.stdout, Options())
        return
    write(chosen, view, output, Options(), force=force)
    click.echo(f"wrote {output}")
