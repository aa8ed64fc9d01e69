"""``/proc/interrupts`` as facts about how often interrupts were served, and totals of a whole node.

Counts are sums over all processors since the node booted.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from benchconsole.probes.api import Fact, Unit, labels
from benchconsole.probes.readers.lines import read_lines, shorten
from benchconsole.probes.tools.inventory.facts import keep_whole_lines, make_text
from benchconsole.probes.tools.inventory.readers.columns import read_rows

EXPECTED = "the table of /proc/interrupts"

_ROW = re.compile(r"\s*(?:[A-Za-z0-9_]+:\s+[0-9]|CPU0|SUM\s*$)|#")
_TRIGGER = re.compile(r"(?:.* )?\S*-?(?:edge|level|fasteoi|Edge|Level) (?P<device>.+)")
_QUEUE = re.compile(r"(?P<kind>(?:txrx|rxtx|rx|tx|input|output|req|comp|fp|q|queue)[-._]?)[0-9]+(?=$|@)", re.IGNORECASE)


def find_facts(text: str) -> Iterator[Fact]:
    """``irq.total`` with the labels ``irq`` and ``device``: the words behind the numbers without the controller's."""
    for key, total, words in read_rows(keep_whole_lines(read_lines(text), _ROW)):
        trigger = _TRIGGER.fullmatch(words)
        device = trigger["device"] if trigger else words
        # without its words a row of several columns may have been cut in its last number
        if device:
            yield Fact("irq.total", float(total), Unit.ONE, labels(irq=key, device=shorten(device, 60)))


def sum_totals(found: Sequence[Fact]) -> Iterator[Fact]:
    """One sum per device instead of one per interrupt: the queues of a port are added up."""
    sums: dict[str, float] = defaultdict(float)
    for fact in found:
        marks = dict(fact.labels)
        named = not marks["irq"].isdigit()
        sums[marks["irq"] if named else _QUEUE.sub(r"\g<kind>*", marks["device"])] += float(fact.value)
    for device, total in sums.items():
        yield Fact("irq.total", total, Unit.ONE, labels(device=device))


def join_bindings(found: Sequence[Fact]) -> Iterator[Fact]:
    """One text per interface: the processors of its interrupts in order, runs of neighbours as ``0..31``."""
    bound: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for fact in found:
        marks = dict(fact.labels)
        if "nic" in marks:
            bound[marks["nic"]].append((int(marks["irq"]), str(fact.value)))
    for nic, pairs in bound.items():
        yield from make_text("irq.affinity", " ".join(_join_runs([cpus for _, cpus in sorted(pairs)])), labels(nic=nic))
        yield Fact("irq.vectors", float(len(pairs)), Unit.ONE, labels(nic=nic))


def _join_runs(values: Sequence[str]) -> Iterator[str]:
    """``0 1 2 3`` as ``0..3``, and ``0-7 0-7 0-7`` as ``3x0-7``."""
    place = 0
    while place < len(values):
        first = values[place]
        same = rising = 1
        while values[place + same : place + same + 1] == [first]:
            same += 1
        while first.isdigit() and values[place + rising : place + rising + 1] == [str(int(first) + rising)]:
            rising += 1
        if rising > 2:
            yield f"{first}..{int(first) + rising - 1}"
        else:
            yield f"{same}x{first}" if same > 1 else first
        place += rising if rising > 2 else same
