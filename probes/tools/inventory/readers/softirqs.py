"""``/proc/softirqs``, and what ``ps -eo comm,time`` says of ``ksoftirqd``, as facts about deferred interrupts.

Time that ``ksoftirqd`` uses is load that interrupts could not carry by themselves.
"""

import re
from collections.abc import Iterator, Sequence

from benchconsole.probes.api import Fact, Unit
from benchconsole.probes.readers.lines import find_matches, read_lines
from benchconsole.probes.tools.inventory.facts import keep_whole_lines, label_part
from benchconsole.probes.tools.inventory.readers.columns import read_rows

EXPECTED = "the table of /proc/softirqs"

_KINDS = frozenset(
    ("HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "BLOCK_IOPOLL", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU")
)
_OWN = re.compile(r"\s*(?:[A-Z_]+:[0-9\s]+|CPU[0-9]+.*|SUM|COMMAND\s+TIME|ksoftirqd/.*)\s*")
_THREAD = re.compile(
    r"\s*ksoftirqd/(?P<cpu>[0-9]+)\s+(?:(?P<days>[0-9]+)-)?"
    r"(?:(?P<hours>[0-9]{2,}):)?(?P<minutes>[0-9]{2}):(?P<seconds>[0-9]{2})"
)


def find_facts(text: str) -> Iterator[Fact]:
    """``softirq.total`` with ``kind``, summed over all processors since the start of the node;

    ``softirq.ksoftirqd_time`` with ``cpu``: seconds of processor time of each ``ksoftirqd``.
    """
    lines = keep_whole_lines(read_lines(text), _OWN)
    for kind, total, words in read_rows(lines):
        if kind in _KINDS and not words:
            yield Fact("softirq.total", float(total), Unit.ONE, label_part("kind", kind))
    for thread in find_matches(_THREAD, lines):
        days, hours, minutes, seconds = (int(thread[part] or 0) for part in ("days", "hours", "minutes", "seconds"))
        spent = float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
        yield Fact("softirq.ksoftirqd_time", spent, Unit.SECOND, label_part("cpu", thread["cpu"]))


def sum_threads(found: Sequence[Fact]) -> Iterator[Fact]:
    """The threads' time summed, and that of the busiest one with its processor."""
    busiest = max(found, key=lambda fact: float(fact.value))
    yield Fact("softirq.ksoftirqd_time", sum(float(fact.value) for fact in found), Unit.SECOND)
    yield Fact("softirq.ksoftirqd_most", busiest.value, Unit.SECOND, busiest.labels)
