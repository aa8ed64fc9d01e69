"""Round trips to the last hop of a path."""

from collections.abc import Iterator, Sequence

from benchconsole.probes.api import Labels, ProbeOutputError, Reading, Unit
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.readers.numbers import parse_decimal
from benchconsole.probes.readers.readings import add_labels

_LONGEST_MS = 3.6e6


def make_round_trips(times: Sequence[str], marks: Labels, raw: str) -> Iterator[Reading]:
    """Least, mean and greatest of ``times`` in ms; ProbeOutputError for one that is 0 or longer than an hour."""
    values = [parse_decimal(text) or 0.0 for text in times]
    if not all(0 < value < _LONGEST_MS for value in values):
        raise ProbeOutputError(shorten(raw), "round trips above 0 ms")
    for statistic, value in (("min", min(values)), ("mean", sum(values) / len(values)), ("max", max(values))):
        yield Reading("traceroute.rtt", value * 1e-3, Unit.SECOND, add_labels(marks, statistic=statistic), raw)
