"""The area of saved filters: each with its name, the area that it filters, and its text."""

from collections.abc import Mapping

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import Column, words
from benchconsole.console.tui.queries.area import Area, Record, Row


def list_saved_filters(known: Mapping[str, Mapping[str, str]]) -> Area:
    """Every saved filter, by area and name in the order of the file; ``known`` maps area to name to text."""
    columns = {"name": Column("name", least=8), "area": Column("area", least=8), "text": words("text", 20)}
    rows = (_make_row(area, name, text) for area, filters in known.items() for name, text in filters.items())
    return Area("Saved filters", columns, tuple(rows), {})


def _make_row(area: str, name: str, text: str) -> Row:
    record: Record = {"name": name, "area": area, "text": text}
    return Row({"name": f"@{sanitize(name)}", "area": sanitize(area), "text": sanitize(text)}, {}, record)
