"""Prints the summary of a stored session, or an area of the screen."""

import shutil
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchconsole.console.cli import common
from benchconsole.console.cli.shown_area import AREAS, AreaWish, list_filters, read_area, require_fitting
from benchconsole.console.exits import BadInput
from benchconsole.topology.collector import pause_collector

if TYPE_CHECKING:
    from benchconsole.console.tui.queries.area import Area


@click.command("show")
@click.argument("session", default="last")
@click.option("--area", type=click.Choice(AREAS), help="An area of the screen instead of the summary, whole.")
@click.option("--with", "other", default=None, metavar="OTHER", help="With --area compare: the other session.")
@click.option(
    "--by",
    "by",
    default=None,
    metavar="GROUPING[=A:B]",
    help="With --area compare: two parts, as compare --by has them.",
)
@click.option("--node", "node", default=None, metavar="NODE", help="With --area node or history: the node.")
@click.option("--peer", "peer", default=None, metavar="PEER", help="With --area node: the path to this node.")
@click.option("--metric", "metric", default=None, metavar="METRIC", help="With --area plot or history: the metric.")
@click.option(
    "--heat", "heat", default=None, metavar="NAME", help="With --area fabric: a metric or a fact of each node."
)
@click.option("--zoom", "zoom", default=None, metavar="PART", help="With --area fabric: a site, pod, leaf or chassis.")
@click.option(
    "--columns",
    "columns",
    default="",
    metavar="NAMES",
    help="With --area nodes: metrics, facts that nodes told, or of.peers, as K on the screen has them.",
)
@click.option("--filter", "text", default="", metavar="TEXT", help="With --area: what / takes on the screen.")
@common.db_option
@click.option("--json", "as_json", is_flag=True, help="With --area: as JSON, in base units.")
@click.option("--ascii", "ascii_only", is_flag=True, help="Only ASCII characters.")
@pause_collector()
def command(
    session: str, area: str | None, other: str | None, by: str | None, node: str | None, peer: str | None,
    metric: str | None, heat: str | None, zoom: str | None, columns: str, text: str, db: Path | None, as_json: bool,
    ascii_only: bool,
) -> None:  # fmt: skip
    """Print the summary of SESSION (id, label, last, last-1; default last).

    With --area what a tab of the console shows, every row of it: `show --area nodes --filter state!=pass`, or with
    other columns: `show --area nodes --columns default,kernel,memory`.
    The area run tells how far it came, what is held back and what releases it, stages, the tests of its last round and
    events.
    The area node tells of one NODE its results, the path of the worst one to another node (or to PEER), and its facts;
    plot tells the values of each metric, or of one METRIC its histogram, quantiles and bounds; sessions lists all of
    the database; compare holds SESSION against OTHER, the one that began first as A, or two parts of it; history puts
    the numbers of a NODE, or of one METRIC of all nodes, of the last sessions of the same fabric beside each other;
    filters lists those that you keep. The area fabric prints one PART alone with --zoom (`--zoom leaf3`), and with
    --heat the sign of each node in the heat map of a metric or a fact (`--heat stream.triad`).
    """
    ascii_only = ascii_only or not common.can_show_unicode()
    names = tuple(columns.replace(",", " ").split()) if columns else None
    wish = AreaWish(other, by, node, peer, metric, heat, zoom, names)
    require_fitting(area, wish)
    if area is None and (text or as_json):
        option = "filter" if text else "json"
        raise BadInput(f"benchconsole: --{option} without --area, expected one of {', '.join(AREAS)}")
    if area is None:
        from benchconsole.console.reports import ReportOptions

        common.make_report(db, session, "text", ReportOptions(ascii=ascii_only))(sys.stdout)
        return
    if area == "filters":
        whole = list_filters()
    else:
        with common.open_store(db, create=False) as store:
            whole = read_area(store, session, area, wish)
    _print_area(whole, _filter(whole, area, text), as_json=as_json, ascii_only=ascii_only)


def _filter(whole: "Area", name: str, text: str) -> "Area":
    """The rows that the filter keeps. BadInput for one that is not understood."""
    from benchconsole.console.tui.queries.filtering import FilterError

    try:
        return whole.filter(text, partial(_find_saved, name)) if "@" in text else whole.filter(text)
    except FilterError as error:
        raise BadInput(f"benchconsole: --filter: {error}") from None


def _find_saved(area: str, name: str) -> str:
    from benchconsole.console.session.saved_filters import SavedFilters

    return SavedFilters().find(area, name)


def _print_area(whole: "Area", area: "Area", *, as_json: bool, ascii_only: bool) -> None:
    """Print what of the ``whole`` area is asked for."""
    from benchconsole.console.text.cells import to_ascii
    from benchconsole.console.text.table import format_table

    if as_json:
        common.print_json(area.records)
    elif not area.rows:
        click.echo(f"{area.title}: none of {len(whole.rows):,}")
    else:
        lines = format_table(area.table, shutil.get_terminal_size().columns, ascii_only=ascii_only)
        click.echo("\n".join(map(to_ascii, lines) if ascii_only else lines))
