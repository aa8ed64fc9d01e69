"""Owns the table that benchmarks of MPI print for messages of growing size, and how the same one again is told apart.

Refuses to know columns: the reader of each program does.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from probes.api import Labels

Row = dict[str, str]
"""The cells of a line as printed, by column."""


@dataclass(slots=True, kw_only=True)
class SizeTable(ABC):
    """One benchmark as printed: its ``rows`` by column, and which ``run`` of it in the capture it is, from 1."""

    columns: tuple[str, ...] = ()
    rows: list[Row] = field(default_factory=list)
    run: int = 1

    @abstractmethod
    def labels(self, row: Row | None = None, **more: object) -> Labels:
        """What tells its numbers from those of others; ``row`` adds those of one row."""


_Table = TypeVar("_Table", bound=SizeTable)


def numbered(tables: Sequence[_Table]) -> Iterator[_Table]:
    """The tables that have rows; the second of the same benchmark is ``run`` 2, and so on."""
    seen: Counter[Labels] = Counter()
    for table in tables:
        if table.rows:
            seen[table.labels()] += 1
            yield replace(table, run=seen[table.labels()])
