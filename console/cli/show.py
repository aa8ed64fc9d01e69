"""Prints the summary of a stored session."""

import sys
from pathlib import Path

import click

from console.cli.common import db_option, installed, open_store, stored_view, told


@click.command("show")
@click.argument("session", default="last")
@db_option
@click.option("--ascii", "ascii_only", is_flag=True, help="Only ASCII characters.")
def command(session: str, db: Path | None, ascii_only: bool) -> None:
    """Print the summary of SESSION (id, label, last, last-1; default last)."""
    from console.reports import Options, render

    with open_store(db, create=False) as store:
        probes = installed()
        view = stored_view(store, session, probes)
        record = told(store, view, probes)
    encoding = (sys.stdout.encoding or "").lower()
    render("text", view, sys.stdout, Options(ascii=ascii_only or "utf" not in encoding, told=record))
