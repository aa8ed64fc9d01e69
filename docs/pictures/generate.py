"""Draws the pictures of the documents: the console itself on a stored session of the simulated cluster.

    benchconsole demo healthy --headless --db pictures.db
    benchconsole demo --headless --db pictures.db
    python docs/pictures/generate.py pictures.db

Run it in an empty folder, with the database in it: pages name files as they lie in the working folder.
The form of a criterion is drawn on a copy of the database, judged with a file that is written beside it; the plan and
its options on that file alone, before anything ran; sweeps on a session of the suite ``scaling``, which is run for it.

Each picture is the application at a size and in a theme after some keys, as Textual draws it, with the outside
font taken out (the browser's own monospace font serves). ``README.md`` shows them all.
"""

import asyncio
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen

from benchconsole.console.cli.common import load_installed_probes, read_topology
from benchconsole.console.cli.open import make_archive
from benchconsole.console.session.controller import SessionController
from benchconsole.console.session.loop_thread import LoopThread
from benchconsole.console.session.metadata import SessionChoice
from benchconsole.console.session.replay_clock import ReplayClock
from benchconsole.console.session.replayed_session import open_replayed
from benchconsole.console.session.session import Session
from benchconsole.console.session.stored_judgement import judge_stored
from benchconsole.console.simulator.cluster import SimulatedCluster
from benchconsole.console.simulator.scenarios import SCENARIOS
from benchconsole.console.tui.app.console_app import ConsoleApp
from benchconsole.console.tui.app.start_app import StartApp
from benchconsole.console.tui.rows.terminal import detect
from benchconsole.console.tui.screens.base.area_page import AreaPage
from benchconsole.console.tui.screens.base.map_heat import HeatPage
from benchconsole.console.tui.screens.columns import ColumnsSheet
from benchconsole.console.tui.screens.nodes import NodesScreen
from benchconsole.console.tui.screens.plan import PlanSheet
from benchconsole.console.tui.screens.plot import PlotScreen
from benchconsole.console.tui.start_model import Demo, Past, StartModel
from benchconsole.console.view.stored_verdict import ListedVerdict, Outcome
from benchconsole.store.files.paths import default_path
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace

HERE = Path(__file__).parent
READ = ""
"""Stands between keys where the next one needs what the area reads."""


def shows_heat(page: Screen[Any]) -> bool:
    """Whether the values of a heat map are there."""
    return isinstance(page, HeatPage) and page.heat.is_shown and page.map.heat is not None


def shows_columns(page: Screen[Any]) -> bool:
    """Whether the sheet of columns has everything to choose from."""
    return isinstance(page, ColumnsSheet) and page.offers is not None and not page.note


def shows_sessions(page: Screen[Any]) -> bool:
    """Whether the column over sessions is read."""
    return isinstance(page, NodesScreen) and page.table.arranged.over is not None and page.table.arranged.over.is_read


def shows_plan(page: Screen[Any]) -> bool:
    """Whether a plan is worked out."""
    return isinstance(page, PlanSheet) and page.proposal is not None


Key = str | Callable[[Screen[Any]], bool]
"""A key, ``READ``, or what has to hold of the screen in front before the next key."""
AREAS: dict[str, list[Key]] = {
    "fabric": ["n"],
    "heat": ["n", "colon", *"heat iperf3.throughput trunks", "enter", shows_heat],
    "filter": ["slash", *"!state=pass", "enter"],
    "zoom": ["n", "Z"],
    "jump": ["J"],
    "nodes": ["2"],
    "columns": ["2", "K", shows_columns],
    "over-sessions": ["2", "H", shows_sessions],
    "node": ["2", "down", "enter"],
    "history": ["2", "down", "enter", "H", READ],
    "facts": ["2", "enter", "i", "n"],
    "raw": ["2", "down", "enter", "enter"],
    "run": ["3"],
    "findings": ["4"],
    "evidence": ["4", "tab"],
    "pairs": ["colon", *"pairs", "enter"],
    "pair-map": ["colon", *"pairs", "enter", "v"],
    "results": ["colon", *"results", "enter"],
    "criteria": ["colon", *"criteria", "enter"],
    "links": ["colon", *"links", "enter"],
    "rounds": ["colon", *"rounds", "enter"],
    "suites": ["colon", *"suites", "enter"],
    "probes": ["colon", *"probes", "enter"],
    "logs": ["colon", *"logs", "enter"],
    "plot": ["colon", *"plot iperf3.throughput", "enter", READ, "right"],
    "sessions": ["colon", *"sessions", "enter"],
    "compare": ["colon", *"compare last-1", "enter"],
    "change-map": ["colon", *"compare last-1", "enter", READ, "n", "v"],
    "help": ["question_mark"],
}
"""Areas of the screen, and the keys that lead there."""

FORM = ["colon", *"criteria", "enter", READ, "a", *"fio.read", "down"]
"""The form of a criterion, with the field of its bound."""

