"""A list of which a filter shows a part."""

from collections.abc import Mapping

from benchconsole.console.tui.queries.filtering import EVERYTHING, Filter
from benchconsole.console.tui.rows.scales import Scale
from benchconsole.console.tui.widgets.listing import Listing


class FilteredListing(Listing):
    """Subclasses keep what ``filter`` lets through when ``apply_filter`` is called; ``count`` is how much that is."""

    def __init__(self) -> None:
        super().__init__()
        self.filter: Filter = EVERYTHING

    @property
    def filter_columns(self) -> Mapping[str, Scale | None]:
        """The columns that a filter may name, each with its scale, None for words."""
        raise NotImplementedError  # no ABC: query(Listing) has to take the class itself

    @property
    def total(self) -> int:
        """Rows without the filter."""
        raise NotImplementedError  # no ABC: query(Listing) has to take the class itself

    def apply_filter(self) -> None:
        """Keep the rows that ``filter`` lets through, and draw them."""
        raise NotImplementedError  # no ABC: query(Listing) has to take the class itself
