"""Prints the summary of a stored session."""

import sys
from pathlib import Path

import click

from benchconsole.console.cli.common import can_show_unicode, db_option, make_report
from benchconsole.topology.collector import pause_collector


@click.command("show")
@click.argument("session", default="last")
@db_option
@click.option("--ascii", "ascii_only", is_flag=True, help="Only ASCII characters.")
@pause_collector()
def command(session: str, db: Path | None, ascii_only: bool) -> None:
    """Print the summary of SESSION (id, label, last, last-1; default last)."""
    from benchconsole.console.reports import ReportOptions

    options = ReportOptions(ascii=ascii_only or not can_show_unicode())
    make_report(db, session, "text", options)(sys.stdout)
