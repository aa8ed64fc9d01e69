"""Judges a stored session again."""

import asyncio
import sys
from pathlib import Path

import click

from console.cli.common import db_option, installed, open_store, read_topology, stored_view


@click.command("judge")
@click.argument("session", default="last")
@click.option(
    "--criteria",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    default=None,
    metavar="TOPOLOGY",
    help="Take the criteria of this topology file.",
)
@db_option
def command(session: str, criteria: Path | None, db: Path | None) -> None:  # fmt: skip
    """Judge the stored measurements of SESSION again. No node is touched.

    The earlier verdicts stay in the database; the new ones count from now on. The exit codes
    are those of run.
    """
    from console.reports import Options, render
    from console.session import Session
    from console.view import exit_code

    probes = installed()
    with open_store(db, create=False) as store:
        stored = Session.stored(store, session, probes)
        asyncio.run(stored.judge_again(read_topology(criteria, probes) if criteria else None))
        view = stored_view(store, session, probes)
    render("text", view, sys.stdout, Options())
    raise click.exceptions.Exit(exit_code(view))
