"""Reads ``/proc/interrupts`` as facts about how often interrupts were served, and from ``/proc/irq`` where.

Counts are sums over all processors since the node booted.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from probes.api import Fact, Unit, labels
from probes.builtin.captured import one_line, whole_lines
from probes.builtin.inventory.columns import rows
from probes.builtin.inventory.facts import once, said, settled, some

_ROW = re.compile(r"\s*(?:[A-Za-z0-9_]+:\s+[0-9]|CPU0|SUM\s*$)|#")
_TRIGGER = re.compile(r"(?:.* )?\S*-?(?:edge|level|fasteoi|Edge|Level) (?P<device>.+)")
_BINDING = re.compile(r"(?:(?P<nic>\S+) )?/proc/irq/(?P<irq>[0-9]+)/smp_affinity_list:(?P<cpus>[0-9]+(?:[-,][0-9]+)*)")
_QUEUE = re.compile(r"(?P<kind>(?:txrx|rxtx|rx|tx|input|output|req|comp|fp|q|queue)[-._]?)[0-9]+(?=$|@)", re.IGNORECASE)


def parse(text: str) -> Sequence[Fact]:
    """``irq.total`` with the labels ``irq`` and ``device``: the words behind the numbers without the controller's."""
    return some(once(_totals(settled(whole_lines(text), _ROW))), "the table of /proc/interrupts")


def _totals(lines: Sequence[str]) -> Iterator[Fact]:
    for key, total, words in rows(lines):
        trigger = _TRIGGER.fullmatch(words)
        device = trigger["device"] if trigger else words
        # without its words a row of several columns may have been cut in its last number
        if device:
            yield Fact("irq.total", float(total), Unit.ONE, labels(irq=key, device=one_line(device, 60)))


def parse_bindings(text: str) -> Sequence[Fact]:
    """``irq.affinity``: the processors that may serve an interrupt, with ``irq`` and, where it was named, ``nic``.

    From lines ``/proc/irq/N/smp_affinity_list:0-3`` as ``grep -H`` writes them, a network
    interface and a blank before them or not.
    """
    found = []
    for line in settled(whole_lines(text), _BINDING):
        if bound := _BINDING.fullmatch(line):
            nic = {"nic": bound["nic"]} if bound["nic"] else {}
            found += said("irq.affinity", bound["cpus"], labels(irq=bound["irq"], **nic))
    return some(once(found), "lines /proc/irq/N/smp_affinity_list:CPUS")


def folded_totals(found: Sequence[Fact]) -> Iterator[Fact]:
    """One sum per device instead of one per interrupt: the queues of a port are added up."""
    sums: dict[str, float] = defaultdict(float)
    for fact in found:
        marks = dict(fact.labels)
        named = not marks["irq"].isdigit()
        sums[marks["irq"] if named else _QUEUE.sub(r"\g<kind>*", marks["device"])] += float(fact.value)
    for device, total in sums.items():
        yield Fact("irq.total", total, Unit.ONE, labels(device=device))


def folded_bindings(found: Sequence[Fact]) -> Iterator[Fact]:
    """One text per interface: the processors of its interrupts in order, runs of neighbours as ``0..31``."""
    bound: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for fact in found:
        marks = dict(fact.labels)
        if "nic" in marks:
            bound[marks["nic"]].append((int(marks["irq"]), str(fact.value)))
    for nic, pairs in bound.items():
        yield from said("irq.affinity", " ".join(_runs([cpus for _, cpus in sorted(pairs)])), labels(nic=nic))
        yield Fact("irq.vectors", float(len(pairs)), Unit.ONE, labels(nic=nic))


def _runs(values: Sequence[str]) -> Iterator[str]:
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
