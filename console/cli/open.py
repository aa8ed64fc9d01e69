"""Opens the console. The screen is painted before a store, a probe or SSH is imported."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from console.cli.cohorts import cohort_option, cohort_options
from console.cli.common import db_option, label_option
from console.exits import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from console.conductor import SessionConductor


@click.command("open")
@click.argument("what", metavar="TOPOLOGY|SESSION", default="last")
@db_option
@label_option
@cohort_option
def command(what: str, db: Path | None, label: str, cohorts: tuple[str, ...]) -> None:
    """Open the console on a topology file, or on a stored session (id, label, last, last-1).

    A session that another console drives is followed live: it can be looked at, but takes no orders.
    """
    raise click.exceptions.Exit(open_console(what, db, label, cohorts=cohorts))


def open_console(
    what: str, db: Path | None = None, label: str = "", *, cohorts: "Sequence[str]" = (), start: bool = False
) -> int:
    """Show ``what`` until the operator leaves; ``start`` runs the default suite at once.

    ``cohorts`` label every result of a session that is begun; BadInput for those of one that is stored.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadInput("benchconsole: there is no terminal to draw on; benchconsole run does the same as lines")
    from console.tui.app import run

    _keep_logs_off_the_screen()
    path = Path(what)
    if what.endswith((".yaml", ".yml")) or path.is_file():
        return run(lambda: _on_file(path, db, label, cohorts, start=start))
    if cohorts:
        raise BadInput(
            "benchconsole: --cohort with a stored session, which keeps the cohorts that it was begun with; "
            "expected a topology file"
        )
    return run(lambda: _on_session(what, db))


def _keep_logs_off_the_screen() -> None:
    """Send what libraries log (asyncio on a garbled banner, say) to a file: standard error is the screen."""
    import logging

    import platformdirs

    folder = platformdirs.user_log_path("benchconsole")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        logging.basicConfig(filename=folder / "console.log", level=logging.WARNING)
    except OSError:
        logging.basicConfig(handlers=[logging.NullHandler()])


def _on_file(path: Path, db: Path | None, label: str, cohorts: "Sequence[str]", *, start: bool) -> "SessionConductor":
    from console.cli.common import bring_back, installed, open_store, read_topology
    from console.cli.in_use import care
    from console.conductor import SessionConductor
    from console.engine import Engine
    from console.passwords import Passwords
    from console.record import Choice
    from console.session import Session

    probes = installed()
    fabric = read_topology(path, probes)
    store = open_store(db)
    bring_back(store)
    choice = Choice(label=label, options=cohort_options(fabric, cohorts), care=care(fabric, sparing=True))
    passwords = Passwords()
    session = Session(fabric, probes, store, choice, make_reach=passwords.reach)
    return SessionConductor(session, Engine(), start=start, passwords=passwords, closing=store.close)


def _on_session(name: str, db: Path | None) -> "SessionConductor":
    from console.cli.common import installed, open_store
    from console.conductor import SessionConductor
    from console.engine import Engine
    from console.following import followed
    from console.passwords import Passwords
    from console.session import Session

    probes = installed()
    store = open_store(db, create=False)
    other = followed(store, name, probes)
    if other is not None:
        return SessionConductor(other, Engine(), follows=lambda: other.driver, closing=store.close)
    passwords = Passwords()
    session = Session.stored(store, name, probes, make_reach=passwords.reach)
    return SessionConductor(session, Engine(), passwords=passwords, closing=store.close)


def start() -> int:
    """The start page: open a file, start the demo, browse sessions."""
    from console.cli.start import start_page

    return start_page()
