"""Values grouped by a key."""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import TypeVar

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


def group_by_key(pairs: Iterable[tuple[_K, _V]]) -> dict[_K, list[_V]]:
    """The values of each key in their order; keys in the order in which they are first met."""
    found: defaultdict[_K, list[_V]] = defaultdict(list)
    for key, value in pairs:
        found[key].append(value)
    return dict(found)
