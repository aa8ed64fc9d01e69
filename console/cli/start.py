"""Opens the start page, and then what was chosen on it."""

import time
from pathlib import Path

from benchconsole import __version__
from benchconsole.console.cli.demo import open_demo
from benchconsole.console.cli.open import open_console
from benchconsole.console.cli.sessions import read_sessions
from benchconsole.console.session.listed_verdict import list_verdict
from benchconsole.console.tui.app.start_app import run_start
from benchconsole.console.tui.start_model import Interrupted, Past, Start, StartModel
from benchconsole.store.files.paths import default_path
from benchconsole.store.model import SessionSummary

SHOWN = 9
"""Sessions on the page: one digit each."""


def show_start_page() -> int:
    """Show the page until something is chosen or the operator leaves; the exit code."""
    choice = run_start(_make_start_model())
    if choice is None:
        return 0
    return open_demo("default", None) if choice.action is Start.DEMO else open_console(choice.value)


def _make_start_model() -> StartModel:
    found = list(reversed(read_sessions(default_path())))[:SHOWN]
    return StartModel(
        version=__version__,
        topologies=tuple(_list_topologies()),
        sessions=tuple(_make_past(each) for each in found),
        interrupted=next((_make_interrupted(each) for each in found if each.state.value == "interrupted"), None),
        demo="134 nodes on loopback, real SSH, marked SIMULATED",
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
