"""The heat map of a page: which metric or fact its cells show, and the values, which are read beside the screen."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import TypedCommand
from benchconsole.console.tui.fabric_map.map_cells import CellContent
from benchconsole.console.tui.screens.base.map_page import MapPage
from benchconsole.console.tui.widgets.heat_line import HeatLine
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.same_objects import are_same

if TYPE_CHECKING:
    from benchconsole.console.tui.queries.heat_choices import HeatChoice
    from benchconsole.console.tui.queries.heat_reading import HeatReader, Metrics
    from benchconsole.console.tui.screens.base.map_filter import MapFilter

FindMetrics = Callable[[], "Metrics"]
"""Tells what the probes at hand declare; called when somebody chooses a heat map."""

OFF = "off"
"""The word that is typed in place of a name to leave the heat map."""


class HeatPage(MapPage):
    """A page whose map shows results: it can be a heat map, and draws the nodes alone that match a filter.

    Subclasses put the line of ``matching`` among their parts.
    """

    filter_area = "nodes"
    heat: "MapHeat"
    matching: "MapFilter"

    def action_heat(self) -> None:
        """Ask which metric or fact the cells are to show."""
        self.heat.ask()

    def action_filter(self) -> None:
        self.matching.begin()

    def action_back(self) -> None:
        """Clear the filter first."""
        if self.matching.line.display:
            self.matching.leave()
        else:
            super().action_back()


def find_no_metrics() -> "Metrics":
    """For pages that no session stands behind."""
    return {}


class MapHeat:
    """Gives ``page.map`` its values and ``line`` their words. ``changed`` is called where the cells show others.

    A reading that goes on is not begun again: what came meanwhile is read after it.
    """

    def __init__(self, page: MapPage, find_metrics: FindMetrics, changed: Callable[[], None]) -> None:
        self.line = HeatLine()
        self.choice: HeatChoice | None = None
        self._page = page
        self._find_metrics = find_metrics
        self._changed = changed
        self._choices: Sequence[HeatChoice] = ()
        self._reader: HeatReader | None = None
        self._read_of: tuple[object, ...] = ()
        self._is_reading = False
        self._is_asking = False
        page.commands["heat"] = TypedCommand(self.choose_typed, self._list_names)

    def go_on_from(self, other: "MapHeat") -> None:
        """Have cells show what those of another page show, with what is read of it."""
        mine, theirs = self._page.map, other._page.map  # noqa: SLF001 one of this class
        mine.content, mine.heat, self.choice = theirs.content, theirs.heat, other.choice
        if self.choice is not None:
            self._reader = self._make_reader(self.choice)
            self._read_of = () if theirs.heat is None else other._read_of  # noqa: SLF001 as above

    def _make_reader(self, choice: "HeatChoice") -> "HeatReader":
        from benchconsole.console.tui.queries.heat_reading import HeatReader

        return HeatReader(choice, self._find_metrics())

    @property
    def is_shown(self) -> bool:
        return self._page.map.content is CellContent.HEAT

    def ask(self) -> None:
        """Ask for a name, once it is known which there are."""
        if not self._is_asking:  # its key may come twice in one read
            self._is_asking = True
            self._page.run_worker(self._ask(), exit_on_error=True, group="heat names")

    async def _ask(self) -> None:
        from benchconsole.console.tui.screens.command import CommandSheet

        is_known = await self._learn_choices()
        self._is_asking = False
        if is_known and self._page.is_active:
            await self._page.run_action("app.do('command')")
            front = self._page.app.screen
            if isinstance(front, CommandSheet):
                front.begin("heat ")

    async def _learn_choices(self) -> bool:
        from benchconsole.console.tui.queries.heat_choices import list_heat_choices
        from benchconsole.store.errors import StoreError

        view = self._page.run_view
        if view is None or view.reading is not None:
            self._page.say("The session is being read.")
            return False
        try:
            self._choices = await asyncio.to_thread(list_heat_choices, view)
        except StoreError as error:
            self._page.say(sanitize(f"{error}"), wrong=True)
            return False
        return True

    def _list_names(self) -> Sequence[str]:
        return (*(each.name for each in self._choices), OFF)

    def choose_typed(self, text: str) -> None:
        """Show what is called so; ``off`` leaves the heat map."""
        if text.strip().lower() == OFF:
            self.leave()
        else:
            self._page.run_worker(self._choose(text), exit_on_error=True, group="heat choice")

    async def _choose(self, text: str) -> None:
        from benchconsole.console.tui.queries.heat_choices import HeatChoiceError, find_heat_choice

        if not await self._learn_choices():
            return
        try:
            self.choose(find_heat_choice(self._choices, text))
        except HeatChoiceError as error:
            self._page.say(f"{error}", wrong=True)

    def choose(self, choice: "HeatChoice") -> None:
        """Show ``choice`` from now on."""
        self.choice = choice
        self._reader, self._read_of = self._make_reader(choice), ()
        self._page.map.heat, self._page.map.content = None, CellContent.HEAT
        self._changed()
        self._page.map.redraw()
        if self._page.run_view is not None:
            self.follow(self._page.run_view)

    def leave(self) -> None:
        """Cells show states again."""
        if self.is_shown:
            self._page.map.content = CellContent.STATES
            self._page.map.redraw()
            self._changed()

    def follow(self, view: RunView) -> None:
        """Read the values of ``view`` where they may be others than those that were read last."""
        basis = (view.nodes, view.findings, view.plan)
        is_known = are_same(basis, self._read_of)
        if self.is_shown and self._reader is not None and not self._is_reading and not is_known:
            self._read_of, self._is_reading = basis, True
            self._page.run_worker(self._read(self._reader, view), exit_on_error=True, group="heat values")
        self.tell()

    async def _read(self, reader: "HeatReader", view: RunView) -> None:
        from benchconsole.store.errors import StoreError

        values = None
        try:
            values = await asyncio.to_thread(reader.read, view)
        except StoreError as error:
            self._page.say(sanitize(f"{error}"), wrong=True)
        finally:
            self._is_reading = False
        if reader is self._reader and values is not None:
            self._page.map.heat = values
            self._page.map.redraw()
            self._changed()
        elif reader is self._reader and self._page.map.heat is None:
            self.leave()  # nothing is being read any more
        if self._page.run_view is not None:
            self.follow(self._page.run_view)

    def tell(self) -> None:
        """Say what the signs mean, and the value under the cursor."""
        shown = self._page.map
        spot = shown.find_spot(shown.mark)
        name = self.choice.name if self.choice is not None and self.is_shown else ""
        self.line.show(name, shown.heat, self._page.run_view, spot.nodes if spot is not None else ())
