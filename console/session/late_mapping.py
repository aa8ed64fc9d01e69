"""A mapping that is made when somebody first looks into it: a stored session is shown before its probes are loaded."""

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class LateMapping(Mapping[K, V]):
    """The mapping of ``make``, which is called once, in the thread that asks first; others wait for it.

    Raises the error of ``make`` to each who asks.
    """

    def __init__(self, make: Callable[[], Mapping[K, V]]) -> None:
        self._make = make
        self._making = threading.Lock()
        self._made: Mapping[K, V] | None = None

    def _find(self) -> Mapping[K, V]:
        with self._making:
            if self._made is None:
                self._made = self._make()
            return self._made

    def __getitem__(self, key: K) -> V:
        return self._find()[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._find())

    def __len__(self) -> int:
        return len(self._find())
