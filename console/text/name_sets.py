"""Names of nodes folded into one short set (``n[1-8]``), as sentences and cells show them."""

import re
from collections.abc import Iterable
from functools import cache

from benchconsole.console.text.sanitize import shorten_text
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.selection import NAME, fold

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
