"""Compares two stored sessions, or two parts of one, metric by metric."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchconsole.console.cli import common
from benchconsole.console.exits import BadInput, Exit
from benchconsole.topology.collector import pause_collector

if TYPE_CHECKING:
    from benchconsole.console.reports.comparison_page import ComparisonReport


@click.command("compare")
@click.argument("session")
@click.argument("other", required=False)
@click.option(
    "--by",
    metavar="GROUPING[=A:B]",
    help="Two parts of one session: a cohort dimension, class, switch, rack ...; which two, where there are more.",
)
@click.option("--metric", default="", metavar="NAME", help="Only this metric, or those of a probe.")
@click.option(
    "--varied", multiple=True, metavar="NAME", help="A label or an option that was meant to differ. Repeat for more."
)
@click.option("--unpaired", is_flag=True, help="Compare other nodes or other machines, as two groups.")
@click.option(
    "--same", default="2 %", metavar="SHARE", help="Within this share two metrics are the same (default 2 %)."
)
@click.option(
    "--spread", metavar="SHARE", help="Assume that single values spread so (standard deviation), where nothing tells."
)
@click.option(
    "--map",
    "as_map",
    is_flag=True,
    help="How each node or pair changed: a map of each metric, or of that of --metric, with the outcomes of the table.",
)
@common.db_option
@common.json_option
@click.option("--ascii", "ascii_only", is_flag=True, help="Only ASCII characters.")
@pause_collector()
def command(
    session: str, other: str | None, by: str | None, metric: str, varied: tuple[str, ...], unpaired: bool,
    same: str, spread: str | None, as_map: bool, db: Path | None, as_json: bool, ascii_only: bool,
) -> None:  # fmt: skip
    """Compare OTHER against SESSION (id, label, last, last-1, baseline), or two parts of SESSION with --by.

    Each metric is better, worse, the same, without effect, mixed or not comparable. Exit code 1 where one is worse or
    mixed, 3 where nothing could be compared.
    """
    from benchconsole.console.conclusions.session_comparison import ComparisonChoice, Outcome
    from benchconsole.console.session.stored_comparison import (
        ComparisonError,
        compare_session_parts,
        compare_sessions,
        explain_nothing,
        list_senses,
    )

    if (other is None) == (by is None):
        found = "one session" if other is None else "two sessions and --by"
        raise BadInput(f"benchconsole: compare: found {found}, expected a second session or --by GROUPING")
    if as_map and (by is not None or unpaired):
        raise BadInput("benchconsole: --map shows how each node changed, and these are other nodes; expected no "
                       f"{'--by' if by is not None else '--unpaired'}")  # fmt: skip
    near = _read_share("--same", same)
    assumed = None if spread is None else _read_share("--spread", spread)
    probes = common.load_installed_probes()
    choice = ComparisonChoice(list_senses(probes), frozenset(varied), unpaired, near, metric, assumed)
    with common.open_store(db, create=False) as store:
        try:
            report = compare_sessions(store, session, other, probes, choice) if other is not None else (
                compare_session_parts(store, session, by or "", probes, choice)
            )  # fmt: skip
        except ComparisonError as error:
            raise BadInput(f"benchconsole: {'--' if by is not None else ''}{error}") from None
    if not report.metrics:
        raise BadInput(f"benchconsole: {explain_nothing(report.names, metric)}")
    _print(report, as_map=as_map, as_json=as_json, ascii_only=ascii_only)
    outcomes = {each.outcome for each in report.metrics}
    if outcomes & {Outcome.WORSE, Outcome.MIXED}:
        raise SystemExit(Exit.BELOW)
    if outcomes == {Outcome.NOT_COMPARABLE}:
        raise SystemExit(Exit.UNTESTED)


def _print(report: "ComparisonReport", *, as_map: bool, as_json: bool, ascii_only: bool) -> None:
    """The page or the maps, or either as JSON; BadInput where no metric has a map."""
    from benchconsole.console.reports.comparison_page import format_page, make_record
    from benchconsole.console.text.cells import to_ascii
    from benchconsole.console.tui.queries.change_map_text import format_maps, make_map_record

    if as_json:
        common.print_json(make_map_record(report) if as_map else make_record(report))
        return
    width = shutil.get_terminal_size().columns
    page = list(format_maps(report, width) if as_map else format_page(report, width))
    if not page:
        raise BadInput("benchconsole: --map: no metric of nodes or of pairs was compared")
    is_ascii = ascii_only or not common.can_show_unicode()
    click.echo("\n".join(map(to_ascii, page) if is_ascii else page).rstrip())


def _read_share(option: str, text: str) -> float:
    from benchconsole.topology.units import UnitError, parse_percentage

    try:
        return parse_percentage(text, "a percentage such as 2 %")
    except UnitError as error:
        raise BadInput(f"benchconsole: {option}: {error}") from None
