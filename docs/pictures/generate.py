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

from console.cli.common import installed
from console.conductor import SessionConductor
from console.engine import Engine
from console.session import Session
from console.tui.app import Bench
from console.tui.start import Past, StartApp, StartModel
from console.tui.terminal import detect
from store.store import Store

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
        conductor = SessionConductor(Session.stored(store, "last", installed()), Engine())
        app = Bench(lambda: conductor, TERMINAL)
        async with app.run_test(size=size) as pilot:
            while app.shown is None or app.shown.ended is None or app.shown.static is None:
                await pilot.pause()
            await pilot.press(*keys)
            for _ in range(5):
                await pilot.pause()
            return FONT.sub("", app.export_screenshot(title="benchconsole"))


async def draw_start() -> str:
    """The page before there is a topology, with sessions that were made up."""
    sessions = (
        Past("7f3a21c0", "acceptance 2", "cluster", "21 Nov 05:12", 347, 347, watches=2),
        Past("1c09be77", "acceptance 1", "cluster", "20 Nov 14:53", 344, 347, fails=4, watches=4, untested=True),
        Past("52d0a6e1", "demo default", "simulated", "20 Nov 10:31", 655, 664, fails=8, untested=True),
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
