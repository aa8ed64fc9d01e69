"""Signs of findings about a description, shared by screens and reports. No colours.

Apart from the signs of states, so that ``check`` does not load all of a run.
"""

from msgspec import Struct

from benchconsole.topology.analysis.static_finding import Severity


class Sign(Struct, frozen=True):
    """One state as a glyph of one cell, as ASCII, and as the word used in tables."""

    glyph: str
    ascii: str
    word: str


SEVERITIES: dict[Severity, Sign] = {
    Severity.ERROR: Sign("■", "E", "error"),
    Severity.WARNING: Sign("□", "W", "warning"),
    Severity.NOTE: Sign("▫", "N", "note"),
}
"""How findings about a description look; none of these signs is that of a verdict."""
