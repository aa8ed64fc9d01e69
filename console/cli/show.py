"""Prints the summary of a stored session."""

import sys
from pathlib import Path

import click

from benchconsole.console.cli.common import (
    db_option,
    load_installed_probes,
    open_store,
    read_session_record,
    read_stored_view,
)


@click.command("show")
@click.argument("session", default="last")
@db_option
@click.option("--ascii", "ascii_only", is_flag=True, help="Only ASCII characters.")
def command(session: str, db: Path | None, ascii_only: bool) -> None:
    """Print the summary of SESSION (id, label, last, last-1; default last)."""
    from benchconsole.console.reports import ReportOptions, render

    with open_store(db, create=False) as store:
        probes = load_installed_probes()
        view = read_stored_view(store, session, probes)
        record = read_session_record(store, view, probes)
    encoding = (sys.stdout.encoding or "").lower()
    render("text", view, sys.stdout, ReportOptions(ascii=ascii_only or "utf" not in encoding, details=record))
