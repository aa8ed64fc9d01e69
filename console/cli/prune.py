"""Removes stored sessions: named ones, old ones, or as many of the oldest as it takes."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchconsole.console.cli import common
from benchconsole.console.exits import BadInput, Exit, complain
from benchconsole.console.session.session_removal import remove_session, split_removable
from benchconsole.topology.units import Unit, UnitError, counted, disk_size, parse

if TYPE_CHECKING:
    from benchconsole.store.session_summary import SessionSummary
    from benchconsole.store.store import Store


@click.command("prune")
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option("--older-than", metavar="TIME", default=None, help='Those that began longer ago: "90 d", "12 h".')
@click.option("--keep", metavar="N", type=click.IntRange(1), default=None, help="All but the newest N.")
@click.option("--to-size", metavar="SIZE", default=None, help='The oldest until the rest takes at most this: "2 GB".')
@click.option("--fabric", metavar="NAME", default=None, help="Only sessions of this fabric.")
@click.option("--dry-run", is_flag=True, help="Name them and stop.")
@click.option("--yes", is_flag=True, help="Remove without asking.")
@common.db_option
def command(
    sessions: tuple[str, ...], older_than: str | None, keep: int | None, to_size: str | None, fabric: str | None,
    dry_run: bool, yes: bool, db: Path | None,
) -> None:  # fmt: skip
    """Remove sessions from the database for good, with all their outputs, verdicts, remarks and reports.

    Several of --older-than, --keep and --to-size remove what each of them names. A session that is running, and one
    that is or was named as baseline, is never removed. The room is free for new sessions; "vacuum" gives it back to
    the disk. Exit codes: 0 done or nothing to do, 2 bad input, 3 you said no.
    """
    if not sessions and (older_than, keep, to_size) == (None, None, None):
        raise BadInput("benchconsole: nothing says which sessions; name some, or --older-than, --keep, --to-size")
    with common.open_store(db, create=False) as store:
        sizes = _measure(store)
        listed = [each for each in store.list_sessions() if fabric in (None, each.fabric)]
        chosen = _find_named(store, listed, sessions, fabric)
        if older_than is not None:
            latest = time.time() - _parse("--older-than", older_than, Unit.SECOND)
            chosen |= {each.id for each in listed if each.started < latest}
        if keep is not None:
            chosen |= {each.id for each in listed[: max(0, len(listed) - keep)]}
        if to_size is not None:
            chosen |= _find_surplus(store, listed, chosen, sizes, _parse("--to-size", to_size, Unit.BYTE))
        leaving, staying = split_removable(store, [each for each in listed if each.id in chosen])
        for each, why in staying:
            complain(f"benchconsole: {each.id} stays: {why}")
        _remove(store, leaving, sizes, dry_run=dry_run, yes=yes)


def _remove(
    store: "Store", leaving: "Sequence[SessionSummary]", sizes: "dict[str, int]", *, dry_run: bool, yes: bool
) -> None:
    for each in leaving:
        click.echo(_describe(each, sizes))
    words = f"{counted(len(leaving), 'session')}, about {disk_size(sum(sizes.get(each.id, 0) for each in leaving))}"
    if dry_run or not leaving:
        click.echo(f"would remove {words}" if leaving else "no session to remove")
        return
    if not (yes or asyncio.run(common.ask_consent(f"remove {words} for good?", "nothing was removed"))):
        raise click.exceptions.Exit(Exit.UNTESTED)
    staying = [(each, why) for each in leaving if (why := remove_session(store, each.id))]
    for each, why in staying:
        complain(f"benchconsole: {each.id} stays: {why}")
    removed = len(leaving) - len(staying)
    click.echo(f"removed {counted(removed, 'session')}; benchconsole vacuum gives the room back to the disk")


def _measure(store: "Store") -> "dict[str, int]":
    from benchconsole.store.reading.integrity import measure_sessions

    return dict(measure_sessions(store.database))


def _find_named(
    store: "Store", listed: "Sequence[SessionSummary]", names: Sequence[str], fabric: str | None
) -> "set[str]":
    keys = {store.find_session(name) for name in names}
    if other := sorted(keys - {each.id for each in listed}):
        raise BadInput(f"benchconsole: session {other[0]} is not of fabric {fabric}; name another, or no --fabric")
    return keys


def _find_surplus(
    store: "Store", listed: "Sequence[SessionSummary]", chosen: "set[str]", sizes: "dict[str, int]", most: float
) -> "set[str]":
    """The oldest sessions that must go beside ``chosen``, so that the rest takes ``most`` bytes of the file."""
    from benchconsole.store.files.maintenance import measure_room

    room = measure_room(store.database)
    # The file also holds indexes and plans: each session has its share of them.
    factor = (room.whole - room.free) / max(sum(sizes.values()), 1)
    left = sum(size for key, size in sizes.items() if key not in chosen) * factor
    found = set()
    for each in split_removable(store, [one for one in listed if one.id not in chosen])[0]:
        if left <= most:
            break
        found.add(each.id)
        left -= sizes.get(each.id, 0) * factor
    return found


def _describe(each: "SessionSummary", sizes: "dict[str, int]") -> str:
    from benchconsole.console.text.sanitize import sanitize

    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(each.started))
    size = disk_size(sizes.get(each.id, 0))
    return f"{each.id:8}  {when}  {size:>8}  {sanitize(each.fabric)}  {sanitize(each.label)}".rstrip()


def _parse(option: str, text: str, unit: Unit) -> float:
    try:
        return parse(text, unit)
    except UnitError as error:
        raise BadInput(f"benchconsole: {option}: {error}") from error
