"""Lists the stored sessions. Imports nothing heavy: it answers at once, on any terminal."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchconsole.console.cli.common import db_option, json_option, print_json

if TYPE_CHECKING:
    from benchconsole.store.model import SessionSummary


@click.command("sessions")
@db_option
@json_option
def command(db: Path | None, as_json: bool) -> None:
    """List the stored sessions, newest first.

    The id, the label, and last, last-1 ... name a session in other commands.
    """
    from dataclasses import asdict

    from benchconsole.store.files.paths import default_path

    found = read_sessions(db or default_path())
    if as_json:
        print_json([asdict(each) for each in found])
        return
    if not found:
        click.echo("no session yet; benchconsole demo makes one, benchconsole run TOPOLOGY another")
        return
    click.echo(f"{'id':8}  {'label':16} {'fabric':12} {'when':16} {'tested':>13}  verdict")
    for each in reversed(found):
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(each.started))
        tested = f"{each.tested:,} of {each.planned:,}"
        badge = "  SIMULATED" if each.simulated else ""
        names = f"{_fit_text(each.label, 16)} {_fit_text(each.fabric, 12)}"
        click.echo(f"{each.id:8}  {names} {when} {tested:>13}  {_format_verdict(each)}{badge}")


def read_sessions(path: Path) -> "tuple[SessionSummary, ...]":
    """The sessions in a database, oldest first; a file that is not there has none."""
    from benchconsole.store.files.database import Database
    from benchconsole.store.reading.session_list import list_sessions

    return list_sessions(Database.open(path), time.time()) if path.exists() else ()


def _fit_text(text: str, width: int) -> str:
    clean = "".join(letter if letter.isprintable() else "?" for letter in text)
    return clean[: width - 1].ljust(width - 1) + ("…" if len(clean) >= width else " ")


def _format_verdict(each: "SessionSummary") -> str:
    counts = (each.fails, each.watches, each.unknowns, each.unreachable, each.failed, each.skipped)
    names = ("below", "watched", "unknown", "unreachable", "failed", "skipped")
    words = [f"{number:,} {name}" for number, name in zip(counts, names, strict=True) if number]
    said = ", ".join(words) or ("all passed" if each.passes else "nothing judged")
    return said if each.state.value == "complete" else f"{said} ({each.state.value})"
