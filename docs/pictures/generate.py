"""Draws the pictures of the documents: the console itself on a stored session of the simulated cluster.

    benchconsole demo --headless --db /tmp/pictures.db
    python docs/pictures/generate.py /tmp/pictures.db

Each picture is the application at a size after some keys, as Textual draws it, with the outside
font taken out (the browser's own monospace font serves).
"""

import asyncio
import re
import sys
from pathlib import Path

from benchconsole.console.cli.common import load_installed_probes
from benchconsole.console.session.controller import SessionController
from benchconsole.console.session.loop_thread import LoopThread
from benchconsole.console.session.session import Session
from benchconsole.console.tui.app.console_app import ConsoleApp
from benchconsole.console.tui.app.start_app import StartApp
from benchconsole.console.tui.rows.terminal import detect
from benchconsole.console.tui.start_model import Past, StartModel
from benchconsole.console.view.stored_verdict import ListedVerdict, Outcome
from benchconsole.store.store import Store

HERE = Path(__file__).parent
PICTURES = {
    "fabric-120x40": ((120, 40), ["n"]),
    "fabric-80x24": ((80, 24), ["n"]),
    "fabric-200x60": ((200, 60), ["n"]),
    "nodes-120x40": ((120, 40), ["2"]),
    "node-120x40": ((120, 40), ["2", "down", "enter"]),
    "facts-120x40": ((120, 40), ["2", "enter", "i", "n"]),
    "run-120x40": ((120, 40), ["3"]),
    "findings-120x40": ((120, 40), ["4"]),
}
TERMINAL = detect({"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"})
FONT = re.compile(r"@font-face\s*{[^}]*}")


async def draw(database: Path, size: tuple[int, int], keys: list[str]) -> str:
    """The screen as SVG."""
    with Store.open(database, create=False) as store:
        conductor = SessionController(Session.stored(store, "last", load_installed_probes()), LoopThread())
        app = ConsoleApp(lambda: conductor, TERMINAL)
        async with app.run_test(size=size) as pilot:
            while app.session.view is None or app.session.view.ended is None or app.session.view.static is None:
                await pilot.pause()
            await pilot.press(*keys)
            for _ in range(5):
                await pilot.pause()
            return FONT.sub("", app.export_screenshot(title="benchconsole"))


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
    demo = "134 nodes on loopback, real SSH, marked SIMULATED"
    app = StartApp(StartModel("0.1.0", ("cluster.yaml",), sessions, None, demo), TERMINAL)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        return FONT.sub("", app.export_screenshot(title="benchconsole"))


def main() -> None:
    """Write every picture."""
    (HERE / "start-80x24.svg").write_text(asyncio.run(draw_start()))
    for name, (size, keys) in PICTURES.items():
        (HERE / f"{name}.svg").write_text(asyncio.run(draw(Path(sys.argv[1]), size, keys)))
        sys.stdout.write(f"{name}.svg\n")


if __name__ == "__main__":
    main()
