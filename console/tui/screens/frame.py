"""Owns what every screen has: tabs and badges, crumb and tally, the keys, and how a new view arrives."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen
from textual.widget import Widget

from console.sums import Sums
from console.tui.actions import MOVES, bindings
from console.tui.widgets.banner import Banner
from console.tui.widgets.canvas import Canvas
from console.tui.widgets.crumb import Crumb
from console.tui.widgets.footer import Footer, Shown
from console.tui.widgets.listing import Listing
from console.tui.widgets.tabs import Badges, Tabs
from console.view import RunView

SAID_FOR = 4.0


class Frame(Screen[None]):
    """A screen of the console. Subclasses give ``parts`` and ``paint``; views come in through ``show``.

    ``sums`` are shared by the screens over one session, so that what one has counted another need not.
    """

    AUTO_FOCUS = ""
    TAB: ClassVar[str] = ""
    VALID: ClassVar[tuple[str, ...]] = MOVES
    KEYS: ClassVar[tuple[Shown, ...]] = ()
    BINDINGS: ClassVar[list[BindingType]] = []
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012 Textual's own declaration
        (0, "-tiny"),
        (9, "-low"),
        (20, "-high"),
    ]
    DEFAULT_CSS = """
    Frame { background: $background; overflow: hidden; }
    Frame Headline { margin-top: 1; margin-bottom: 1; }
    Frame.-low Headline { margin-top: 0; height: 1; }
    Frame.-tiny Headline { display: none; }
    Frame.-tiny Crumb { display: none; }
    """

    def __init__(self, sums: Sums | None = None) -> None:
        super().__init__()
        self.sums = sums or Sums()
        self.tabs = Tabs(self.TAB)
        self.banner = Banner()
        self.crumb = Crumb()
        self.keys = Footer(self.KEYS)
        self.run_view: RunView | None = None

    def __init_subclass__(cls, **kwargs: bool) -> None:
        # Bindings follow from the list of valid actions; Textual collects them when the class is made.
        cls.BINDINGS = [*bindings(cls.VALID)]
        super().__init_subclass__(**kwargs)

    def compose(self) -> ComposeResult:
        """Frame around the parts."""
        yield self.tabs
        yield self.banner
        yield self.crumb
        yield from self.parts()
        yield self.keys

    def parts(self) -> Sequence[Widget]:
        """The widgets between the crumb and the keys."""
        return ()

    def show(self, view: RunView, badges: Badges) -> None:
        """Take the latest view; paint when it is another."""
        self.tabs.show(badges)
        if self.is_mounted:
            self.banner.show(view.held, view.spool)
        if view is not self.run_view:
            self.run_view = view
            if self.is_mounted:
                self.paint(view)

    def on_mount(self) -> None:
        """Paint what came before the widgets were there."""
        if self.run_view is not None:
            self.banner.show(self.run_view.held, self.run_view.spool)
            self.paint(self.run_view)

    def on_resize(self) -> None:
        """Share the height out anew."""
        if self.run_view is not None:
            self.paint(self.run_view)

    def paint(self, view: RunView) -> None:
        """Give every part its share of ``view``."""

    def say(self, text: str, *, wrong: bool = False) -> None:
        """A line in place of the keys, for a while."""
        self.keys.say(text, wrong=wrong)
        self.set_timer(SAID_FOR, lambda: self.keys.say("") if self.keys.said == text else None)

    def repaint(self) -> None:
        """Paint everything anew, for another theme."""
        for canvas in self.query(Canvas):
            canvas.repaint()

    @property
    def listing(self) -> Listing | None:
        """The list that the moves go to."""
        return self.focused if isinstance(self.focused, Listing) else None

    def action_up(self) -> None:
        """One row up."""
        self.step(-1)

    def action_down(self) -> None:
        """One row down."""
        self.step(1)

    def action_page_up(self) -> None:
        """A page up."""
        self.step(-(self.listing.page - 1 if self.listing else 10))

    def action_page_down(self) -> None:
        """A page down."""
        self.step(self.listing.page - 1 if self.listing else 10)

    def action_first(self) -> None:
        """To the first row."""
        self.step(-(10**9))

    def action_last(self) -> None:
        """To the last row."""
        self.step(10**9)

    def step(self, rows: int) -> None:
        """Move in the focused list."""
        if self.listing is not None:
            self.listing.move(rows)

    def action_enter(self) -> None:
        """Open what the cursor stands on."""
        if self.listing is not None:
            self.listing.choose()

    def action_back(self) -> None:
        """One level out."""
        if len(self.app.screen_stack) > 1:
            self.app.pop_screen()
