"""Tables that benchmarks of MPI print for messages of growing size."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from benchconsole.probes.api import Labels, Reading, Unit
from benchconsole.probes.readers.numbers import parse_span
from benchconsole.probes.readers.readings import known_labels
from benchconsole.topology.copying import replace

Row = dict[str, str]
"""The cells of a line as printed, by column."""


@dataclass(slots=True, kw_only=True)
class SizeTable(ABC):
    """One benchmark as printed: its ``rows`` by column, and which ``run`` of it in the capture it is, from 1."""

    LABELS: ClassVar[Mapping[str, str]]
    """The columns that are labels of a row, by the name of the label."""

    columns: tuple[str, ...] = ()
    rows: list[Row] = field(default_factory=list)
    run: int = 1

    @property
    @abstractmethod
    def marks(self) -> Mapping[str, object]:
        """Labels of the whole table; None and empty text for what is not known."""

    def make_labels(self, row: Row | None = None, **more: object) -> Labels:
        """Labels that tell its numbers from those of others; ``row`` adds those of one row."""
        own = {name: (row or {}).get(column) for name, column in self.LABELS.items()}
        return known_labels(**{**self.marks, "run": self.run if self.run > 1 else None, **own, **more})

    def make_peak(self, probe: str, rates: Sequence[tuple[float, str]], *, both: bool) -> Reading:
        """The greatest of ``rates``, each in byte/s with its text; ``both`` for two directions together.

        ``largest`` says up to which message it was sought.
        """
        best, raw = max(rates)
        marks = self.make_labels(statistic="max", largest=self.rows[-1][self.LABELS["size"]])
        return Reading(f"{probe}.peak_both" if both else f"{probe}.peak", best, Unit.BYTE_RATE, marks, raw)


_Table = TypeVar("_Table", bound=SizeTable)


def number_tables(tables: Sequence[_Table]) -> Iterator[_Table]:
    """The tables that have rows; the second of the same benchmark is ``run`` 2, and so on."""
    seen: Counter[Labels] = Counter()
    for table in tables:
        if table.rows:
            seen[table.make_labels()] += 1
            yield replace(table, run=seen[table.make_labels()])


def is_mean_between(least: str, mean: str, most: str) -> bool:
    """Whether three printed times are decimals, and may be in this order before they were rounded."""
    low, middle, high = (parse_span(text) for text in (least, mean, most))
    return low is not None and middle is not None and high is not None and low[0] <= middle[1] and middle[0] <= high[1]
