"""Prints the statistics of stored sessions: n, mean, deviation, interval, percentiles, by node, class or cohort."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchconsole.console.cli import common
from benchconsole.console.exits import BadInput
from benchconsole.topology.collector import pause_collector
from benchconsole.topology.errors import find_near

if TYPE_CHECKING:
    from benchconsole.console.view.run_view import RunView


@click.command("statistics")
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option(
    "--by", multiple=True, metavar="GROUPING", help="Part each metric: class, node, switch, rack, a cohort dimension."
)
@click.option("--metric", default="", metavar="NAME", help="Only this metric, or those of a probe.")
@common.db_option
@common.json_option
@click.option("--ascii", "ascii_only", is_flag=True, help="Only ASCII characters.")
@pause_collector()
def command(
    sessions: tuple[str, ...], by: tuple[str, ...], metric: str, db: Path | None, as_json: bool, ascii_only: bool
) -> None:
    """Print the statistics of every metric of SESSION (id, label, last; default last); of several, one after the other.

    Without --by: of all numbers, and by classes and cohorts where there are several.
    """
    from benchconsole.console.conclusions.statistic_lines import list_statistics, list_typed
    from benchconsole.console.reports.content import find_name
    from benchconsole.console.reports.statistics_section import format_statistics, make_record, make_typed_record
    from benchconsole.console.text.cells import to_ascii

    probes = common.load_installed_probes()
    with common.open_store(db, create=False) as store:
        views = [common.read_stored_view(store, store.find_session(name), probes) for name in sessions or ("last",)]
    for view in views:
        _require_groupings(view, by)
    found = [(view, list(list_statistics(view, by or None, metric)), list(list_typed(view, metric))) for view in views]
    if not any(lines or typed for _, lines, typed in found):
        of = f" of {metric}" if metric else ""
        raise BadInput(f"benchconsole: there is no number{of} in {', '.join(sessions) or 'the last session'}")
    if as_json:
        common.print_json([
            {"session": view.session, "statistics": make_record(lines), "typed": make_typed_record(typed)}
            for view, lines, typed in found
        ])  # fmt: skip
        return
    width = shutil.get_terminal_size().columns
    ascii_only = ascii_only or not common.can_show_unicode()
    for view, lines, typed in found:
        if len(found) > 1:
            click.echo(find_name(view))
        page = format_statistics(lines, typed, width)
        click.echo("\n".join(map(to_ascii, page) if ascii_only else page))


def _require_groupings(view: "RunView", by: Sequence[str]) -> None:
    from benchconsole.console.conclusions.statistic_lines import list_groupings

    known = tuple(list_groupings(view.fabric))
    for name in by:
        if name not in known:
            near = find_near(name, known)
            hint = f", did you mean {near}?" if near else ""
            raise BadInput(f"benchconsole: --by {name}: no such grouping, expected one of {', '.join(known)}{hint}")
