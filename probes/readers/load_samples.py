"""Reader of the load sampler: counters of ``/proc`` taken every second or so, and the facts that sum them up.

Format: https://docs.kernel.org/filesystems/proc.html and .../admin-guide/iostats.html. The output may be cut anywhere,
for it is read while the sampler goes on: a sample counts from its first line to its last. A counter that went
backwards, and a line of another shape, give no number.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from benchconsole.probes.api import Fact, Unit, labels
from benchconsole.probes.model.load import NodeLoad, find_number, group_load
from benchconsole.probes.readers.lines import read_lines, shorten

LAST_LINE = "end of sample"
"""The line that a whole sample ends with."""

TICKS = 100
"""Units of the times of ``/proc/PID/stat`` in a second (USER_HZ, the same on every Linux that is supported)."""

SECTOR = 512
"""Bytes of a sector of ``/proc/diskstats``, whatever the disk has."""

MOST_CORES = 4096
MOST_PARTS = 4
"""Disks and NICs of which facts are kept: those with the most to do."""
_LONGEST_LINE = 65_536
_LONGEST_NAME = 48
_DIGITS = re.compile(r"[0-9]{1,20}", re.ASCII)
_CORE = re.compile(r"cpu[0-9]{1,5}", re.ASCII)
_UPTIME = re.compile(r"([0-9]{1,12}\.[0-9]{1,3}) ", re.ASCII)
_NFS = {"/proc/net/rpc/nfsd": "load.nfsd", "/proc/net/rpc/nfs": "load.nfs"}
_BUSY = ("user", "system", "interrupt", "softirq", "steal")


@dataclass(slots=True)
class LoadSample:
    """One sample: counters since boot, by name. ``up`` is seconds since boot.

    ``cores`` are ticks of user, system, interrupt, softirq, steal and idle. ``disks`` are bytes read and written, and
    seconds busy; ``nics`` are bytes received and sent, and packets dropped. ``available`` is bytes, ``largest`` the
    resident bytes of the largest process and its name, ``own`` the seconds of processor that the sampler took.
    """

    up: float = -1.0
    cores: dict[str, tuple[float, ...]] = field(default_factory=dict)
    counts: dict[str, float] = field(default_factory=dict)
    interrupts: tuple[float, ...] = ()
    disks: dict[str, tuple[float, ...]] = field(default_factory=dict)
    nics: dict[str, tuple[float, ...]] = field(default_factory=dict)
    available: float | None = None
    threads: float | None = None
    largest: tuple[float, str] | None = None
    own: float | None = None


def count_samples(output: bytes) -> int:
    """How many whole samples there are."""
    return output.count(f"\n{LAST_LINE}\n".encode())


def read_samples(text: str) -> tuple[list[LoadSample], dict[int, str]]:
    """The whole samples in order, and the names of interrupts by their number."""
    samples: list[LoadSample] = []
    names: dict[int, str] = {}
    sample: LoadSample | None = None
    for line in read_lines(text, _LONGEST_LINE):
        if line.startswith("sample "):
            sample = LoadSample()
        elif line == LAST_LINE:
            samples.append(sample or LoadSample())  # one without its beginning counts, and gives no number
            sample = None
        elif sample is None:
            first, _, name = line.removeprefix("irq ").partition(" ")
            if line.startswith("irq ") and _DIGITS.fullmatch(first) and len(names) < MOST_CORES:
                names[int(first)] = shorten(name, _LONGEST_NAME)
        elif line.startswith("largest "):
            _read_largest(sample, line)
        else:
            path, found, rest = line.partition(":")
            if found:
                _read_line(sample, path, rest)
    return samples, names


def _read_numbers(words: Sequence[str]) -> list[float]:
    """The numbers at the beginning of ``words``."""
    found: list[float] = []
    for word in words:
        if not _DIGITS.fullmatch(word):
            break
        found.append(float(word))
    return found


def _read_largest(sample: LoadSample, line: str) -> None:
    _, size, *name = line.split(" ", 2)
    if _DIGITS.fullmatch(size) and name:
        sample.largest = float(size) * 1024, shorten(name[0], _LONGEST_NAME)


def _read_line(sample: LoadSample, path: str, rest: str) -> None:
    if path == "/proc/stat":
        _read_stat(sample, rest.split())
    elif path == "/proc/uptime":
        found = _UPTIME.match(rest)
        sample.up = float(found[1]) if found else sample.up
    elif path == "/proc/net/dev":
        name, _, words = rest.partition(":")
        numbers = _read_numbers(words.split())
        if len(numbers) >= 12:
            sample.nics[shorten(name, _LONGEST_NAME)] = numbers[0], numbers[8], numbers[3] + numbers[11]
    elif path == "/proc/diskstats":
        numbers = _read_numbers(rest.split()[3:])
        if len(numbers) >= 10:
            name = shorten(rest.split()[2], _LONGEST_NAME)
            sample.disks[name] = numbers[2] * SECTOR, numbers[6] * SECTOR, numbers[9] / 1000
    elif path == "/proc/meminfo":
        numbers = _read_numbers(rest.split()[1:2])
        sample.available = numbers[0] * 1024 if numbers else None
    elif path in _NFS:
        _read_nfs(sample, _NFS[path], rest.split())
    elif path.endswith("/stat"):
        numbers = _read_numbers(rest.rpartition(")")[2].split()[11:15])
        if len(numbers) == 4:
            sample.own = sum(numbers) / TICKS


def _read_stat(sample: LoadSample, words: Sequence[str]) -> None:
    numbers = _read_numbers(words[1:])
    if not numbers:
        return
    if _CORE.fullmatch(words[0]) and len(numbers) >= 7 and len(sample.cores) < MOST_CORES:
        user, nice, system, idle, waiting, interrupt, softirq = numbers[:7]
        steal = numbers[7] if len(numbers) > 7 else 0.0
        sample.cores[words[0][3:]] = user + nice, system, interrupt, softirq, steal, idle + waiting
    elif words[0] == "intr":
        sample.counts["load.interrupts"], sample.interrupts = numbers[0], tuple(numbers[1:])
    elif words[0] == "ctxt":
        sample.counts["load.context_switches"] = numbers[0]
    elif words[0] == "softirq" and len(numbers) >= 5:
        sample.counts["load.softirq.net_tx"], sample.counts["load.softirq.net_rx"] = numbers[3], numbers[4]


def _read_nfs(sample: LoadSample, name: str, words: Sequence[str]) -> None:
    numbers = _read_numbers(words[1:])
    if words[:1] == ["rpc"] and len(numbers) >= 2:
        sample.counts[f"{name}.calls"] = numbers[0]
        sample.counts["load.nfsd.bad_calls" if name == "load.nfsd" else "load.nfs.resent"] = numbers[1]
    elif words[:1] == ["th"] and numbers and name == "load.nfsd":
        sample.threads = numbers[0]


def summarize(node: str, samples: Sequence[LoadSample], names: Mapping[int, str]) -> list[Fact]:
    """The facts of one node over ``samples``, of which the first is that before the test began.

    ``load.samples`` is always among them: 0 says that the test was over before the next sample.
    """
    steps = [(before, after) for before, after in pairwise(samples) if after.up > before.up >= 0]
    facts = [Fact("load.samples", float(len(steps)), Unit.ONE, labels(node=node))]
    if steps:
        for told in (_tell_cores, _tell_counts, _tell_memory, _tell_disks, _tell_nics, _tell_sampler):
            facts += told(node, steps)
        facts += _tell_top_interrupt(node, steps, names)
    return facts


def find_last_load(node: str, text: str) -> NodeLoad | None:
    """The load over the last step of an output, of which ``text`` is the end; None where it has no whole step."""
    samples, _ = read_samples(text)
    facts = group_load(summarize(node, samples[-2:], {})).get(node, {})
    busy = facts.get(("load.core.busy", "median"))
    if busy is None or not isinstance(busy.value, float):
        return None
    softirq = find_number(facts, "load.core.softirq") or 0.0
    return NodeLoad(node, dict(busy.labels)["core"], busy.value, softirq)


_Steps = Sequence[tuple[LoadSample, LoadSample]]


def _tell(name: str, values: Sequence[float], unit: Unit, **marks: str) -> Iterator[Fact]:
    """Median and maximum of what the steps gave; nothing where they gave nothing."""
    if values:
        yield Fact(name, float(median(values)), unit, labels(of="median", **marks))
        yield Fact(name, float(max(values)), unit, labels(of="max", **marks))


def _subtract(after: Sequence[float], before: Sequence[float] | None) -> tuple[float, ...] | None:
    """The increase of each counter; None where one went backwards or was not there before."""
    if before is None or len(before) != len(after):
        return None
    added = tuple(late - early for early, late in zip(before, after, strict=True))
    return added if min(added, default=0.0) >= 0 else None


def _tell_cores(node: str, steps: _Steps) -> Iterator[Fact]:
    """All cores together, and the fullest with the parts that fill it."""
    shares: dict[str, list[tuple[float, ...]]] = {}
    together: list[float] = []
    for before, after in steps:
        busy = every = 0.0
        for core, ticks in after.cores.items():
            added = _subtract(ticks, before.cores.get(core))
            if added is not None and sum(added) > 0:
                shares.setdefault(core, []).append(tuple(each / sum(added) for each in added[:-1]))
                busy, every = busy + sum(added[:-1]), every + sum(added)
        together += [busy / every] if every else []
    yield from _tell("load.cpu.busy", together, Unit.ONE, node=node)
    if not shares:
        return
    core = max(shares, key=lambda each: median(map(sum, shares[each])))
    yield from _tell("load.core.busy", [sum(each) for each in shares[core]], Unit.ONE, node=node, core=core)
    for place, name in enumerate(_BUSY):
        part = float(median(each[place] for each in shares[core]))
        yield Fact(f"load.core.{name}", part, Unit.ONE, labels(of="median", node=node, core=core))


def _tell_counts(node: str, steps: _Steps) -> Iterator[Fact]:
    for name in dict.fromkeys(name for _, after in steps for name in after.counts):
        rates: list[float] = []
        for before, after in steps:
            if name in before.counts and after.counts.get(name, -1.0) >= before.counts[name]:
                rates.append((after.counts[name] - before.counts[name]) / (after.up - before.up))
        yield from _tell(name, rates, Unit.PER_SECOND, node=node)


def _tell_top_interrupt(node: str, steps: _Steps, names: Mapping[int, str]) -> Iterator[Fact]:
    """The interrupt that came most often between the first and the last sample."""
    first, last = steps[0][0], steps[-1][1]
    added = _subtract(last.interrupts, first.interrupts)
    if added and max(added) > 0:
        number = added.index(max(added))
        told = f"{number} {names[number]}" if number in names else str(number)
        rate = added[number] / (last.up - first.up)
        yield Fact("load.interrupts.top", rate, Unit.PER_SECOND, labels(of="mean", node=node, interrupt=told))


def _tell_sampler(node: str, steps: _Steps) -> Iterator[Fact]:
    """The share of one core that the sampler took, as a mean: its ticks are too coarse for one sample."""
    first, last = steps[0][0], steps[-1][1]
    if first.own is not None and last.own is not None and last.own >= first.own:
        share = (last.own - first.own) / (last.up - first.up)
        yield Fact("load.sampler.cpu", share, Unit.ONE, labels(of="mean", node=node))


def _tell_memory(node: str, steps: _Steps) -> Iterator[Fact]:
    known = [after.available for _, after in steps if after.available is not None]
    if known:
        yield Fact("load.memory.available", min(known), Unit.BYTE, labels(of="min", node=node))
    largest = max((after.largest for _, after in steps if after.largest is not None), default=None)
    if largest is not None:
        marks = labels(of="max", node=node, process=largest[1])
        yield Fact("load.memory.largest", largest[0], Unit.BYTE, marks)
    threads = [after.threads for _, after in steps if after.threads is not None]
    if threads:
        yield Fact("load.nfsd.threads", max(threads), Unit.ONE, labels(of="max", node=node))


def _rates(steps: _Steps, pick: str) -> dict[str, list[tuple[float, ...]]]:
    """The increase of each counter per second, by disk or NIC; those with nothing to do are left out."""
    found: dict[str, list[tuple[float, ...]]] = {}
    for before, after in steps:
        earlier: Mapping[str, tuple[float, ...]] = getattr(before, pick)
        later: Mapping[str, tuple[float, ...]] = getattr(after, pick)
        for name, counters in later.items():
            added = _subtract(counters, earlier.get(name))
            if added is not None:
                found.setdefault(name, []).append(tuple(each / (after.up - before.up) for each in added))
    busiest = sorted(found, key=lambda name: -sum(sum(each) for each in found[name]))
    return {name: found[name] for name in busiest[:MOST_PARTS] if any(map(any, found[name]))}


def _tell_disks(node: str, steps: _Steps) -> Iterator[Fact]:
    for name, rates in _rates(steps, "disks").items():
        yield from _tell("load.disk.busy", [min(busy, 1.0) for _, _, busy in rates], Unit.ONE, node=node, disk=name)
        yield from _tell("load.disk.read", [read for read, _, _ in rates], Unit.BYTE_RATE, node=node, disk=name)
        yield from _tell("load.disk.written", [each[1] for each in rates], Unit.BYTE_RATE, node=node, disk=name)


def _tell_nics(node: str, steps: _Steps) -> Iterator[Fact]:
    for name, rates in _rates(steps, "nics").items():
        yield from _tell("load.nic.received", [each[0] for each in rates], Unit.BYTE_RATE, node=node, nic=name)
        yield from _tell("load.nic.sent", [each[1] for each in rates], Unit.BYTE_RATE, node=node, nic=name)
        yield from _tell("load.nic.dropped", [each[2] for each in rates], Unit.PER_SECOND, node=node, nic=name)
