"""``/proc/interrupts``, ``/proc/softirqs`` and the time of ``ksoftirqd`` as facts about interrupts.

Both tables have a column of counters for each processor, and a row counts only with a number for every processor of
the heading. Our own script adds the columns up on the node; its heading then is ``SUM``. Counts are sums over all
processors since the node booted. Time that ``ksoftirqd`` uses is load that interrupts could not carry by themselves.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache

from benchconsole.probes.api import Fact, Unit, labels
from benchconsole.probes.readers.lines import find_matches, read_lines, shorten
from benchconsole.probes.tools.inventory.facts import keep_whole_lines, label_part, make_text

_HEAD = re.compile(r"\s*CPU[0-9]+(?:\s+CPU[0-9]+)*\s*")
_ROW = re.compile(r"\s*(?P<key>[A-Za-z0-9_]+):(?P<rest>(?:\s+\S.*)?)")
_COUNT = re.compile(r"[0-9]{1,20}")

_OF_INTERRUPTS = re.compile(r"\s*(?:[A-Za-z0-9_]+:\s+[0-9]|CPU0|SUM\s*$)|#")
_TRIGGER = re.compile(r"(?:.* )?\S*-?(?:edge|level|fasteoi|Edge|Level) (?P<device>.+)")
_QUEUE = re.compile(r"(?P<kind>(?:txrx|rxtx|rx|tx|input|output|req|comp|fp|q|queue)[-._]?)[0-9]+(?=$|@)", re.IGNORECASE)

_KINDS = frozenset(
    ("HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "BLOCK_IOPOLL", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU")
)
_OF_SOFTIRQS = re.compile(r"\s*(?:[A-Z_]+:[0-9\s]+|CPU[0-9]+.*|SUM|COMMAND\s+TIME|ksoftirqd/.*)\s*")
_THREAD = re.compile(
    r"\s*ksoftirqd/(?P<cpu>[0-9]+)\s+(?:(?P<days>[0-9]+)-)?"
    r"(?:(?P<hours>[0-9]{2,}):)?(?P<minutes>[0-9]{2}):(?P<seconds>[0-9]{2})"
)


def _read_rows(lines: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """Key, sum over all processors, and the words behind the numbers of the whole rows below the first heading."""
    columns = 0
    for line in lines:
        if not columns:
            columns = 1 if line.strip() == "SUM" else line.count("CPU") if _HEAD.fullmatch(line) else 0
            continue
        row = _ROW.fullmatch(line)
        words = row["rest"].split() if row else []
        counts = [word for word in words[:columns] if _COUNT.fullmatch(word)]
        if row and len(counts) == columns:
            yield row["key"], sum(map(int, counts)), " ".join(words[columns:])


def find_interrupts(text: str) -> Iterator[Fact]:
    """``irq.total`` with the labels ``irq`` and ``device``: the words behind the numbers without the controller's."""
    for key, total, words in _read_rows(keep_whole_lines(read_lines(text), _OF_INTERRUPTS)):
        # without its words a row of several columns may have been cut in its last number
        if device := _find_device(words):
            yield Fact("irq.total", float(total), Unit.ONE, labels(irq=key, device=device))


@lru_cache(maxsize=1024)
def _find_device(words: str) -> str:
    """The words behind the numbers of a row without the controller's; nodes of one kind have the same."""
    trigger = _TRIGGER.fullmatch(words)
    return shorten(trigger["device"] if trigger else words, 60)


def find_softirqs(text: str) -> Iterator[Fact]:
    """``softirq.total`` with ``kind``; ``softirq.ksoftirqd_time`` with ``cpu``: seconds of each ``ksoftirqd``."""
    lines = keep_whole_lines(read_lines(text), _OF_SOFTIRQS)
    for kind, total, words in _read_rows(lines):
        if kind in _KINDS and not words:
            yield Fact("softirq.total", float(total), Unit.ONE, label_part("kind", kind))
    for thread in find_matches(_THREAD, lines):
        days, hours, minutes, seconds = (int(thread[part] or 0) for part in ("days", "hours", "minutes", "seconds"))
        spent = float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
        yield Fact("softirq.ksoftirqd_time", spent, Unit.SECOND, label_part("cpu", thread["cpu"]))


def sum_totals(found: Sequence[Fact]) -> Iterator[Fact]:
    """One sum per device instead of one per interrupt: the queues of a port are added up."""
    sums: dict[str, float] = defaultdict(float)
    for fact in found:
        marks = dict(fact.labels)
        named = not marks["irq"].isdigit()
        sums[marks["irq"] if named else _name_queues(marks["device"])] += float(fact.value)
    for device, total in sums.items():
        yield Fact("irq.total", total, Unit.ONE, labels(device=device))


@lru_cache(maxsize=1024)
def _name_queues(device: str) -> str:
    """``mlx5_comp7@pci:...`` as ``mlx5_comp*@pci:...``: the queues of a port have one name."""
    return _QUEUE.sub(r"\g<kind>*", device)


def sum_threads(found: Sequence[Fact]) -> Iterator[Fact]:
    """The threads' time summed, and that of the busiest one with its processor."""
    busiest = max(found, key=lambda fact: float(fact.value))
    yield Fact("softirq.ksoftirqd_time", sum(float(fact.value) for fact in found), Unit.SECOND)
    yield Fact("softirq.ksoftirqd_most", busiest.value, Unit.SECOND, busiest.labels)


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
