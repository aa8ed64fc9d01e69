"""Lists the stored sessions. Imports nothing heavy: it answers at once, on any terminal."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchconsole.console.cli.common import db_option, json_option, print_json

if TYPE_CHECKING:
    from benchconsole.store.session_summary import SessionSummary


@click.command("sessions")
@db_option
@json_option
@click.option("--size", "with_size", is_flag=True, help="How much each holds of the file, which is read whole.")
def command(db: Path | None, as_json: bool, with_size: bool) -> None:
    """List the stored sessions, newest first.

    The id, the label, and last, last-1 ... name a session in other commands.
    """
    from msgspec import to_builtins

    from benchconsole.console.session.listed_verdict import list_verdict
    from benchconsole.store.files.paths import default_path

    path = db or default_path()
    found = read_sessions(path)
    sizes = _read_sizes(path) if with_size and found else {}
    if as_json:
        own = ({"bytes": sizes.get(each.id, 0)} if with_size else {} for each in found)
        print_json([{**to_builtins(each), **more} for each, more in zip(found, own, strict=True)])
        return
    if not found:
        click.echo("no session yet; benchconsole demo makes one, benchconsole run TOPOLOGY another")
        return
    click.echo(
        f"{'id':8}  {'label':16} {'fabric':12} {'when':16} {'tested':>13}{_fit_size('holds', with_size)}  verdict"
    )
    for each in reversed(found):
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(each.started))
        tested = f"{each.tested:,} of {each.planned:,}"
        state = "" if each.state.value != "interrupted" else "  (interrupted)"
        badge = "  SIMULATED" if each.simulated else ""
        names = f"{_fit_text(each.label, 16)} {_fit_text(each.fabric, 12)}"
        badge += "  baseline" if each.is_baseline else ""
        size = _fit_size(_format_size(sizes.get(each.id, 0)), with_size)
        words = _make_plain(list_verdict(each).words)
        click.echo(f"{each.id:8}  {names} {when} {tested:>13}{size}  {words}{state}{badge}")


def _read_sizes(path: Path) -> "Mapping[str, int]":
    from benchconsole.store.files.database import Database
    from benchconsole.store.reading.integrity import measure_sessions

    return measure_sessions(Database.open(path, create=False))


def _fit_size(text: str, is_wanted: bool) -> str:
    return f" {text:>8}" if is_wanted else ""


def _format_size(size: int) -> str:
    from benchconsole.topology.units import disk_size

    return disk_size(size)


def read_sessions(path: Path) -> "tuple[SessionSummary, ...]":
    """The sessions in a database, oldest first; a file that is not there has none."""
    from benchconsole.store.files.database import Database
    from benchconsole.store.reading.session_list import list_sessions

    return list_sessions(Database.open(path), time.time()) if path.exists() else ()


def _make_plain(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _fit_text(text: str, width: int) -> str:
    clean = _make_plain(text)
    return clean[: width - 1].ljust(width - 1) + ("…" if len(clean) >= width else " ")