SWEEPS = ["3", "w"]
"""The curves of what was swept."""

REPLAY = ["p", "T", *"60 %", "enter"]
"""A session that is played again, standing still at a place that is asked for."""

ASKING = ["a", *"n[01-16] st1"]
"""The form that asks nodes, before it asks."""

PLANNED: dict[str, list[Key]] = {"plan": ["R", shows_plan], "options": ["R", shows_plan, "o"]}
"""Pages that are shown before anything ran, each with its keys."""

OTHERS = (*PLANNED, "sweeps", "criterion", "replay", "asking")
"""Pages that are no area: of a file, of other databases, of a session that is played again, of the start."""

SIZES = ((80, 24), (120, 40), (200, 60))
THEMES = {"": "bench-dark", "-light": "bench-light"}
"""Themes by what the names of their pictures end with."""

TERMINAL = detect({"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"})
FONT = re.compile(r"@font-face\s*{[^}]*}")


PASTS = (
    Past(
        "7f3a21c0",
        "acceptance 2",
        "cluster",
        "21 Nov 05:12",
        347,
        347,
        ListedVerdict(Outcome.WATCH, "watch, 2 to watch"),
    ),
    Past(
        "1c09be77",
        "acceptance 1",
        "cluster",
        "20 Nov 14:53",
        344,
        347,
        ListedVerdict(Outcome.FAIL, "fail, 4 below"),
    ),
    Past(
        "52d0a6e1",
        "demo default",
        "simulated",
        "20 Nov 10:31",
        655,
        664,
        ListedVerdict(Outcome.FAIL, "fail, 8 below"),
    ),
)
"""Sessions that were made up."""


async def draw(database: Path, size: tuple[int, int], keys: Sequence[Key], theme: str) -> str:
    """The screen as SVG."""
    with Store.open(database, create=False) as store:
        conductor = SessionController(Session.stored(store, "last", load_installed_probes()), LoopThread())
        archive = make_archive(database)
        app = ConsoleApp(lambda: conductor, replace(TERMINAL, theme=theme), make_archive=lambda: archive)
        async with app.run_test(size=size) as pilot:
            await wait(pilot, lambda: is_read(app))
            await press(app, pilot, (*keys, READ))
            return await shoot(app, pilot)


async def draw_planned(database: Path, size: tuple[int, int], keys: Sequence[Key], theme: str) -> str:
    """A plan of the last session's file, in the user's own database, which has nothing yet."""
    empty_own_data()
    probes = load_installed_probes()
    fabric = read_topology(write_described(database), probes)
    with Store.open(default_path()) as store:
        control = SessionController(Session(fabric, probes, store), LoopThread())
        app = ConsoleApp(lambda: control, replace(TERMINAL, theme=theme))
        async with app.run_test(size=size) as pilot:
            await wait(pilot, lambda: app.session.view is not None and app.session.view.static is not None)
            await press(app, pilot, keys)
            return await shoot(app, pilot)


async def draw_replay(database: Path, size: tuple[int, int], theme: str) -> str:
    """A session that is played again, at a place that does not depend on how long it was played."""
    clock = ReplayClock(1.0)
    with Store.open(database, create=False) as store:
        replayed = open_replayed(store, "last", load_installed_probes(), clock)
        if replayed is None:
            raise SystemExit("the last session is still being run")
        control = SessionController(replayed, LoopThread())
        app = ConsoleApp(lambda: control, replace(TERMINAL, theme=theme), clock.now)
        app.session.front.clock = clock
        async with app.run_test(size=size) as pilot:
            await wait(pilot, lambda: app.session.view is not None and app.session.view.plan != ())
            for key in REPLAY:
                await pilot.press(key)
            await wait(pilot, lambda: app.session.view is not None and app.session.view.closed != ())
            await wait(pilot, lambda: app.session.view is not None and app.session.view.static is not None)
            return await shoot(app, pilot)


async def draw_start(size: tuple[int, int], theme: str, keys: Sequence[str] = ()) -> str:
    """The page before there is a topology, with sessions that were made up."""
    demos = tuple(Demo(each.name, each.summary) for each in SCENARIOS.values())
    model = StartModel("0.1.0", ("cluster.yaml",), PASTS, (), demos)
    app = StartApp(model, replace(TERMINAL, theme=theme))
    async with app.run_test(size=size) as pilot:
        await pilot.press(*keys)
        return await shoot(app, pilot)


async def press(app: ConsoleApp, pilot: Pilot[Any], keys: Sequence[Key]) -> None:
    """Press keys, and wait where something has to hold before the next."""
    for key in keys:
        if isinstance(key, str) and key != READ:
            await pilot.press(key)
        else:
            await wait(pilot, partial(holds, app, is_filled if isinstance(key, str) else key))


async def wait(pilot: Pilot[Any], is_there: Callable[[], bool]) -> None:
    """Let the application go on until what is to be drawn is there."""
    while not is_there():
        await pilot.pause()


