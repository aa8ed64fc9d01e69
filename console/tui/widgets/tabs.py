"""The first row: the tabs, and the badges, which are never dropped."""

from dataclasses import dataclass

from msgspec import Struct
from textual import events
from textual.message import Message

from benchconsole.console.text.cells import measure_width
from benchconsole.console.tui.actions import find_key
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, row_width
from benchconsole.console.tui.rows.themes import BADGE, FROZEN_BADGE, HELD_BADGE, MUTED, Ground, Ink, Tone
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.view.session_control import ReplayPlace

TABS = ("Fabric", "Nodes", "Run", "Findings")
"""Each stands beside the key of the action of its name."""

_SELECTED = Tone(Ink.BRIGHT, Ground.SEL, bold=True)
_SELECTED_KEY = Tone(Ink.ACCENT, Ground.SEL, bold=True)


class Badges(Struct, frozen=True):
    """The badges of every screen. ``frozen`` is the age of the picture in seconds, ``held`` a run that waits.

    ``read_only``: no order is taken, be it that another console drives the session or that this one ``looks_only``.
    ``replay`` is how many times as fast a session is played again, and ``place`` where; None where none is.
    ``behind``: a run goes on in the session from which this one was opened.
    """

    simulated: bool = False
    read_only: bool = False
    looks_only: bool = False
    paused: bool = False
    held: bool = False
    frozen: float | None = None
    waiting: int = 0
    replay: float | None = None
    behind: bool = False
    place: ReplayPlace | None = None


def badge_row(badges: Badges) -> Row:
    """Every badge, the one that matters most at the right."""
    made: list[CellText] = []
    if badges.frozen is not None:
        minutes, seconds = divmod(int(badges.frozen), 60)
        made += [CellText(f" FROZEN {minutes}:{seconds:02d} +{badges.waiting:,} ", FROZEN_BADGE), CellText(" ")]
    for is_there, words, tone in (
        (badges.behind, " RUN BEHIND ", FROZEN_BADGE),
        (badges.replay is not None, f" REPLAY ×{badges.replay or 0:g} ", FROZEN_BADGE),
        (badges.held, " HELD ", HELD_BADGE),
        (badges.paused, " PAUSED ", FROZEN_BADGE),
        (badges.read_only, " READ-ONLY ", BADGE),
        (badges.simulated, " SIMULATED ", BADGE),
    ):
        made += [CellText(words, tone), CellText(" ")] if is_there else []
    return tuple(made[:-1])


class Tabs(CellWidget):
    """Tabs at the left, badges at the right; tabs lose their names, then their places, before badges do."""

    DEFAULT_CSS = "Tabs { height: 1; dock: top; }"
    GROUND = Ground.PANEL

    @dataclass
    class Clicked(Message):
        """A tab was clicked."""

        tab: str

    def __init__(self, active: str) -> None:
        super().__init__()
        self.active = active
        self.badges = Badges()

    def show(self, badges: Badges) -> None:
        if badges != self.badges:
            self.badges = badges
            self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        badges = badge_row(self.badges)
        line = CellLine(width)
        room = width - row_width(badges) - 1
        for tab, name in self._tabs(room):
            key = _find_tab_key(tab)
            if tab == self.active:
                line.put(f" {key}", _SELECTED_KEY).put(f" {name} ", _SELECTED)
            else:
                line.put(f" {key} {name} " if name else f" {key} ", MUTED)
        line.right(badges, margin=0)
        return [line.row()]

    def on_click(self, event: events.Click) -> None:
        tab = next((tab for x, tab in reversed(self.list_places()) if event.x >= x - 1), "")
        if tab and event.x < sum(map(_measure_tab, self._shown)):
            self.post_message(self.Clicked(tab))

    def list_places(self) -> list[tuple[int, str]]:
        """Each tab that is drawn, behind the column of its key."""
        places, x = [], 1
        for shown in self._shown:
            places.append((x, shown[0]))
            x += _measure_tab(shown)
        return places

    @property
    def _shown(self) -> list[tuple[str, str]]:
        return self._tabs(self.size.width - row_width(badge_row(self.badges)) - 1)

    def _tabs(self, room: int) -> list[tuple[str, str]]:
        """Those that fit with their names, from the right the key alone where that fits; the active one always."""
        shown = {tab: tab for tab in TABS}
        for is_dropped in (False, True):
            for tab in reversed([tab for tab in TABS if tab != self.active]):
                if sum(map(_measure_tab, shown.items())) <= room:
                    break
                shown[tab] = ""
                if is_dropped:
                    del shown[tab]
        return list(shown.items())


def _find_tab_key(tab: str) -> str:
    """The key that goes to a tab."""
    return find_key(tab.lower())


def _measure_tab(shown: tuple[str, str]) -> int:
    """The cells of a tab: its key, and its name where it is shown, with a blank before, between and behind."""
    tab, name = shown
    return measure_width(_find_tab_key(tab)) + 2 + (len(name) + 1 if name else 0)
