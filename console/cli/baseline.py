"""Names the session that later ones of a machine are held against, or takes that back."""

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchconsole.console.cli import common
from benchconsole.console.exits import BadInput

if TYPE_CHECKING:
    from benchconsole.store.store import Store


@click.command("baseline")
@click.argument("session", required=False)
@click.option("--drop", metavar="FABRIC", default=None, help="Hold sessions of this machine against none any more.")
@click.option("--by", default=None, metavar="NAME", help="Who decides it [this account].")
@common.db_option
@common.json_option
def command(session: str | None, drop: str | None, by: str | None, db: Path | None, as_json: bool) -> None:
    """Name SESSION (id, label, last) as the baseline of its machine; without SESSION list the baselines.

    Criteria with "of: baseline" hold later sessions against it, node by node, and "compare baseline last" compares
    with it. It is the topology's name that tells the machine. Sessions that began before keep the baseline that they
    had.
    """
    from benchconsole.console.cli.session_options import find_operator

    if session is not None and drop is not None:
        raise BadInput("benchconsole: --drop with SESSION: name the one or drop the other")
    who = (by if by is not None else find_operator()).strip()
    if not who or "\n" in who:
        raise BadInput(f"benchconsole: --by {by!r}, expected a name")
    with common.open_store(db, create=False) as store:
        if session is not None:
            key = store.find_session(session)
            _require_tested(store, key)
            asyncio.run(store.name_baseline(key, who, time.time()))
        elif drop is not None:
            if store.find_baseline(drop) is None:
                raise BadInput(f"benchconsole: --drop {drop}: no session is named as baseline of it")
            asyncio.run(store.drop_baseline(drop, who, time.time()))
        _list_baselines(store, as_json=as_json)


def _require_tested(store: "Store", key: str) -> None:
    """BadInput for a session that has no result, or that still runs: nothing can be held against it."""
    found = next(each for each in store.list_sessions() if each.id == key)
    if found.ended is None:
        raise BadInput(f"benchconsole: session {key} is {found.state.value}, expected one that came to its end")
    if not found.tested:
        raise BadInput(f"benchconsole: session {key} has no result, expected one that measured something")


def _list_baselines(store: "Store", *, as_json: bool) -> None:
    from benchconsole.console.text.sanitize import sanitize
    from benchconsole.console.view.wording import format_moment

    found = [(each, store.find_baseline(each.fabric)) for each in store.list_sessions() if each.is_baseline]
    named = [(each, base) for each, base in found if base is not None]
    if as_json:
        common.print_json(
            [
                {"fabric": each.fabric, "session": each.id, "label": each.label, "by": base.by, "at": base.at}
                for each, base in named
            ]
        )
        return
    for each, base in named:
        label = f" {each.label}" if each.label else ""
        click.echo(sanitize(f"{each.fabric}: session {each.id}{label}, named by {base.by}, {format_moment(base.at)}"))
    if not named:
        click.echo("no session is named as baseline; benchconsole baseline SESSION names one")
