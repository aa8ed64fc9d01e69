"""Opens the console. The screen is painted before a store, a probe or SSH is imported."""

import logging
import os
import sys
import time
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchconsole.console.cli.common import carry_options, cohort_option, db_option, label_option
from benchconsole.console.exits import BadInput, Exit, complain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchconsole.console.session.controller import SessionController
    from benchconsole.console.session.replay_clock import ReplayClock
    from benchconsole.console.session.replayed_session import ReplayedSession
    from benchconsole.console.session.session_archive import SessionArchive
    from benchconsole.console.view.reducer import LatestView
    from benchconsole.probes.api import Probe
    from benchconsole.store.store import Store
    from benchconsole.topology.model.fabric import Fabric

BROWSER_DRIVER = "benchconsole.console.tui.browser_driver:BrowserDriver"
"""The driver of a console that is drawn in a browser; Textual reads it from the environment (``TEXTUAL_DRIVER``)."""


@click.command("open")
@click.argument("what", metavar="TOPOLOGY|SESSION", default="last")
@db_option
@label_option
@cohort_option
@click.option(
    "--replay", type=click.FloatRange(0.1, 100_000), metavar="SPEED",
    help="Play a stored session again, SPEED times as fast as it ran.",
)  # fmt: skip
@click.option("--read-only", is_flag=True, help="Only look: every key that acts on something is hidden and refused.")
def command(
    what: str, db: Path | None, label: str, cohorts: tuple[str, ...], replay: float | None, read_only: bool
) -> None:
    """Open the console on a topology file, or on a stored session (id, label, last, last-1).

    A session that another console drives is followed live: it can be looked at, but takes no orders. With --replay a
    stored one is shown as it ran; pauses in which nothing ran are cut short.
    """
    found = open_console(what, db, label, cohorts=cohorts, replay=replay, looks_only=read_only)
    raise click.exceptions.Exit(found)


def open_console(
    what: str, db: Path | None = None, label: str = "", *, cohorts: "Sequence[str]" = (), start: bool = False,
    replay: float | None = None, looks_only: bool = False,
) -> int:  # fmt: skip
    """Show ``what`` until the operator leaves; ``start`` runs the default suite at once, as ``demo`` does.

    ``cohorts`` label every result of a session that is begun; BadInput for those of one that is stored. ``replay``
    plays a stored session so many times as fast as it ran; BadInput for a topology file. ``looks_only``: nothing can be
    run, changed or written; a topology file is shown then without the database being opened for it. A file
    that a person opens on a terminal is kept among the recent files, unless it was ``start``ed or is only looked at.
    """
    require_screen()
    from benchconsole.console.session.memory_return import share_one_arena
    from benchconsole.topology.collector import pause_collector

    share_one_arena()
    with pause_collector():  # five hundred modules are made, and no cycle that anybody lets go of
        from benchconsole.console.cli.log_options import keep_records_off_the_screen
        from benchconsole.console.tui.app.console_app import run
        from benchconsole.console.tui.app.screen_failure import ScreenError
        from benchconsole.console.view.reducer import LatestView

    log, latest = keep_records_off_the_screen(), LatestView()
    path = Path(what)
    is_file = what.endswith((".yaml", ".yml")) or path.is_file()
    if cohorts and not is_file:
        raise BadInput(
            "benchconsole: --cohort with a stored session, which keeps the cohorts that it was begun with; "
            "expected a topology file"
        )
    if replay is not None and is_file:
        raise BadInput("benchconsole: --replay with a topology file, expected a stored session")
    from benchconsole.console.session.replay_clock import ReplayClock

    clock = None if replay is None else ReplayClock(replay)

    def make() -> "SessionController":
        if looks_only and is_file:
            return _look_at(path)
        control = _open(what, path if is_file else None, db, label, cohorts, latest, start=start, clock=clock)
        if not (looks_only or start) and is_at_terminal():
            _keep_opened(path if is_file else None, db)
        return control

    try:
        return run(
            carry_options(make),
            latest=latest,
            now=time.time if clock is None else clock.now,
            make_archive=partial(make_archive, db),
            clock=clock,
            looks_only=looks_only,
        )
    except ScreenError as error:
        if log is None:
            raise
        logging.getLogger(__name__).critical("the screen failed", exc_info=error)
        complain(f"benchconsole: internal error of the screen ({type(error.__cause__).__name__}): please report {log}")
        return Exit.INTERNAL


def require_screen() -> None:
    """BadInput where there is no terminal to draw on."""
    if not has_screen():
        raise BadInput(
            "benchconsole: standard input or output is no terminal, expected one to draw on; over ssh give -t, or take "
            "lines instead: benchconsole run TOPOLOGY, benchconsole show SESSION"
        )


def has_screen() -> bool:
    """Whether there is a terminal to draw on, or a browser at the other end of our pipes."""
    in_browser = os.environ.get("TEXTUAL_DRIVER") == BROWSER_DRIVER
    return in_browser or (sys.stdin.isatty() and sys.stdout.isatty())


def is_at_terminal() -> bool:
    """Whether a person is at the terminal that is drawn on: neither a browser, nor a machine that builds and tests."""
    in_browser = os.environ.get("TEXTUAL_DRIVER") == BROWSER_DRIVER
    return has_screen() and not in_browser and not os.environ.get("CI")


