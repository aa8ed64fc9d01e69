"""The seek bar of a session that is played again: where it is, in the session's time, and the keys that move it.

A click or a drag on the bar tells the place under the mouse.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.message import Message

from benchconsole.console.tui.actions import find_key
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, row_width
from benchconsole.console.tui.rows.themes import ACCENT, FAINT, KEY, MUTED, TEXT, Ground
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.view.session_control import ReplayPlace
from benchconsole.console.view.wording import format_moment, format_played

_KEYS = (
    (("replay_pause",), "pause"), (("round_back", "round_on"), "round"), (("tenth_back", "tenth_on"), "10 %"),
    (("seek",), "time"), (("slower", "faster"), "speed"),
)  # fmt: skip
"""The keys that the bar names beside itself: actions with the word for them."""

_LEAST = 8
"""Cells that the bar has at least."""


class SeekBar(CellWidget):
    """Not there while nothing is played again; one row that no page leaves out."""

    DEFAULT_CSS = "SeekBar { height: 0; }"
    GROUND = Ground.PANEL

    @dataclass
    class Sought(Message):
        """The mouse asks for a place: the played seconds."""

        played: float

    def __init__(self) -> None:
        super().__init__()
        self.place: ReplayPlace | None = None
        self.is_paused = False
        self._bar = range(0)
        self._is_dragged = False

    def show(self, place: ReplayPlace | None, *, is_paused: bool) -> None:
        if (place, is_paused) == (self.place, self.is_paused):
            return
        if (place is None) is not (self.place is None):
            self.styles.height = 0 if place is None else 1
        self.place, self.is_paused = place, is_paused
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        place = self.place
        if place is None:
            return []
        head, tail = _describe(place, is_paused=self.is_paused), _list_keys(is_paused=self.is_paused)
        rounds = (CellText(f"  round {place.round:,} of {place.rounds:,}", MUTED),)
        date = (CellText(f"{format_moment(place.at)[:11]}", MUTED),)
        if row_width((*date, *head, *rounds, *tail)) + _LEAST + 2 <= width:
            head, tail = (head[0], *date, *head[1:]), (*rounds, *tail)
        elif row_width((*head, *tail)) + _LEAST + 2 > width:
            short = tuple(CellText(f"  {_name(actions)}", KEY) for actions, _ in _KEYS)
            tail = short if row_width((*head, *short)) + _LEAST + 2 <= width else ()
        room = max(width - row_width((*head, *tail)) - 2, 0)
        filled = room if place.played >= place.total else int(room * place.played / place.total)
        line = CellLine(width).to(1).extend(head)
        self._bar = range(line.at, line.at + room)
        return [line.put("━" * filled, ACCENT).put("─" * (room - filled), FAINT).extend(tail).row()]

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Begin on the bar only; beside it stand words."""
        if event.button == 1 and event.x in self._bar:
            event.stop()
            self._is_dragged = True
            self.capture_mouse()
            self._seek(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._is_dragged:
            event.stop()
            self._seek(event.x)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        if self._is_dragged:
            event.stop()
            self._is_dragged = False
            self.release_mouse()

    def _seek(self, x: int) -> None:
        """Tell the place of a column; the first is the beginning, the last the end, also beyond the bar."""
        if self.place is not None and len(self._bar) > 1:
            share = (x - self._bar.start) / (len(self._bar) - 1)
            self.post_message(self.Sought(self.place.total * max(0.0, min(share, 1.0))))


def _describe(place: ReplayPlace, *, is_paused: bool) -> Row:
    """Whether it plays, the time in the session, and the played time of how much."""
    played = f"{format_played(place.played)} of {format_played(place.total)}  "
    sign = CellText("= " if is_paused else "▸ ", ACCENT)
    return sign, CellText(f"{format_moment(place.at)[11:]}  ", TEXT), CellText(played, MUTED)


def _list_keys(*, is_paused: bool) -> Row:
    words = [(_name(actions), "go on" if is_paused and verb == "pause" else verb) for actions, verb in _KEYS]
    return tuple(cell for key, verb in words for cell in (CellText(f"  {key}", KEY), CellText(f" {verb}", MUTED)))


def _name(actions: Sequence[str]) -> str:
    """The keys of actions that stand together."""
    return " ".join(map(find_key, actions))
