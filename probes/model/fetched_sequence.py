"""A sequence whose items are made, or fetched from a file, when somebody looks at them."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TypeVar, overload

T = TypeVar("T")


class FetchedSequence(Sequence[T]):
    """Equal to any sequence of the same items. ``_fetch`` gives its items, and ``len`` is known without."""

    __slots__ = ()

    @abstractmethod
    def _fetch(self) -> tuple[T, ...]:
        """All items."""

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...

    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        return self._fetch()[index]

    def __iter__(self) -> Iterator[T]:
        return iter(self._fetch())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and self._fetch() == tuple(other)

    def __hash__(self) -> int:
        return hash(self._fetch())
