"""Prints the summary of a stored session, or an area of the screen."""

import shutil
import sys
from pathlib import Path

import click

from benchconsole.console.cli import common
from benchconsole.console.exits import BadInput
from benchconsole.topology.collector import pause_collector

AREAS = ("nodes", "links", "findings", "rounds", "pairs", "results", "curves", "criteria")


@click.command("show")
@click.argument("session", default="last")
@click.option("--area", type=click.Choice(AREAS), help="An area of the screen instead of the summary, whole.")
@click.option("--filter", "text", default="", metavar="TEXT", help="With --area: what / takes on the screen.")
@common.db_option
@click.option("--json", "as_json", is_flag=True, help="With --area: as JSON, in base units.")
@click.option("--ascii", "ascii_only", is_flag=True, help="Only ASCII characters.")
@pause_collector()
def command(session: str, area: str | None, text: str, db: Path | None, as_json: bool, ascii_only: bool) -> None:
    """Print the summary of SESSION (id, label, last, last-1; default last).

    With --area what a tab of the console shows, every row of it: `show --area nodes --filter state!=pass`.
    """
    ascii_only = ascii_only or not common.can_show_unicode()
    if area is not None:
        _show_area(session, area, text, db, as_json=as_json, ascii_only=ascii_only)
        return
    if text or as_json:
        raise BadInput(
            f"benchconsole: --{'filter' if text else 'json'} without --area, expected one of {', '.join(AREAS)}"
        )
    from benchconsole.console.reports import ReportOptions

    common.make_report(db, session, "text", ReportOptions(ascii=ascii_only))(sys.stdout)


def _show_area(session: str, name: str, text: str, db: Path | None, *, as_json: bool, ascii_only: bool) -> None:
    from benchconsole.console.text.cells import to_ascii
    from benchconsole.console.text.table import format_table
    from benchconsole.console.tui.queries import areas
    from benchconsole.console.tui.queries.filtering import FilterError

    with common.open_store(db, create=False) as store:
        view = common.read_stored_view(store, session, common.load_installed_probes())
    whole = areas.AREAS[name](view)
    try:
        area = whole.filter(text)
    except FilterError as error:
        raise BadInput(f"benchconsole: --filter: {error}") from None
    if as_json:
        common.print_json(area.records)
        return
    if not area.rows:
        click.echo(f"{area.title}: none of {len(whole.rows):,}")
        return
    lines = list(format_table(area.table, shutil.get_terminal_size().columns, ascii_only=ascii_only))
    click.echo("\n".join(map(to_ascii, lines) if ascii_only else lines))