def is_read(app: ConsoleApp) -> bool:
    """Whether the whole session and what its description shows are on the screen."""
    view = app.session.view
    return view is not None and view.ended is not None and view.static is not None


async def shoot(app: App[Any], pilot: Pilot[Any]) -> str:
    """The screen as it stands, when every message has been taken in."""
    for _ in range(5):
        await pilot.pause()
    return FONT.sub("", app.export_screenshot(title="benchconsole"))


def empty_own_data() -> None:
    """Let the user's own database be one in the working folder that is not there yet."""
    folder = Path("data").resolve()
    shutil.rmtree(folder, ignore_errors=True)
    os.environ["XDG_DATA_HOME"] = str(folder)


def write_described(database: Path) -> Path:
    """The topology file of the last session, in the working folder."""
    file = Path("meridian.yaml")
    with Store.open(database, create=False) as store:
        file.write_text(Session.stored(store, "last", load_installed_probes()).fabric.text)
    return file


async def run_scaling(swept: Path) -> None:
    """A session of the suite ``scaling``, run on the healthy cluster, in a database that is not there yet."""
    probes = load_installed_probes()
    with tempfile.TemporaryDirectory() as folder, Store.open(swept) as store:
        async with SimulatedCluster("healthy", Path(folder)) as cluster:
            fabric = read_topology(cluster.topology_path, probes)
            session = Session(fabric, probes, store, SessionChoice(label="demo scaling"))
            session.start(session.propose("scaling"))
            await session.finished()


def make_swept() -> Path:
    """The database with that session, in the working folder."""
    swept = Path("swept.db")
    asyncio.run(run_scaling(swept))
    return swept


def copy_judged(database: Path) -> Path:
    """A copy of the database in the working folder, whose last session a file beside it judges."""
    copied, file = Path("copy.db"), write_described(database)
    shutil.copy(database, copied)
    probes = load_installed_probes()
    with Store.open(copied, create=False) as store:
        session = store.session(store.find_session("last"))
        asyncio.run(judge_stored(session, probes, read_topology(file, probes)).keep())
    return copied


def holds(app: ConsoleApp, says: Callable[[Screen[Any]], bool]) -> bool:
    """Whether it holds of the screen in front."""
    return says(app.screen)


def is_filled(page: Screen[Any]) -> bool:
    """Whether what a page reads beside the screen is there."""
    if isinstance(page, PlotScreen):
        return page.plots.count > 0
    return not isinstance(page, AreaPage) or has_rows(page)


def has_rows(page: AreaPage) -> bool:
    """Whether all that an area tells is there: what is counted of sessions comes after their names."""
    area = page.table.area
    return area is not None and ("holds" not in area.columns or any(row.words("holds") for row in area.rows))


def name_picture(area: str, size: tuple[int, int], ending: str) -> str:
    """The file name of a picture."""
    return f"{area}-{size[0]}x{size[1]}{ending}.svg"


def format_gallery() -> str:
    """A page with every picture, area by area."""
    lines = [
        "# Every area, in three sizes and two themes",
        "",
        "Drawn by `docs/pictures/generate.py` on `benchconsole demo`.",
        "",
    ]
    for area in (*AREAS, *OTHERS):
        lines += [f"## {area.capitalize()}", ""]
        for size in SIZES:
            shown = " ".join(f"![{area}]({name_picture(area, size, ending)})" for ending in THEMES)
            lines += [f"{size[0]} x {size[1]}:", "", shown, ""]
    return "\n".join(lines)


async def draw_named(name: str, database: Path, size: tuple[int, int], theme: str) -> str:
    """A picture by its name; ``criterion`` and ``sweeps`` are drawn on databases that are made for them."""
    if name == "replay":
        return await draw_replay(database, size, theme)
    if name == "asking":
        return await draw_start(size, theme, ASKING)
    if name in PLANNED:
        return await draw_planned(database, size, PLANNED[name], theme)
    return await draw(database, size, {"criterion": FORM, "sweeps": SWEEPS, **AREAS}[name], theme)


def main() -> None:
    """Write every picture, or those that are named after the database, and the page that shows all."""
    database, wanted = Path(sys.argv[1]), sys.argv[2:] or ["start", *AREAS, *OTHERS]
    if "start" in wanted:
        (HERE / "start-80x24.svg").write_text(asyncio.run(draw_start((80, 24), THEMES[""])))
    for name in (each for each in wanted if each != "start"):
        drawn = copy_judged(database) if name == "criterion" else make_swept() if name == "sweeps" else database
        for size in SIZES:
            for ending, theme in THEMES.items():
                picture = name_picture(name, size, ending)
                (HERE / picture).write_text(asyncio.run(draw_named(name, drawn, size, theme)))
                sys.stdout.write(f"{picture}\n")
    (HERE / "README.md").write_text(format_gallery())


if __name__ == "__main__":
    main()
