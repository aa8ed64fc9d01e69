"""The end of a screen that failed: the terminal is its owner's again, and a run that goes on comes to its end.

A fault of the screen is no reason to lose the measurements of a night. The end does not wait for an answer of the
operator, to a run that is paused or for a password: nobody can give it any more.
"""

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from benchconsole.console.exits import complain

if TYPE_CHECKING:
    from benchconsole.console.session.controller import SessionController


class ScreenError(Exception):
    """The screen failed; ``__cause__`` is the exception that nothing caught."""


def finish_run(control: "SessionController", signals: Iterable[int]) -> None:
    """Wait for the end of the run that ``control`` drives, if one goes on; a first signal stops it, a second ends it.

    A run of another console is not ours to wait for.
    """
    if control.follows or not control.running:
        return
    if control.paused:
        complain("benchconsole: the screen failed; the run was paused and is stopped, its results are kept")
        control.stop(now=True)
    else:
        complain("benchconsole: the screen failed; the run goes on without it, its results are stored; ctrl-c stops it")
    asyncio.run(_wait_for_end(control, signals))


async def _wait_for_end(control: "SessionController", signals: Iterable[int]) -> None:
    orders = iter((partial(control.stop, now=True), control.abandon))

    def give_next() -> None:
        next(orders, control.abandon)()

    for number in signals:
        asyncio.get_running_loop().add_signal_handler(number, give_next)
    await control.finished()
