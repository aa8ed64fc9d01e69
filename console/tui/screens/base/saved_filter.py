"""Saved filters on a page with a filter: found by name after ``@``, completed with tab."""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from benchconsole.console.tui.queries.filtering import FindSaved, find_none
from benchconsole.console.tui.rows.text_rows import CellText
from benchconsole.console.tui.rows.themes import MUTED
from benchconsole.console.tui.screens.base.page import Page
from benchconsole.console.tui.widgets.line_input import LineInput
from benchconsole.topology.errors import TopologyError

if TYPE_CHECKING:
    from benchconsole.console.session.saved_filters import SavedFilters

_BEGUN = re.compile(r"(?:^|[\s!])@([A-Za-z0-9_.-]*)$")


def find_keeper(page: Page) -> "SavedFilters | None":
    """The saved filters that the application keeps; None where it keeps none."""
    return getattr(getattr(page.app, "filter_orders", None), "keeper", None)


def find_saved(page: Page, text: str) -> FindSaved:
    """The finder of saved filters of the page's area; their file is not looked at where ``text`` names none."""
    keeper = find_keeper(page) if "@" in text else None
    return find_none if keeper is None else lambda name: keeper.find(page.filter_area, name)


def complete_saved(page: Page, prompt: LineInput) -> bool:
    """Complete ``@`` and what follows it before the cursor; whether the text is another one now.

    Of several names that fit as much is typed as they have in common, and all are named behind the line.
    """
    begun = _BEGUN.search(prompt.text[: prompt.at])
    keeper = find_keeper(page)
    if begun is None or keeper is None:
        return False
    try:
        names = [name for name in keeper.read().get(page.filter_area, {}) if name.startswith(begun[1])]
    except TopologyError:
        names = []  # the filter itself tells why
    common = _find_common(names).removeprefix(begun[1]) + (" " if len(names) == 1 else "")
    if common:
        rest = prompt.text[prompt.at :]
        prompt.fill(prompt.text[: prompt.at] + common + rest)
        prompt.at -= len(rest)
    if len(names) != 1:
        said = f"tab: {'  '.join(f'@{name}' for name in names)}" if names else "no saved filter here begins so"
        prompt.show(note=(CellText(said, MUTED),))
    return bool(common) and len(names) == 1


def _find_common(names: Sequence[str]) -> str:
    """The beginning that several names share."""
    if not names:
        return ""
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(min(names), max(names), strict=False))
    return "".join(letter for letter, _ in alike)
