"""Names of nodes folded into one short set (``n[1-8]``), as sentences and cells show them."""

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from benchconsole.console.text.sanitize import shorten_text
from benchconsole.topology.grouping import group_by_key

NAMES_SHOWN = 40
"""Names that no set can hold which are listed before the rest is counted."""

_ADDRESS = re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}\b")


def anonymize(words: str, node: str) -> str:
    """The words about a node without its name and address, so that nodes with the same words fold."""
    return _ADDRESS.sub("ADDRESS", re.sub(rf"\b{re.escape(node)}\b", "NODE", words))


def group_alike(reasons: Iterable[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """Pairs of a node and the words about it, by words; one node alone keeps its words as they are."""
    groups = group_by_key((anonymize(words, node), (node, words)) for node, words in reasons)
    return [(alike if len(pairs) > 1 else pairs[0][1], [node for node, _ in pairs]) for alike, pairs in groups.items()]


@lru_cache(maxsize=65_536)
def _is_sound(name: str) -> bool:
    from benchconsole.topology.selection import NAME  # here: it imports ClusterShell, before the first frame

    return NAME.fullmatch(name) is not None


def fold_names(names: Iterable[str]) -> str:
    """Node names as a short set; names that no set can hold are listed as they are, made plain."""
    return _fold(tuple(dict.fromkeys(names)))


@cache
def _fold(known: tuple[str, ...]) -> str:
    from benchconsole.topology.selection import fold  # as above

    # ClusterShell would read brackets, commas and @ in a name as syntax.
    sound = [name for name in known if _is_sound(name)]
    odd = [shorten_text(name, 80) for name in known if not _is_sound(name)] if len(sound) < len(known) else []
    parts = [fold(sound)] if sound else []
    parts += odd[:NAMES_SHOWN]
    if len(odd) > NAMES_SHOWN:
        parts.append(f"and {len(odd) - NAMES_SHOWN:,} more")
    return ",".join(parts)
