"""The columns of the node table: chosen in a sheet or by name, and read beside the screen.

Facts of ten thousand nodes may take seconds to read, and nobody waits for them who has not asked.
"""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.node_row import DEFAULT, Choice
from benchconsole.console.tui.rows.text_rows import CellText
from benchconsole.console.tui.rows.themes import MUTED
from benchconsole.console.tui.screens.base.page import Page
from benchconsole.console.tui.screens.base.sheet import Sheet, find_most_rows
from benchconsole.console.tui.widgets.column_list import ColumnList
from benchconsole.console.tui.widgets.line_input import LineInput
from benchconsole.console.tui.widgets.node_table import NodeTable
from benchconsole.console.tui.widgets.tabs import Badges
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.same_objects import are_same
from benchconsole.store.errors import StoreError
from benchconsole.topology.units import counted

if TYPE_CHECKING:
    from benchconsole.console.tui.queries.column_reader import ColumnOffers, ColumnReader

EVERY_SECONDS = 0.2
"""How often the sheet says how far the reading is."""

READING = "what the nodes told is being read"

SAVED = "columns are found by their text; saved filters are of rows"
"""In place of columns where somebody types the name of a saved filter."""


class ColumnsSheet(Sheet[tuple[Choice, ...]]):
    """Dismisses with the columns that are chosen, in their order. Typed text keeps the columns that hold it."""

    KEYS: ClassVar[tuple[tuple[str, str], ...]] = (
        ("type", "to filter"), ("space", "shows it or not"), ("enter", "applies"), ("esc", "leaves all as it is"),
    )  # fmt: skip

    def __init__(self, chosen: Sequence[Choice], badges: Badges) -> None:
        super().__init__("columns", badges)
        self.offers: ColumnOffers | None = None
        self.wanted = list(chosen)
        self.prompt = LineInput("/", asked=("space",))
        self.list = ColumnList()
        self.note = READING
        self.parts = (self.prompt, self.list)

    def on_mount(self) -> None:
        super().on_mount()
        self._filter()

    def on_resize(self) -> None:
        self.list.styles.height = find_most_rows(self.size.height)

    def show(self, offers: "ColumnOffers", note: str = "") -> None:
        """Take what there is to choose from."""
        self.offers = offers
        self.wanted = list(offers.expand(self.wanted))
        self.say(note)

    def say(self, note: str) -> None:
        """Say how far the reading is, or why nothing can be read."""
        self.note = note
        self._filter()

    @on(LineInput.Changed)
    def _typed(self) -> None:
        """Go to the first of the columns that hold the text."""
        self._filter()
        self.list.go(0)

    def _filter(self) -> None:
        wanted = self.prompt.text.lower()
        every = self.offers.offers if self.offers is not None else ()
        some = [each for each in every if wanted in f"{each.name}\n{each.group}\n{each.words}".lower()]
        absent = "no column holds this text" if every else "nothing was measured or told yet"
        if wanted.startswith("@"):
            absent = SAVED
        some.sort(key=lambda each: each.name != wanted)  # who types the whole name means it
        self.list.show(some, frozenset(self.wanted), self.note or absent)
        chosen = sum(each.choice in self.wanted for each in every)
        said = f"{chosen:,} of {counted(len(every), 'column')} chosen"
        said += f", {len(some):,} hold the text" if wanted else ""
        words = "   ".join(filter(None, (said if every else "", self.note)))
        self.prompt.show(note=(CellText(words, MUTED),))

    @on(LineInput.Asked)
    def _asked(self, event: LineInput.Asked) -> None:
        offer = self.list.chosen
        if event.key in ("up", "down"):
            self.list.move(-1 if event.key == "up" else 1)
        elif event.key == "space" and offer is not None:
            if offer.choice in self.wanted:
                self.wanted.remove(offer.choice)
            else:
                self.wanted.append(offer.choice)
            self._filter()
            self.list.move(1)

    @on(LineInput.Entered)
    def _entered(self) -> None:
        self.dismiss(tuple(self.wanted) if self.offers is None else self.offers.contract(self.wanted))


