"""Looks at the screens by hand: ``python -m tests.console.tui.preview [mini|chassis|big|healthy|fresh|play]``."""

import sys
import time

from benchconsole.console.tui.app.console_app import run
from tests.console.tui import story as stories
from tests.console.tui.fabrics import chassis, mini, ten_thousand
from tests.console.tui.playing import Player
from tests.console.tui.story import CHASSIS, MINI, TEN_THOUSAND, Faults, tell


def main() -> int:
    """Run the console on a hand-made session."""
    what = sys.argv[1] if len(sys.argv) > 1 else "mini"
    stories.EPOCH = time.time()
    if what == "chassis":
        story = tell(chassis(), CHASSIS)
    elif what == "big":
        story = tell(ten_thousand(), TEN_THOUSAND)
    elif what == "healthy":
        story = tell(mini(simulated=False), Faults())
    else:
        story = tell(mini(), MINI)
    if what == "fresh":
        return run(lambda: Player(story, until=1))
    return run(lambda: Player(story, pace=0.05 if what == "play" else 0.0))


if __name__ == "__main__":
    raise SystemExit(main())
