"""Orders about saved filters: keep the one that is typed, list them, use one, forget one.

Their file is read when the first of these is given, and written beside the screen: another console may be writing, too.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from benchconsole.console.tui.actions import AREA_PAGES, name_keys
from benchconsole.console.tui.app.orders import Orders
from benchconsole.console.tui.messages import OrderFilter
from benchconsole.console.tui.widgets.line_input import LineInput
from benchconsole.topology.errors import TopologyError

if TYPE_CHECKING:
    from benchconsole.console.session.saved_filters import SavedFilters


class FilterOrders(Orders):
    """A filter is kept for the area of the page in front."""

    @cached_property
    def keeper(self) -> "SavedFilters":
        """The reader and writer of the file."""
        from benchconsole.console.session.saved_filters import SavedFilters

        return SavedFilters()

    def list_names(self) -> Sequence[str]:
        """The names that are taken in the area of the page in front."""
        frame = self._navigation.frame
        try:
            return () if frame is None else tuple(self.keeper.read().get(frame.filter_area, {}))
        except TopologyError:
            return ()

    def list_filters(self) -> None:
        from benchconsole.console.tui.screens.filters import FiltersScreen

        self._navigation.open(FiltersScreen(tab=self._navigation.tab))

    def save(self, name: str) -> None:
        """Keep what is typed on the page in front."""
        frame = self._navigation.frame
        if self.refuses() or frame is None:
            return
        prompt = next((each for each in frame.parts if isinstance(each, LineInput)), None)
        if prompt is None or not frame.filter_area:
            self._navigation.say("This page has no filter that could be kept.", wrong=True)
        elif not prompt.text.strip():
            words = name_keys("There is no filter to keep: / types one first.", "filter")
            self._navigation.say(words, wrong=True)
        elif prompt.wrong:
            self._navigation.say("The filter that is typed is not understood, and is not kept.", wrong=True)
        else:
            self._work(self._save(frame.filter_area, name.removeprefix("@"), prompt.text.strip()))

    async def _save(self, area: str, name: str, text: str) -> None:
        before = await self._write(partial(self.keeper.save, area, name, text))
        if before is not None:
            replaced = f", in place of {before}" if before and before != text else ""
            self._navigation.say(f"@{name} is kept for {area}: {text}{replaced}")

    def obey(self, message: OrderFilter) -> None:
        """Do what a page asks for."""
        if not message.removes:
            self._use(message.area, f"@{message.name}")
        elif not self.refuses():
            self._work(self._remove(message.area, message.name))

    def _use(self, area: str, text: str) -> None:
        """Open the area of a filter with it."""
        tabs = self._navigation.tabs
        if area in ("nodes", "findings"):
            page = tabs.nodes if area == "nodes" else tabs.findings
            self._navigation.go_to(area, base=True)
            page.call_after_refresh(page.commands["filter"].do, text)
        elif area in AREA_PAGES:
            self._navigation.open_area(area, text)
        else:
            self._navigation.say(name_keys(f"/ takes {text} on {area}, when that is open", "filter"))

    async def _remove(self, area: str, name: str) -> None:
        from benchconsole.console.tui.screens.filters import FiltersScreen

        text = await self._write(partial(self.keeper.remove, area, name))
        if text is None:
            return
        self._navigation.say(f"@{name} of {area} is removed; it was {text}" if text else f"@{name} had gone already")
        frame = self._navigation.frame
        if isinstance(frame, FiltersScreen):
            frame.read()

    async def _write(self, change: Callable[[], str]) -> str | None:
        """Have the file changed beside the screen; None where that was refused, which is said."""
        from benchconsole.console.session.user_files import tell_first
        from benchconsole.console.text.atomic_write import FileError

        try:
            return await asyncio.to_thread(change)
        except TopologyError as error:
            self._navigation.say(f"Nothing was written: {tell_first(error)}", wrong=True, stay=True)
        except (FileError, ValueError) as error:
            self._navigation.say(str(error), wrong=True)
        return None
