"""Gives a stored session another label."""

import asyncio
import time
from pathlib import Path

import click

from benchconsole.console.cli import common
from benchconsole.console.exits import BadInput


@click.command("label")
@click.argument("session")
@click.argument("label")
@click.option("--by", default=None, metavar="NAME", help="Who changes it [this account].")
@common.db_option
def command(session: str, label: str, by: str | None, db: Path | None) -> None:
    """Call SESSION (id, label, last) LABEL from now on; "" takes its label away.

    The session notes which label it had and who changed it.
    """
    from benchconsole.console.cli.session_options import find_operator

    who = (by if by is not None else find_operator()).strip()
    if not who or "\n" in who:
        raise BadInput(f"benchconsole: --by {by!r}, expected a name")
    with common.open_store(db, create=False) as store:
        key = store.find_session(session)
        asyncio.run(store.change_label(key, label.strip(), who, time.time()))
    click.echo(f"session {key} is called {label.strip()}" if label.strip() else f"session {key} has no label")
