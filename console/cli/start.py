"""Opens the start page, and then what was chosen on it."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from console.tui.start import Interrupted, Past, StartModel
    from store.model import SessionSummary

SHOWN = 9
"""Sessions on the page: one digit each."""


def start_page() -> int:
    """Show the page until something is chosen or the operator leaves; the exit code."""
    from console.tui.start import Start, run_start

    choice = run_start(_model())
    if choice is None:
        return 0
    if choice.action is Start.DEMO:
        from console.cli.demo import open_demo

        return open_demo("default", None)
    from console.cli.open import open_console

    return open_console(choice.value)


def _model() -> "StartModel":
    from importlib.metadata import version

    from console.tui.start import StartModel

    found = _sessions()
    return StartModel(
        version=version("benchconsole"),
        topologies=tuple(_topologies()),
        sessions=tuple(_past(each) for each in found),
        interrupted=next((_left(each) for each in found if each.state.value == "interrupted"), None),
        demo="134 nodes on loopback, real SSH, marked SIMULATED",
    )


def _topologies() -> list[str]:
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


def _sessions() -> "list[SessionSummary]":
    from store.database import Database
    from store.listing import sessions
    from store.places import default_path

    path = default_path()
    if not path.exists():
        return []
    return list(reversed(sessions(Database.open(path), time.time())))[:SHOWN]


def _left(each: "SessionSummary") -> "Interrupted":
    from console.tui.start import Interrupted

    words = f"stopped after round {each.rounds_closed} of {each.rounds}, {each.tested:,} of {each.planned:,} tests"
    return Interrupted(each.id, each.label or each.id, words)


def _past(each: "SessionSummary") -> "Past":
    from console.tui.start import Past

    return Past(
        id=each.id,
        label=each.label or each.suite,
        fabric="simulated" if each.simulated else each.fabric,
        when=time.strftime("%d %b %H:%M", time.localtime(each.started)),
        tested=each.tested,
        total=each.planned,
        fails=each.fails,
        watches=each.watches,
        untested=each.tested < each.planned,
    )
