"""The base of every table with columns: which of them sort, which one is picked, and marks for both in the heading."""

from collections.abc import Sequence
from typing import Any, ClassVar

from benchconsole.console.tui.queries.filtering import Sort
from benchconsole.console.tui.widgets.listing import FilteredItem, FilteredListing

_DIGITS = "¹²³"


class SortedTable(FilteredListing[FilteredItem]):
    """Rows that are filtered and sorted; subclasses give ``columns``, what fits, and the order itself.

    ``ORDER`` sorts until somebody asks for another column; of ``UNIQUE`` no two rows have the same, so that nothing
    needs to sort after it. ``marked`` are the rows that orders go to, by what the page marks them by.
    """

    ORDER: ClassVar[tuple[Sort, ...]] = ()
    UNIQUE: ClassVar[str] = ""
    marked: frozenset[Any] = frozenset()

    def __init__(self) -> None:
        super().__init__()
        self.sorts: list[Sort] = list(self.ORDER)
        self.picked = 0

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column by its key, from left to right."""
        raise NotImplementedError  # no ABC, as for Listing

    def fitting(self, width: int) -> tuple[str, ...]:
        """The columns that are drawn in ``width`` cells."""
        raise NotImplementedError  # no ABC, as for Listing

    def as_text(self, *, only: Sequence[FilteredItem] | None = None) -> str:
        """Rows as tab-separated text with a heading, every column."""
        raise NotImplementedError  # no ABC, as for Listing

    def sort_by(self, column: str, *, also: bool = False) -> None:
        """Sort by ``column``; again to turn it round; ``also`` after the others."""
        known = dict(self.sorts)
        if also:
            others = [(name, down) for name, down in self.sorts if name != column][:2]
            self.sorts = [*others, (column, not known[column] if column in known else False)]
        else:
            down = not self.sorts[0][1] if self.sorts and self.sorts[0][0] == column else False
            rest = [] if column == self.UNIQUE else [each for each in self.ORDER if each[0] != column]
            self.sorts = [(column, down), *rest][:3]
        self.apply_filter()

    def pick(self, step: int) -> None:
        """Pick the column so many to the right."""
        self.picked = max(0, min(self.picked + step, len(self.columns) - 1))
        self.redraw()

    @property
    def hidden(self) -> int:
        """How many columns do not fit."""
        return len(self.columns) - len(self.fitting(self.size.width))

    def mark_sort(self, column: str) -> str:
        """The mark after the name of a column: its place among those that sort, and whether downwards."""
        place = next((index for index, (name, _) in enumerate(self.sorts) if name == column), None)
        if place is None:
            return ""
        return _DIGITS[place] + ("▾" if self.sorts[place][1] else "")
