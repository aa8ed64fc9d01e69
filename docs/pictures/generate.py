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
from console.session import Session
from console.tui.app import Bench
from console.tui.terminal import detect
from store.store import Store

HERE = Path(__file__).parent
PICTURES = {
    "fabric-120x40": ((120, 40), ["n"]),
    "fabric-80x24": ((80, 24), ["n"]),
    "fabric-200x60": ((200, 60), ["n"]),
    "nodes-120x40": ((120, 40), ["2"]),
    "node-120x40": ((120, 40), ["2", "down", "enter"]),
    "run-120x40": ((120, 40), ["3"]),
    "findings-120x40": ((120, 40), ["4"]),
}
FONT = re.compile(r"@font-face\s*{[^}]*}")


async def draw(database: Path, size: tuple[int, int], keys: list[str]) -> str:
    """The screen as SVG."""
    with Store.open(database, create=False) as store:
        conductor = SessionConductor(Session.stored(store, "last", installed()))
        terminal = detect({"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"})
        app = Bench(lambda: conductor, terminal)
        async with app.run_test(size=size) as pilot:
            while app.shown is None or app.shown.ended is None:
                await pilot.pause()
            await pilot.press(*keys)
            for _ in range(5):
                await pilot.pause()
            return FONT.sub("", app.export_screenshot(title="benchconsole"))


def main() -> None:
    """Write every picture."""
    for name, (size, keys) in PICTURES.items():
        (HERE / f"{name}.svg").write_text(asyncio.run(draw(Path(sys.argv[1]), size, keys)))
        sys.stdout.write(f"{name}.svg\n")


if __name__ == "__main__":
    main()
