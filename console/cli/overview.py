"""Puts several stored sessions into one table: numbers with reading beside writing, clauses, checklists, notes."""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from benchconsole.console.cli import common
from benchconsole.console.exits import BadInput
from benchconsole.topology.collector import pause_collector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchconsole.console.conclusions.session_overview import OverviewLine, OverviewSession

FORMATS = ("text", "html", "md", "csv", "json")


@click.command("overview")
@click.argument("sessions", nargs=-1, required=True, metavar="SESSION...")
@click.option(
    "--across", default="operation", metavar="LABEL", help="The label whose values are columns (default operation)."
)
@click.option("--metric", default="", metavar="NAME", help="Only this metric, or those of a probe.")
@click.option("--format", "format_", type=click.Choice(FORMATS), default=None, help="By the file, else text.")
@click.option("--points", metavar="LOW..HIGH", default=None, help="In HTML: only this part of the axes of sweeps.")
@common.output_option
@common.force_option
@common.db_option
@click.option("--ascii", "ascii_only", is_flag=True, help="Only ASCII characters.")
@pause_collector()
def command(
    sessions: tuple[str, ...], across: str, metric: str, format_: str | None, points: str | None,
    output: Path | None, force: bool, db: Path | None, ascii_only: bool,
) -> None:  # fmt: skip
    """Put SESSIONs (id, label, last) into one table: a line for each metric of each, with the remarks on it.

    Below it what came of every criterion and of every step of a checklist, session beside session. The sessions need
    not be of one machine. CSV has the numbers alone; HTML has also the curves of sweeps, those of one metric over one
    axis in one chart.
    """
    from benchconsole.console.conclusions.session_overview import list_overview
    from benchconsole.console.reports import save

    found = _read_sessions(sessions, db)
    lines = list(list_overview(found, across, metric))
    if not lines:
        of = f" of {metric}" if metric else ""
        raise BadInput(f"benchconsole: there is no number{of} in {', '.join(sessions)}")
    suffix = "" if output is None else output.suffix.lstrip(".")
    chosen = format_ or (suffix if suffix in FORMATS else "text")
    is_ascii = ascii_only or not common.can_show_unicode()
    span = _read_span(points, chosen)

    def fill(out: TextIO) -> None:
        if chosen == "html":
            from benchconsole.console.reports.overview_page import write_html

            write_html(found, lines, out, span)
            return
        _write(out, chosen, found, lines, is_ascii=is_ascii)

    if output is None or str(output) == "-":
        fill(sys.stdout)
        return
    save(fill, output, force=force)
    click.echo(f"wrote {output}")


def _read_span(points: str | None, format_: str) -> tuple[float, float] | None:
    """The part of the axes that is asked for; BadInput for what is none, and beside another format."""
    if points is None:
        return None
    low, dots, high = points.partition("..")
    try:
        span = float(low), float(high)
    except ValueError:
        span = 1.0, 0.0
    if not dots or not span[0] <= span[1] or format_ != "html":
        raise BadInput(f"benchconsole: --points {points}, expected LOW..HIGH such as 1..64, and --format html")
    return span


def _read_sessions(names: "Sequence[str]", db: Path | None) -> "list[OverviewSession]":
    """The sessions in the order in which they were named; BadInput for one that is named twice."""
    from benchconsole.console.conclusions.session_overview import OverviewSession
    from benchconsole.store.reading.remark_reading import read_remarks

    probes = common.load_installed_probes()
    with common.open_store(db, create=False) as store:
        keys = [store.find_session(name) for name in names]
        twice = next((name for name, key in zip(names, keys, strict=True) if keys.count(key) > 1), None)
        if twice is not None:
            raise BadInput(f"benchconsole: {twice} is named twice, expected each session once")
        return [
            OverviewSession(common.read_stored_view(store, key, probes), read_remarks(store.session(key)))
            for key in keys
        ]


def _write(
    out: TextIO, format_: str, sessions: "Sequence[OverviewSession]", lines: "Sequence[OverviewLine]", *, is_ascii: bool
) -> None:
    import json

    from benchconsole.console.reports.markdown import format_tables
    from benchconsole.console.reports.overview_page import make_record, make_tables, write_csv
    from benchconsole.console.text.cells import to_ascii
    from benchconsole.console.text.table import format_table

    if format_ == "csv":
        write_csv(lines, out)
    elif format_ == "json":
        out.write(json.dumps(make_record(sessions, lines), indent=1, allow_nan=False) + "\n")
    elif format_ == "md":
        out.write("\n\n".join(format_tables(make_tables(sessions, lines))) + "\n")
    else:
        width = shutil.get_terminal_size().columns
        page = [
            line
            for table in make_tables(sessions, lines)
            if table.rows
            for line in (*format_table(table, width, ascii_only=is_ascii), "")
        ]
        out.write("\n".join(map(to_ascii, page) if is_ascii else page))
