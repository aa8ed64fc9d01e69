"""Mappings that only grow, as a session's results do: adding gives another mapping, which shares what was there.

Nothing that was handed out ever changes, so an older view stays what it was, whoever reads it in
whichever thread. Adding costs what is added, times the logarithm of what is there.
"""

from collections.abc import ItemsView, Iterator, Mapping, Set, ValuesView
from typing import TypeVar, overload

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")


class LayeredMap(Mapping[K, V]):
    """A mapping in layers, each about twice as large as the next: the newest value of a key counts.

    Keys come in the order in which they were first added.
    """

    __slots__ = ("_layers", "_size")

    def __init__(self, start: Mapping[K, V] | None = None) -> None:
        self._layers: tuple[dict[K, V], ...] = (dict(start),) if start else ()
        self._size = len(start) if start else 0

    def plus(self, more: Mapping[K, V]) -> "LayeredMap[K, V]":
        """With ``more``, which counts where both have a key."""
        if not more:
            return self
        made: LayeredMap[K, V] = LayeredMap()
        made._size = self._size + len(set(more).difference(*self._layers))
        layers = [*self._layers, dict(more)]
        while len(layers) > 1 and len(layers[-2]) <= 2 * len(layers[-1]):
            upper = layers.pop()
            layers[-1] = {**layers[-1], **upper}
        made._layers = tuple(layers)
        return made

    def __getitem__(self, key: K) -> V:
        for layer in reversed(self._layers):
            if key in layer:
                return layer[key]
        raise KeyError(key)

    @overload
    def get(self, key: K) -> V | None: ...

    @overload
    def get(self, key: K, default: V | T) -> V | T: ...

    def get(self, key: K, default: V | T | None = None) -> V | T | None:
        """As that of a dictionary; without the exception that ``Mapping`` would catch for each key that is missing."""
        for layer in reversed(self._layers):
            if key in layer:
                return layer[key]
        return default

    def __contains__(self, key: object) -> bool:
        for layer in self._layers:  # noqa: SIM110 - a generator costs as much as the look
            if key in layer:
                return True
        return False

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[K]:
        return iter(self._flat())

    def items(self) -> ItemsView[K, V]:
        """Keys with values, as fast as those of a dictionary."""
        return self._flat().items()

    def values(self) -> ValuesView[V]:
        """The values, as fast as those of a dictionary."""
        return self._flat().values()

    def _flat(self) -> dict[K, V]:
        """Everything in one layer; kept, for it says the same."""
        if len(self._layers) != 1:
            flat: dict[K, V] = {}
            for layer in self._layers:
                flat.update(layer)
            self._layers = (flat,)
        return self._layers[0]

    def __repr__(self) -> str:
        return f"LayeredMap({dict(self)!r})"


def make_layered(known: Mapping[K, V]) -> LayeredMap[K, V]:
    """``known`` as a mapping that can grow; itself where it can already."""
    return known if isinstance(known, LayeredMap) else LayeredMap(known)


class OpenTests(Set[K]):
    """The tests that were started and have not ended: the keys of ``started`` that ``ended`` lacks."""

    __slots__ = ("_ended", "_size", "_started")

    def __init__(
        self, started: LayeredMap[K, None] | None = None, ended: Mapping[K, object] | None = None, *, size: int = 0
    ) -> None:
        self._started: LayeredMap[K, None] = started if started is not None else LayeredMap()
        self._ended: Mapping[K, object] = ended if ended is not None else {}
        self._size = size

    def moved(self, started: Mapping[K, None], ended: Mapping[K, object], over: Mapping[K, object]) -> "OpenTests[K]":
        """After some more were ``started`` and then some ``ended``; ``over`` is everything that has ended."""
        fresh_starts: dict[K, None] = {key: None for key in started if key not in self._started}
        grown = self._started.plus(fresh_starts)
        begun = sum(key not in self._ended for key in fresh_starts)
        gone = sum(key in grown and key not in self._ended for key in ended)
        return OpenTests(grown, over, size=self._size + begun - gone)

    @classmethod
    def _from_iterable(cls, it: object) -> frozenset[K]:  # type: ignore[override]
        return frozenset(it)  # type: ignore[call-overload,no-any-return]

    def __contains__(self, key: object) -> bool:
        return key in self._started and key not in self._ended

    def __iter__(self) -> Iterator[K]:
        return (key for key in self._started if key not in self._ended)

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return f"OpenTests({list(self)!r})"
