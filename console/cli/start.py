"""Opens the start page, and then what was chosen on it."""

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from benchconsole import __version__
from benchconsole.console.cli.demo import open_demo
from benchconsole.console.cli.open import open_console, require_screen
from benchconsole.console.cli.sessions import read_sessions
from benchconsole.console.session.listed_verdict import list_verdict
from benchconsole.console.session.recent_files import RecentFile, RecentFiles, RecentKind
from benchconsole.console.session.topology_writing import DEFAULT_FILE
from benchconsole.console.simulator.scenarios import SCENARIOS
from benchconsole.console.tui.app.start_app import run_start
from benchconsole.console.tui.start_model import Demo, Interrupted, KnownFile, Past, Start, StartChoice, StartModel
from benchconsole.store.errors import StoreError
from benchconsole.store.files.paths import default_path
from benchconsole.store.session_summary import SessionState, SessionSummary
from benchconsole.topology.copying import replace

SHOWN = 9
"""Sessions on the page: one digit each."""


def show_start_page() -> int:
    """Show the page until something is chosen or the operator leaves; the exit code."""
    require_screen()
    choice, database = _choose(_make_start_model())
    if choice is None:
        return 0
    return open_demo(choice.value, None) if choice.action is Start.DEMO else open_console(choice.value, database)


def _choose(model: StartModel) -> tuple[StartChoice | None, Path | None]:
    """The choice, and the database in which it is, None for the user's own; another one is shown on the page."""
    database = None
    while True:
        choice = run_start(model)
        if choice is None or choice.action is not Start.DATABASE:
            return choice, database
        wanted = Path(choice.value)
        try:
            model = _make_start_model(wanted)
        except StoreError as error:
            model = replace(model, note=f"The database {wanted} is not shown: {error}")
        else:
            database = wanted


def _make_start_model(database: Path | None = None) -> StartModel:
    """The page over the sessions of a database; StoreError where it cannot be read."""
    shown = database or default_path()
    found = list(reversed(read_sessions(shown)))[:SHOWN]
    known, note = RecentFiles().list_there()
    if database is not None and default_path().is_file():  # the way back
        own = RecentFile(RecentKind.DATABASE, str(default_path().absolute()))
        known = tuple(dict.fromkeys((*known, own)))
    here = _list_topologies()
    return StartModel(
        version=__version__,
        topologies=tuple(here),
        sessions=tuple(_make_past(each) for each in found),
        interrupted=tuple(_make_interrupted(each) for each in found if each.state is SessionState.INTERRUPTED),
        demos=tuple(Demo(each.name, each.summary) for each in SCENARIOS.values()),
        file=DEFAULT_FILE,
        recent=_list_recent(known, RecentKind.TOPOLOGY, [Path(each) for each in here]),
        databases=_list_recent(known, RecentKind.DATABASE, [shown]),
        database=_make_known(shown) if shown.absolute() != default_path().absolute() else None,
        note=note,
    )


def _list_recent(known: Sequence[RecentFile], kind: RecentKind, shown: Sequence[Path]) -> tuple[KnownFile, ...]:
    """The files of a kind that were opened before, without those that stand on the page already."""
    others = {path.absolute() for path in shown}
    paths = [Path(each.path) for each in known if each.kind is kind]
    return tuple(_make_known(path) for path in paths if path not in others)


def _make_known(path: Path) -> KnownFile:
    """A file with its folder, in which that of the user stands as ``~``."""
    folder = path.absolute().parent
    with suppress(RuntimeError, ValueError):  # nobody at home, or elsewhere
        folder = "~" / folder.relative_to(Path.home())
    return KnownFile(str(path), path.name, str(folder))


def _list_topologies() -> list[str]:
    """YAML files of the current folder that say that they are ours."""
    found = []
    for path in sorted([*Path().glob("*.yaml"), *Path().glob("*.yml")]):
        try:
            head = path.open(encoding="utf-8", errors="replace").read(4096)
        except OSError:
            continue
        if "schema: 1" in head and "fabric:" in head:
            found.append(str(path))
    return found


def _make_interrupted(each: SessionSummary) -> Interrupted:
    words = f"stopped after round {each.rounds_closed} of {each.rounds}, {each.tested:,} of {each.planned:,} tests"
    return Interrupted(each.id, each.label or each.id, words)


def _make_past(each: SessionSummary) -> Past:
    return Past(
        id=each.id,
        label=each.label or each.suite or each.id,
        fabric="simulated" if each.simulated else each.fabric,
        when=time.strftime("%d %b %H:%M", time.localtime(each.started)),
        tested=each.tested,
        total=each.planned,
        verdict=list_verdict(each),
    )
