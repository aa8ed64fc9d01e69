"""Orders to a session that is played again: stand still, go back and on, faster and slower."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from benchconsole.console.tui.actions import name_keys
from benchconsole.console.tui.app.orders import Orders
from benchconsole.console.tui.screens.seek import SeekSheet

if TYPE_CHECKING:
    from benchconsole.console.session.replay_clock import ReplayClock

NOT_PLAYED = "Only a session that is played again has this key; P in :sessions plays one."

TENTH = 0.1
"""The share of a replay that the larger keys jump."""


class ReplayOrders(Orders):
    """Each changes the clock of the session on the screen; other sessions have none."""

    @property
    def actions(self) -> dict[str, Callable[[], None]]:
        """The order of each of the keys, by its name."""
        return {
            "replay_pause": partial(self._change, lambda clock: clock.pause(is_paused=not clock.is_paused)),
            "round_back": partial(self._change, lambda clock: clock.step_round(-1)),
            "round_on": partial(self._change, lambda clock: clock.step_round(1)),
            "tenth_back": partial(self._change, partial(_leap, share=-TENTH)),
            "tenth_on": partial(self._change, partial(_leap, share=TENTH)),
            "seek": partial(self._change, self._ask_place),
            "slower": partial(self._change, lambda clock: clock.change_speed(clock.speed / 2)),
            "faster": partial(self._change, lambda clock: clock.change_speed(clock.speed * 2)),
        }

    def go_to(self, played: float) -> None:
        """Jump to so many played seconds."""
        self._change(lambda clock: clock.go_to(played))

    def go_to_typed(self, text: str) -> None:
        """Jump to what was typed behind ``:time``; say why not where it names no place."""
        self._change(partial(self._go_to_typed, text))

    def _go_to_typed(self, text: str, clock: "ReplayClock") -> None:
        found = _find_played(clock, text)
        if isinstance(found, str):
            self._navigation.say(found, wrong=True)
        else:
            clock.go_to(found)

    def _ask_place(self, clock: "ReplayClock") -> None:
        sheet = SeekSheet(partial(_find_played, clock), self._session.badges)
        self._navigation.ask(sheet, lambda played: None if played is None else self.go_to(played))

    def _change(self, change: "Callable[[ReplayClock], None]") -> None:
        clock = self._session.front.clock
        if clock is None:
            self._navigation.say(name_keys(NOT_PLAYED, "replay"))
        elif clock.timeline is None:
            self._navigation.say("The session is being read.", wrong=True)
        else:
            change(clock)
            self._navigation.paint()


def _find_played(clock: "ReplayClock", text: str) -> float | str:
    """The played seconds of what was typed, or why it names no place."""
    from benchconsole.console.session.replay_place import ReplayPlaceError, find_played

    if clock.timeline is None:
        return "The session is being read."
    try:
        return find_played(text, clock.timeline)
    except ReplayPlaceError as error:
        return str(error)


def _leap(clock: "ReplayClock", share: float) -> None:
    place = clock.place
    if place is not None:
        clock.go_to(place.played + share * place.total)
