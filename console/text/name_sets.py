"""Names of nodes folded into one short set (``n[1-8]``), as sentences and cells show them."""

from collections.abc import Iterable
from functools import cache

from benchconsole.console.text.sanitize import shorten_text
from benchconsole.topology.selection import NAME, fold

NAMES_SHOWN = 40
"""Names that no set can hold which are listed before the rest is counted."""


@cache
def _fold(names: tuple[str, ...]) -> str:
    return fold(names)


def fold_names(names: Iterable[str]) -> str:
    """Node names as a short set; names that no set can hold are listed as they are, made plain."""
    known = tuple(dict.fromkeys(names))
    # ClusterShell would read brackets, commas and @ in a name as syntax.
    sound = tuple(name for name in known if NAME.fullmatch(name))
    odd = [shorten_text(name, 80) for name in known if not NAME.fullmatch(name)]
    parts = [_fold(sound)] if sound else []
    parts += odd[:NAMES_SHOWN]
    if len(odd) > NAMES_SHOWN:
        parts.append(f"and {len(odd) - NAMES_SHOWN:,} more")
    return ",".join(parts)
