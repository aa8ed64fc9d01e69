"""Exports a stored session."""

import sys
from pathlib import Path

import click

from benchconsole import __version__
from benchconsole.console.cli.common import db_option, force_option, make_report, output_option
from benchconsole.console.exits import BadInput
from benchconsole.topology.collector import pause_collector


@click.command("report")
@click.argument("session", default="last")
@click.option("--format", "format_", default=None, metavar="FORMAT", help="html, md, csv, json or text.")
@output_option
@force_option
@click.option(
    "--operator", default="", metavar="NAME", help="Who is responsible for the session; printed in the title."
)
@click.option("--raw-csv", is_flag=True, help="CSV without the guard against spreadsheet formulas.")
@click.option("--ascii", "ascii_only", is_flag=True, help="Only ASCII characters, in text.")
@db_option
@pause_collector()
def command(
    session: str, format_: str | None, output: Path | None, force: bool, operator: str, raw_csv: bool,
    ascii_only: bool, db: Path | None,
) -> None:  # fmt: skip
    """Export SESSION (id, label, last; default last).

    Without --format the ending of the file decides; without a file, text goes to standard output.
    """
    from benchconsole.console.reports import FORMATS, ReportOptions, find_renderer, save

    named = next((name for name, known in FORMATS.items() if output and output.suffix == known.suffix), None)
    if output is not None and output.suffix and named is None and format_ is None:
        endings = ", ".join(f"{known.suffix} ({name})" for name, known in FORMATS.items())
        raise BadInput(f"found the ending {output.suffix} of {output}, expected one of {endings}; or name a --format")
    chosen = format_ or named or "text"
    find_renderer(chosen)
    fill = make_report(db, session, chosen, ReportOptions(operator, __version__, ascii_only, raw_csv=raw_csv))
    if output is None or str(output) == "-":
        fill(sys.stdout)
        return
    save(fill, output, force=force)
    click.echo(f"wrote {output}")
