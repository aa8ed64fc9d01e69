"""Judges a stored session again."""

import asyncio
import sys
from pathlib import Path

import click

from benchconsole.console.cli import common
from benchconsole.console.view.totals import exit_code


@click.command("judge")
@click.argument("session", default="last")
@click.option(
    "--criteria",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    default=None,
    metavar="TOPOLOGY",
    help="Take the criteria of this topology file.",
)
@common.db_option
def command(session: str, criteria: Path | None, db: Path | None) -> None:  # fmt: skip
    """Judge the stored measurements of SESSION again. No node is touched.

    The earlier verdicts stay in the database; the new ones count from now on. The exit codes
    are those of run.
    """
    from benchconsole.console.reports import ReportOptions, render
    from benchconsole.console.session.judged_rounds import judge_again

    probes = common.load_installed_probes()
    with common.open_store(db, create=False) as store:
        key = store.find_session(session)
        asyncio.run(judge_again(store, key, probes, common.read_topology(criteria, probes) if criteria else None))
        view = common.read_stored_view(store, key, probes)
    render("text", view, sys.stdout, ReportOptions())
    raise click.exceptions.Exit(exit_code(view))
