"""Draws the pictures of the documents: the console itself on a stored session of the simulated cluster.

    benchconsole demo healthy --headless --db /tmp/pictures.db
    benchconsole demo --headless --db /tmp/pictures.db
    python docs/pictures/generate.py /tmp/pictures.db

Each picture is the application at a size and in a theme after some keys, as Textual draws it, with the outside
font taken out (the browser's own monospace font serves). ``README.md`` shows them all.
"""

import asyncio
import re
import sys
from dataclasses import replace
from pathlib import Path

from benchconsole.console.cli.common import load_installed_probes
from benchconsole.console.cli.open import make_archive
from benchconsole.console.session.controller import SessionController
from benchconsole.console.session.loop_thread import LoopThread
from benchconsole.console.session.session import Session
from benchconsole.console.simulator.scenarios import SCENARIOS
from benchconsole.console.tui.app.console_app import ConsoleApp
from benchconsole.console.tui.app.start_app import StartApp
from benchconsole.console.tui.rows.terminal import detect
from benchconsole.console.tui.screens.base.area_page import AreaPage
from benchconsole.console.tui.start_model import Demo, Past, StartModel
from benchconsole.console.view.stored_verdict import ListedVerdict, Outcome
from benchconsole.store.store import Store

HERE = Path(__file__).parent
READ = ""
"""Stands between keys where the next one needs what the area reads."""
AREAS = {
    "fabric": ["n"],
    "nodes": ["2"],
    "node": ["2", "down", "enter"],
    "facts": ["2", "enter", "i", "n"],
    "raw": ["2", "down", "enter", "enter"],
    "run": ["3"],
    "findings": ["4"],
    "pairs": ["colon", *"pairs", "enter"],
    "pair-map": ["colon", *"pairs", "enter", "v"],
    "results": ["colon", *"results", "enter"],
    "criteria": ["colon", *"criteria", "enter"],
    "links": ["colon", *"links", "enter"],
    "rounds": ["colon", *"rounds", "enter"],
    "sessions": ["colon", *"sessions", "enter"],
    "compare": ["colon", *"compare last-1", "enter"],
    "change-map": ["colon", *"compare last-1", "enter", READ, "n", "v"],
    "help": ["question_mark"],
}
"""Areas of the screen, and the keys that lead there."""

SIZES = ((80, 24), (120, 40), (200, 60))
THEMES = {"": "bench-dark", "-light": "bench-light"}
"""Themes by what the names of their pictures end with."""

TERMINAL = detect({"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"})
FONT = re.compile(r"@font-face\s*{[^}]*}")


async def draw(database: Path, size: tuple[int, int], keys: list[str], theme: str) -> str:
    """The screen as SVG."""
    with Store.open(database, create=False) as store:
        conductor = SessionController(Session.stored(store, "last", load_installed_probes()), LoopThread())
        archive = make_archive(database)
        app = ConsoleApp(lambda: conductor, replace(TERMINAL, theme=theme), make_archive=lambda: archive)
        async with app.run_test(size=size) as pilot:
            while app.session.view is None or app.session.view.ended is None or app.session.view.static is None:
                await pilot.pause()
            for key in (*keys, READ):
                if key != READ:
                    await pilot.press(key)
                    continue
                while isinstance(app.screen, AreaPage) and not has_rows(app.screen):
                    await pilot.pause()
            for _ in range(5):
                await pilot.pause()
            return FONT.sub("", app.export_screenshot(title="benchconsole"))


def has_rows(page: AreaPage) -> bool:
    """Whether all that an area tells is there: what is counted of sessions comes after their names."""
    area = page.table.area
    return area is not None and ("holds" not in area.columns or any(row.words("holds") for row in area.rows))


async def draw_start() -> str:
    """The page before there is a topology, with sessions that were made up."""
    sessions = (
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
    demos = tuple(Demo(each.name, each.summary) for each in SCENARIOS.values())
    app = StartApp(StartModel("0.1.0", ("cluster.yaml",), sessions, (), demos), TERMINAL)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        return FONT.sub("", app.export_screenshot(title="benchconsole"))


def name_picture(area: str, size: tuple[int, int], ending: str) -> str:
    """What the file of a picture is called."""
    return f"{area}-{size[0]}x{size[1]}{ending}.svg"


def format_gallery() -> str:
    """A page with every picture, area by area."""
    lines = [
        "# Every area, in three sizes and two themes",
        "",
        "Drawn by `docs/pictures/generate.py` on `benchconsole demo`.",
        "",
    ]
    for area in AREAS:
        lines += [f"## {area.capitalize()}", ""]
        for size in SIZES:
            shown = " ".join(f"![{area}]({name_picture(area, size, ending)})" for ending in THEMES)
            lines += [f"{size[0]} x {size[1]}:", "", shown, ""]
    return "\n".join(lines)


def main() -> None:
    """Write every picture, and the page that shows them."""
    (HERE / "start-80x24.svg").write_text(asyncio.run(draw_start()))
    for area, keys in AREAS.items():
        for size in SIZES:
            for ending, theme in THEMES.items():
                name = name_picture(area, size, ending)
                (HERE / name).write_text(asyncio.run(draw(Path(sys.argv[1]), size, keys, theme)))
                sys.stdout.write(f"{name}\n")
    (HERE / "README.md").write_text(format_gallery())


if __name__ == "__main__":
    main()
