"""Reader of netperf's other forms of omni, which the probe never asks for: CSV (``-o``) and columns (``-O``).

Both name a number in words; the keys of ``-k`` for these words are read by ``text_reader``.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from benchconsole.probes.readers.numbers import parse_decimal

_KEYS = {
    "Throughput": "THROUGHPUT", "Throughput Units": "THROUGHPUT_UNITS", "Protocol": "PROTOCOL",
    "Direction": "DIRECTION", "Round Trip Latency usec/tran": "RT_LATENCY",
    "Mean Latency Microseconds": "MEAN_LATENCY", "Minimum Latency Microseconds": "MIN_LATENCY",
    "Maximum Latency Microseconds": "MAX_LATENCY", "50th Percentile Latency Microseconds": "P50_LATENCY",
    "90th Percentile Latency Microseconds": "P90_LATENCY", "99th Percentile Latency Microseconds": "P99_LATENCY",
    "Transaction Rate Tran/s": "TRANSACTION_RATE",
}  # fmt: skip


@dataclass(slots=True)
class KeyTables:
    """The tables of one run: ``csv`` are the names of a line, ``columns`` the lines of a heading, None outside."""

    csv: tuple[str, ...] = ()
    columns: list[str] | None = None

    def read_line(self, line: str) -> Iterator[tuple[str, str]]:
        """Key and value of each number in ``line``."""
        cells = line.split(",")
        if self.csv and len(cells) == len(self.csv):
            names, self.csv = self.csv, ()
            for name, value in zip(names, cells, strict=True):
                if name.strip() in _KEYS:
                    yield _KEYS[name.strip()], value.strip()
            return
        if {"Throughput", "Throughput Units"} <= set(cells):
            self.csv = tuple(cells)
        yield from self._read_columns(line)

    def _read_columns(self, line: str) -> Iterator[tuple[str, str]]:
        """Each name stands in as many lines as it needs above its value."""
        cells = list(re.finditer(r"\S+", line))
        if not any(parse_decimal(cell[0]) is not None for cell in cells):
            if self.columns is not None:
                self.columns.append(line)
            return
        above, self.columns = self.columns or [], None
        for cell, after in zip_longest(cells, cells[1:]):
            start = cell.start()
            name = " ".join(" ".join(each[start : after.start() if after else None] for each in above).split())
            if name in _KEYS and not any(each[max(start - 1, 0) : start].strip() for each in above):
                yield _KEYS[name], cell[0]
