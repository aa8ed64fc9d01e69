"""The base of every page: tabs and badges, crumb and tally, the keys, and the arrival of a new view."""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget

from benchconsole.console.tui.actions import MOVES, TypedCommand, bindings, find_refused
from benchconsole.console.tui.messages import OrderSession, Remarked, SessionOrder
from benchconsole.console.tui.widgets.banner import Banner
from benchconsole.console.tui.widgets.crumb import Crumb
from benchconsole.console.tui.widgets.footer import Footer, Shown
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.seek_bar import SeekBar
from benchconsole.console.tui.widgets.tabs import Badges, Tabs
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.totals import TotalsCache

if TYPE_CHECKING:
    from benchconsole.console.reports.comparison_page import ComparisonReport

SAID_FOR = 4.0

OPENING = "The session is being read."
"""In place of the crumb until there is a view."""

FAR = 10**9
"""More rows than any list has."""


class PlotWish(NamedTuple):
    """The plot that is asked for: of a metric, of its stage and with the value of a test where these are known.

    ``report`` is the comparison of two sessions whose values are drawn in one picture. ``refused`` says why nothing
    can be drawn.
    """

    metric: str = ""
    stage: str = ""
    test: str = ""
    report: "ComparisonReport | None" = None
    refused: str = ""


@dataclass
class OpenPage(Message):
    """Put a page above the one in front."""

    page: "Page"


LOW = 20
"""Rows of a screen below which the headline has one row and nothing stands apart."""


class Page(Screen[None]):
    """A page of the console. Subclasses give ``parts``, the widgets between crumb and keys, and ``paint``.

    Views come in through ``show``.

    ``sums`` are shared by the screens over one session, so that what one has counted another need not.
    ``subject`` is the node or test that a page is about; empty for a tab. ``commands`` take an argument after ``:``.
    ``find_remarked`` says what a remark would be about: what the cursor stands on; None where that is nothing.
    ``wish_plot`` names the plot of what is under the cursor. ``let_go`` drops what only the page in front needs.
    """

    AUTO_FOCUS = ""
    TAB: ClassVar[str] = ""
    """The tab that the page belongs to; a page above a tab is given the one it was opened from."""
    filter_area = ""
    """The area whose saved filters ``/`` takes; empty where nothing is filtered."""
    VALID: ClassVar[tuple[str, ...]] = MOVES
    KEYS: ClassVar[tuple[Shown, ...]] = ()
    SILENT: ClassVar[str] = "Here stands nothing that somebody could speak of."
    """The sentence where a remark would be about nothing."""
    BINDINGS: ClassVar[list[BindingType]] = []
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012 Textual's own declaration
        (0, "-tiny"),
        (9, "-low"),
        (LOW, "-high"),
    ]
    DEFAULT_CSS = """
    Page { background: $background; overflow: hidden; }
    Page Headline { margin-top: 1; margin-bottom: 1; }
    Page.-low Headline { margin-top: 0; height: 1; }
    Page.-tiny Headline { display: none; }
    Page.-tiny Crumb { display: none; }
    """

    def __init__(self, sums: TotalsCache | None = None, *, tab: str = "", subject: str = "") -> None:
        super().__init__()
        self.sums = sums or TotalsCache()
        self.tab = tab or self.TAB
        self.subject = subject
        self.tabs = Tabs(self.tab)
        self.banner = Banner()
        self.seek_bar = SeekBar()
        self.crumb = Crumb()
        self.crumb.show((OPENING,))
        self.keys = Footer(self.KEYS)
        self.keys.hide(find_refused(follows=False, looks_only=True) | {"stop"})  # until somebody knows what may be done
        self.commands: dict[str, TypedCommand] = {}
        self.wish_plot: Callable[[], PlotWish] = PlotWish
        self.parts: Sequence[Widget] = ()
        self.run_view: RunView | None = None
        self.refused: Set[str] = frozenset()
        self.planning: Set[str] = frozenset()
        """Other actions that plan here; their keys are hidden where planning is refused."""
        self.find_remarked: Callable[[], Remarked | None] = lambda: None
        self.let_go: Callable[[], None] = lambda: None

    def __init_subclass__(cls, **kwargs: bool) -> None:
        # Bindings follow from the list of valid actions; Textual collects them when the class is made.
        cls.BINDINGS = [*bindings(cls.VALID)]
        super().__init_subclass__(**kwargs)

    def compose(self) -> ComposeResult:
        yield self.tabs
        yield self.banner
        yield self.seek_bar
        yield self.crumb
        yield from self.parts
        yield self.keys

    def show(self, view: RunView, badges: Badges) -> None:
        """Take the latest view; paint when it is another."""
        self.tabs.show(badges)
        refused = find_refused(follows=badges.read_only, looks_only=badges.looks_only)
        is_new = view is not self.run_view or refused != self.refused
        self.refused = refused
        unfit = frozenset(("plan",) if view.is_going else ("stop",))
        self.keys.hide(refused | unfit | (self.planning if "plan" in refused else frozenset()))
        # As early as it is told: a page that opens has its bar from its first picture on.
        self.seek_bar.show(badges.place, is_paused=badges.paused)
        if self.is_mounted:
            self.banner.show(view.held, view.spool)
        if is_new:
            self.run_view = view
            if self.is_mounted:
                self.paint(view)

    def on_mount(self) -> None:
        """Paint what came before the widgets were there; the list has the keys, unless one has asked for a filter."""
        if self.run_view is not None:
            self.banner.show(self.run_view.held, self.run_view.spool)
            self.paint(self.run_view)
        if self.listing is not None and self.focused is None:
            self.listing.focus()

    def on_resize(self) -> None:
        if self.run_view is not None:
            self.paint(self.run_view)

    def paint(self, view: RunView) -> None:
        """Give every part its share of ``view``."""

    def say(self, text: str, *, wrong: bool = False) -> None:
        """A line in place of the keys, for a while."""
        self.keys.say(text, wrong=wrong)
        self.set_timer(SAID_FOR, lambda: self.keys.say("") if self.keys.said == text else None)

    @property
    def listing(self) -> Listing[Any] | None:
        """The list that the moves go to: the one with the focus, else the first of the page."""
        return next((each for each in (self.focused, *self.parts) if isinstance(each, Listing)), None)

    def action_move(self, where: str) -> None:
        page = self.listing.page - 1 if self.listing else 10
        self.step({"up": -1, "down": 1, "page_up": -page, "page_down": page, "first": -FAR, "last": FAR}[where])

    def step(self, rows: int) -> None:
        if self.listing is not None:
            self.listing.move(rows)

    def action_enter(self) -> None:
        """Open the row under the cursor; a page that has just come has no focus yet, and the key was not for it."""
        if isinstance(self.focused, Listing):
            self.focused.choose()

    def action_back(self) -> None:
        if len(self.app.screen_stack) > 1:
            leave_front(self.app)
        else:
            self.post_message(OrderSession(SessionOrder.LEAVE))


def leave_front(app: App[Any]) -> None:
    """Go back from the page in front. It is in cycles, which Python finds much later: its rows go at once."""
    left = app.screen
    app.pop_screen()
    if isinstance(left, Page):
        left.let_go()


def count_frame_rows(page: Page) -> int:
    """Rows of a page with a headline that no other part has: tabs, banner, seek bar, path, headline and keys."""
    bars = len(page.banner.lines(page.size.width)) + (page.seek_bar.place is not None)
    return (4 if page.size.height < LOW else 7) + bars
