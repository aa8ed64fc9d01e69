"""Opens the start page, and then what was chosen on it."""

import time
from pathlib import Path

from benchconsole import __version__
from benchconsole.console.cli.demo import open_demo
from benchconsole.console.cli.open import open_console
from benchconsole.console.cli.sessions import read_sessions
from benchconsole.console.session.listed_verdict import list_verdict
from benchconsole.console.session.topology_writing import DEFAULT_FILE
from benchconsole.console.simulator.scenarios import SCENARIOS
from benchconsole.console.tui.app.start_app import run_start
from benchconsole.console.tui.start_model import Demo, Interrupted, Past, Start, StartModel
from benchconsole.store.files.paths import default_path
from benchconsole.store.model import SessionState, SessionSummary

SHOWN = 9
"""Sessions on the page: one digit each."""


def show_start_page() -> int:
    """Show the page until something is chosen or the operator leaves; the exit code."""
    choice = run_start(_make_start_model())
    if choice is None:
        return 0
    return open_demo(choice.value, None) if choice.action is Start.DEMO else open_console(choice.value)


def _make_start_model() -> StartModel:
    found = list(reversed(read_sessions(default_path())))[:SHOWN]
    return StartModel(
        version=__version__,
        topologies=tuple(_list_topologies()),
        sessions=tuple(_make_past(each) for each in found),
        interrupted=tuple(_make_interrupted(each) for each in found if each.state is SessionState.INTERRUPTED),
        demos=tuple(Demo(each.name, each.summary) for each in SCENARIOS.values()),
        file=DEFAULT_FILE,
    )


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
        label=each.label or each.suite,
        fabric="simulated" if each.simulated else each.fabric,
        when=time.strftime("%d %b %H:%M", time.localtime(each.started)),
        tested=each.tested,
        total=each.planned,
        verdict=list_verdict(each),
    )