class ColumnChoosing:
    """Has the columns of ``table`` chosen, and read anew where a round of the session told more.

    ``page`` is painted when the table has other columns. ``wanted`` stay as long as the page.
    """

    def __init__(self, page: Page, table: NodeTable) -> None:
        self._page = page
        self._table = table
        self._reader: ColumnReader | None = None
        self._offers: ColumnOffers | None = None
        self._sheet: ColumnsSheet | None = None
        self._lock = asyncio.Lock()
        self._done: tuple[object, ...] = ()
        self.wanted: tuple[Choice, ...] = (DEFAULT,)

    def ask(self) -> None:
        """Put the sheet in front; what there is to choose from comes as it is read."""
        if self._find_view() is None:
            self._page.say("The session is being read.")
        elif self._page.app.screen is self._page:
            sheet = self._sheet = ColumnsSheet(self.wanted, self._page.tabs.badges)
            self._page.app.push_screen(sheet, self._answer)
            sheet.take_focus()  # now: what is typed next is for it
            self._work()

    def choose_typed(self, text: str) -> None:
        """Show the columns whose names were typed; ``default`` are those of every table."""
        self._page.run_worker(self._choose(text.replace(",", " ").split()), group="columns")

    def list_names(self) -> tuple[str, ...]:
        """The names of all columns, as far as they were read."""
        if self._offers is None and self._find_view() is not None:
            self._page.run_worker(self._read_for_names(), group="columns")
        return (DEFAULT.name, *(offer.name for offer in (self._offers.offers if self._offers is not None else ())))

    def follow(self) -> None:
        """Read anew what the table shows besides the metrics of every table, where the session has told more."""
        if self.wanted != (DEFAULT,) or self._sheet is not None:
            self._work()

    def _find_view(self) -> RunView | None:
        """The view on the page; None until the session is read."""
        view = self._page.run_view
        return view if view is not None and view.reading is None else None

    def _answer(self, wanted: tuple[Choice, ...] | None) -> None:
        self._sheet = None
        if wanted is not None:
            self.wanted = wanted
            self._work()

    def _work(self) -> None:
        view = self._find_view()
        if view is not None and not self._is_done(view) and not self._lock.locked():
            self._page.run_worker(self._make(), group="columns")

    def _is_done(self, view: RunView) -> bool:
        basis = (*_read_basis(view), self.wanted)
        is_offered = self._sheet is None or self._sheet.offers is not None
        return is_offered and are_same(basis, self._done)

    async def _make(self) -> None:
        """Read and make the columns until they are those of the latest view."""
        try:
            async with self._lock:
                while (view := self._find_view()) is not None and not self._is_done(view):
                    wanted = self.wanted
                    offers = await self._read(view)
                    made = await asyncio.to_thread(offers.make, wanted, self._table.every)
                    self._done = (*_read_basis(view), wanted)
                    self._table.take_columns(wanted, made)
                    if self._page.run_view is not None:
                        self._page.paint(self._page.run_view)
        except StoreError as error:
            self._refuse(error)

    async def _read(self, view: RunView) -> "ColumnOffers":
        """The columns to choose from in ``view``; the metrics are shown before what nodes told is read."""
        from benchconsole.console.tui.queries.column_reader import ColumnReader  # here: it brings what judging needs

        if self._offers is not None and are_same(_read_basis(view), _read_basis(self._offers.view)):
            self._show(self._offers)
            return self._offers
        reader = self._reader = self._reader or ColumnReader()
        self._show(await asyncio.to_thread(reader.read_metrics, view), READING)
        reading = asyncio.ensure_future(asyncio.to_thread(reader.read, view))
        while not (await asyncio.wait({reading}, timeout=EVERY_SECONDS))[0]:
            if self._sheet is not None:
                self._sheet.say(f"{READING}, {counted(reader.count, 'answer')} so far")
        self._offers = reading.result()
        self._show(self._offers)
        return self._offers

    def _show(self, offers: "ColumnOffers", note: str = "") -> None:
        if self._sheet is not None:
            self._sheet.show(offers, note)

    async def _choose(self, names: Sequence[str]) -> None:
        from benchconsole.console.tui.queries.column_reader import ChoiceError

        view = self._find_view()
        if view is None:
            self._page.say("The session is being read.", wrong=True)
            return
        try:
            async with self._lock:
                self.wanted = (await self._read(view)).resolve(names)
        except ChoiceError as error:
            self._page.say(f"columns {sanitize(str(error))}", wrong=True)
        except StoreError as error:
            self._refuse(error)
        else:
            self._work()

    async def _read_for_names(self) -> None:
        view = self._find_view()
        if view is not None and not self._lock.locked():
            try:
                async with self._lock:
                    await self._read(view)
            except StoreError as error:
                self._refuse(error)
            self.follow()  # the sheet may have come meanwhile

    def _refuse(self, error: StoreError) -> None:
        said = f"what the nodes told cannot be read now: {sanitize(str(error))}"
        if self._sheet is not None:
            self._sheet.say(said)
        else:
            self._page.say(said, wrong=True)


def _read_basis(view: RunView) -> tuple[object, ...]:
    """The parts of a view that the columns rest on; the same objects where nothing has changed."""
    return (view.fabric, view.closed, view.verdicts, view.replaced)