def _keep_opened(file: Path | None, db: Path | None) -> None:
    """Put what was opened among the recent files, which the start page offers."""
    from benchconsole.console.session.recent_files import RecentFile, RecentFiles, RecentKind
    from benchconsole.store.files.paths import default_path

    opened = [RecentFile(RecentKind.DATABASE, str((db or default_path()).absolute()))]
    if file is not None:
        opened.insert(0, RecentFile(RecentKind.TOPOLOGY, str(file.absolute())))
    RecentFiles().keep(*opened)


def make_archive(db: Path | None) -> "SessionArchive":
    """The sessions of the database, each of which can be opened in place of the one that is shown."""
    from benchconsole.console.cli.common import load_installed_probes
    from benchconsole.console.cli.session_options import find_operator
    from benchconsole.console.session.session_archive import SessionArchive
    from benchconsole.store.files.paths import default_path

    return SessionArchive(
        db or default_path(),
        find_operator(),
        carry_options(load_installed_probes),
        carry_options(lambda key, latest, clock: _open(key, None, db, "", (), latest, start=False, clock=clock)),
    )


def _open(
    name: str,
    path: Path | None,
    db: Path | None,
    label: str,
    cohorts: "Sequence[str]",
    latest: "LatestView",
    *,
    start: bool,
    clock: "ReplayClock | None",
) -> "SessionController":
    """A new session on the topology file ``path``, else the stored one of this name; its fabric is shown at once.

    With ``clock`` the stored one is played by it.
    """
    if path is not None:
        return _open_file(path, db, label, cohorts, latest, start=start)
    from benchconsole.console.cli.common import load_installed_probes, open_store
    from benchconsole.console.session.stored_fabric import show_fabric

    store = open_store(db, create=False)
    key = store.find_session(name)
    described = show_fabric(store.session(key), latest.preview) if clock is None else None
    # Slow imports come after the fabric is on the screen, here and in ``_open_file``.
    from benchconsole.console.cli.session_options import find_operator, make_later_policy
    from benchconsole.console.session.controller import SessionController
    from benchconsole.console.session.followed_session import open_followed
    from benchconsole.console.session.late_mapping import LateMapping
    from benchconsole.console.session.loop_thread import LoopThread
    from benchconsole.console.session.node_access import PasswordPrompt
    from benchconsole.console.session.session import Session
    from benchconsole.topology.collector import pause_collector

    probes, passwords = LateMapping(carry_options(load_installed_probes)), PasswordPrompt()
    if clock is not None:
        return SessionController(_open_replayed(store, name, probes, clock), LoopThread(), closing=store.close)
    other = open_followed(store, key, probes)
    if other is not None:
        return SessionController(other, LoopThread(), closing=store.close)
    with pause_collector():
        session = Session.stored(
            store, key, probes, make_reach=passwords.reach, policy=make_later_policy(), described=described,
            on_read=latest.preview,
        )  # fmt: skip
    return SessionController(
        session, LoopThread(), start=start, passwords=passwords, closing=store.close, operator=find_operator()
    )


def _open_file(
    path: Path, db: Path | None, label: str, cohorts: "Sequence[str]", latest: "LatestView", *, start: bool
) -> "SessionController":
    """A new session on a topology file; its fabric is shown before metrics are checked and the database is opened."""
    from benchconsole.console.cli.common import import_waiting_spools, load_installed_probes, load_topology, open_store
    from benchconsole.console.view.events import SessionOpened

    find_probes = cache(load_installed_probes)

    def show(known: "Fabric") -> None:
        latest.preview(SessionOpened("", label, known, "", (), time.time(), live=False), 0, 0)

    fabric = load_topology(path, find_probes, show=show)
    from benchconsole.console.cli.session_options import find_operator, make_safety_policy
    from benchconsole.console.session.controller import SessionController
    from benchconsole.console.session.loop_thread import LoopThread
    from benchconsole.console.session.metadata import SessionChoice
    from benchconsole.console.session.node_access import PasswordPrompt
    from benchconsole.console.session.run_options import make_cohort_options
    from benchconsole.console.session.session import Session

    probes, passwords = find_probes(), PasswordPrompt()
    store = open_store(db)
    import_waiting_spools(store)
    policy = make_safety_policy(fabric, sparing=True)
    choice = SessionChoice(label=label, options=make_cohort_options(fabric, cohorts), policy=policy)
    session = Session(fabric, probes, store, choice, make_reach=passwords.reach)
    return SessionController(
        session, LoopThread(), start=start, passwords=passwords, closing=store.close, operator=find_operator()
    )


def _look_at(path: Path) -> "SessionController":
    """The fabric of a topology file, to be looked at: its session is kept nowhere, and the database is left alone."""
    import tempfile

    from benchconsole.console.cli.common import load_installed_probes, read_topology
    from benchconsole.console.session.controller import SessionController
    from benchconsole.console.session.loop_thread import LoopThread
    from benchconsole.console.session.session import Session
    from benchconsole.store.store import Store

    probes = load_installed_probes()
    fabric = read_topology(path, probes)
    folder = tempfile.TemporaryDirectory(prefix="benchconsole-look-")
    store = Store.open(Path(folder.name) / "nothing.db")

    def close() -> None:
        store.close()
        folder.cleanup()

    return SessionController(Session(fabric, probes, store), LoopThread(), closing=close)


def _open_replayed(store: "Store", name: str, probes: "Mapping[str, Probe]", clock: "ReplayClock") -> "ReplayedSession":
    from benchconsole.console.session.replayed_session import open_replayed

    session = open_replayed(store, name, probes, clock)
    if session is None:
        store.close()
        raise BadInput(f"benchconsole: --replay: {name} is still being run; open it without --replay to follow it")
    return session
