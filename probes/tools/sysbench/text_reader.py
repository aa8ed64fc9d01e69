"""Reader of sysbench 0.4, 0.5, 1.0 and 1.1: its tests fileio, cpu, memory and threads.

0.4 and 0.5 print ``(35.714Mb/sec)`` for files and ``MB/sec`` for memory and mean 2^20 byte/s, as the MiB/s of 1.0 do;
1.1 prints MiB/s and MB/s (10^6) side by side, of which the first is read. Latencies are in ms from 0.4.10 on and in s
before.

Source: sysbench 0.4.12, 0.5 and 1.0.20, ``sb_fileio.c``, ``sb_memory.c``, ``sb_logger.c``, ``sb_print_value_size``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchconsole.probes.api import ProbeOutputError, Reading, Unit
from benchconsole.probes.readers.lines import dedent_lines, find_match, find_matches, refuse_lines, shorten
from benchconsole.probes.readers.numbers import require_positive
from benchconsole.probes.readers.readings import known_labels, number_runs

_BEGIN = "Running the test with following options:"
_MIB = 2.0**20
_POWERS = {"": 1.0, "K": 2.0**10, "M": 2.0**20, "G": 2.0**30, "T": 2.0**40, "P": 2.0**50}
_COMPLAINT = re.compile(r"^(?:FATAL|ALERT): |Checkpoint report|No space left on device")
_CONTEXT = re.compile(
    r"benchconsole: sysbench (fileio|cpu|memory|threads) size=(\d{1,18}) memory=(\d{1,18}) direct=([01])"
)
_VERSION = re.compile(r"sysbench v?(\d+)\.(\d+)(?:\.(\d+))?\b")
_THREADS = re.compile(r"Number of threads: ([1-9]\d{0,6})")
_MODES = {
    "sequential write (creation)": ("sequential", "write"), "sequential rewrite": ("sequential", "rewrite"),
    "sequential read": ("sequential", "read"), "random read": ("random", "read"), "random write": ("random", "write"),
    "random r/w": ("random", "read+write"),
}  # fmt: skip
_MODE = re.compile(f"Doing ({'|'.join(map(re.escape, _MODES))}) test")
_NUMBER = r"(\d+(?:\.\d+)?)"
_EXACT = r"(\d+\.\d\d)"
"""As sysbench prints what stands last on a line: with fewer decimals it was cut."""
_VALUE = r"(\d+(?:\.\d+)?)([KMGTP]?)[bB]"
_BLOCK = re.compile(r"Block size (\d+(?:\.\d+)?)([KMGTP]?)(?:i?[bB])")
_FILE_SIZE = re.compile(r"(\d+(?:\.\d+)?)([KMGTP]?)(?:i?[bB]) total file size")
_EACH = re.compile(r"([1-9]\d{0,6}) files, (\d+(?:\.\d+)?)([KMGTP]?)i?[bB] each")
_FLAGS = re.compile(r"Extra file open flags: ((?:(?:sync|dsync|directio) ?)+|\(none\)|[0-9a-f]{1,8})\s*")
_FLUSHED = re.compile(r"Periodic FSYNC enabled, calling fsync\(\) each ([1-9]\d{0,8}) requests\.")
_RATIO = re.compile(r"Read/Write ratio for combined random IO test: (\d{1,6}\.\d\d)")
_IO_MODE = re.compile(r"Using (synchronous|asynchronous|mmap\(\)|memory mapped) I/O mode")
_PRIMES = re.compile(r"(?:Primer? numbers limit|Maximum prime number checked in CPU test): ([1-9]\d{0,11})")
_MEMORY_BLOCK = re.compile(r"(?:  block size|Memory block size): (\d+)K(?:iB)?")
_MEMORY_WAY = re.compile(r"(?:  operation|Memory operations type): (read|write|none)")
_MEMORY_SCOPE = re.compile(r"(?:  scope|Memory scope type): (global|local)")
# of 0.4 to 1.0, and of 1.1
_TIME = re.compile(rf"    (?:total time|time elapsed): +{_NUMBER}s")
_EXACT_FROM = 0.05
"""Seconds from which the four decimals of the total time tell it to a thousandth."""
_EVENTS = re.compile(r"    total number of events: +(\d+)")
_FAIRNESS = re.compile(rf"    events \(avg/stddev\): +{_NUMBER}/.*")
_LATENCY = re.compile(rf" +(min|avg|max|(?:approx\. +)?\d+(?:th)? percentile): +(?:{_NUMBER}(ms|s)|{_EXACT})")
_LATENCIES = ("Latency (ms):", "per-request statistics:", "response time:")
_UNITS = {"ms": 1e-3, "s": 1.0}

# of 1.0, of 1.1, and of 0.4 with 0.5
_FILES = {
    "reads": re.compile(rf"    reads/s: +{_EXACT}"),
    "writes": re.compile(rf"    writes/s: +{_EXACT}"),
    "read": re.compile(rf"    read, MiB/s: +{_EXACT}"),
    "written": re.compile(rf"    written, MiB/s: +{_EXACT}"),
    "both": re.compile(rf" +(read|write): +IOPS={_NUMBER} {_NUMBER} MiB/s \({_NUMBER} MB/s\)"),
    "moved": re.compile(rf"Read {_VALUE}  Written {_VALUE}  Total transferred {_VALUE}  \({_VALUE}/sec\)"),
    "requests": re.compile(rf" *{_NUMBER} Requests/sec executed"),
}
_OTHERS = re.compile("transferred|per second|ops/sec|queries|transactions|Doing |rime number|total file size")
"""Words of tests that print something of their own."""
_SPEED = re.compile(rf"    events per second: +{_EXACT}")
_MOVED = re.compile(rf"{_NUMBER} Mi?B transferred \({_NUMBER} Mi?B/sec\)")


@dataclass(frozen=True, slots=True)
class _SysbenchRun:
    """The lines of one run, the version that printed them, its threads, and what our own note says of it."""

    lines: Sequence[str]
    version: tuple[int, ...]
    threads: int
    test: str = ""
    cached: bool = False

    def find(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The one line that is ``pattern`` as a whole; ProbeOutputError where there are two."""
        found = list(find_matches(pattern, self.lines))
        if len(found) > 1:
            raise ProbeOutputError(f"twice {shorten(found[1][0])}", "one result of each run")
        return found[0] if found else None


def parse_text(text: str) -> Sequence[Reading]:
    """Every rate and latency, in base units; ProbeOutputError when sysbench complained or nothing is whole."""
    lines = [line.rstrip() for line in dedent_lines(text)]
    refuse_lines(_COMPLAINT, lines, "a run without complaint, reported once at its end")
    numbers = [reading for run in _split_runs(lines) for reading in _read_run(run)]
    if not numbers:
        raise ProbeOutputError("no result of fileio, cpu, memory or threads", "the report of sysbench to its end")
    return number_runs(numbers)


def _split_runs(lines: Sequence[str]) -> Iterator[_SysbenchRun]:
    """Each run between a line with the version and the next, whose header says its threads; no preparing between."""
    begins = [index for index, line in enumerate(lines) if _VERSION.match(line)]
    for before, begin, end in zip([0, *begins], begins, [*begins[1:], len(lines)], strict=False):
        own, match = lines[begin:end], _VERSION.match(lines[begin])
        threads = list(find_matches(_THREADS, map(str.strip, own)))
        if match and len(threads) == 1 and any(line.strip() == _BEGIN for line in own):
            version = tuple(int(part or 0) for part in match.groups())
            yield _SysbenchRun(own, version, int(threads[0][1]), *_read_note(lines[before:begin]))


def _read_note(lines: Sequence[str]) -> tuple[str, bool]:
    """The test that our script named last, and whether the page cache could hold half of its files or more."""
    note = find_match(_CONTEXT, reversed(lines))
    if note is None:
        return "", False
    return note[1], note[1] == "fileio" and note[4] == "0" and int(note[2]) < 2 * int(note[3])


def _read_run(run: _SysbenchRun) -> Iterator[Reading]:
    mode, primes, memory = run.find(_MODE), run.find(_PRIMES), run.find(_MEMORY_WAY)
    reports = sum(line.strip() in _LATENCIES for line in run.lines)
    if reports > 1 or sum(map(bool, (mode, primes, memory))) > 1:
        raise ProbeOutputError("the reports of two tests below one heading", "one run after the other")
    if mode:
        yield from _read_files(run, mode[1])
    elif primes:
        marks = {"test": "cpu", "threads": run.threads, "primes": primes[1]}
        yield from _read_events(run, "cpu", _SPEED if run.version >= (1, 0, 8) else None, marks)
        yield from _read_latencies(run, marks)
    elif memory:
        block, scope, moved = run.find(_MEMORY_BLOCK), run.find(_MEMORY_SCOPE), run.find(_MOVED)
        if block and scope:
            marks = {"block": f"{block[1]}KiB", "operation": memory[1], "scope": scope[1], "threads": run.threads}
            if moved and memory[1] != "none":
                rate = require_positive(moved[2], "MiB/sec") * _MIB
                yield Reading("sysbench.memory", rate, Unit.BYTE_RATE, known_labels(**marks), moved[0])
            yield from _read_latencies(run, {**marks, "test": "memory"})
    elif test := _find_test(run):
        marks = {"test": test, "threads": run.threads}
        yield from _read_events(run, "events", None, marks)
        yield from _read_latencies(run, marks)


def _read_files(run: _SysbenchRun, doing: str) -> Iterator[Reading]:
    pattern, way = _MODES[doing]
    block, size = run.find(_BLOCK), run.find(_FILE_SIZE)
    if block is None or size is None:
        return
    total = _scale(size, 1)
    if (each := run.find(_EACH)) and not _agree(int(each[1]) * _scale(each, 2), total):
        raise ProbeOutputError(f"{each[0]}, of {total:.0f} bytes together", "a size of all files that is their sum")
    flags = run.find(_FLAGS)  # a hexadecimal number in older versions
    marks: dict[str, object] = {
        "pattern": pattern,
        "threads": run.threads,
        "block": _format_size(block),
        "size": _format_size(size),
        "operation": way,
        "direct": _read_direct(flags[1]) if flags else None,
        "mix": _read_mix(ratio[1]) if way == "read+write" and (ratio := run.find(_RATIO)) else None,
        "fsync": flushed[1] if (flushed := run.find(_FLUSHED)) else None,
        "io": mode[1] if (mode := run.find(_IO_MODE)) and mode[1] != "synchronous" else None,
        "flags": " ".join(flags[1].split()) if flags and flags[1] not in ("0", "(none)") else None,
        "cached": "possible" if run.cached else None,
    }
    for name, value, raw in _read_transfers(run, way, _scale(block, 1)):
        unit = Unit.PER_SECOND if name.endswith("iops") else Unit.BYTE_RATE
        yield Reading(f"sysbench.{name}", value, unit, known_labels(**marks), raw)
    yield from _read_latencies(run, {**marks, "test": "fileio", "operation": way})


def _read_direct(flags: str) -> int | None:
    """1 past the page cache, 0 through it; None for flags as a number, whose bits differ between machines."""
    return 1 if "directio" in flags.split() else None if re.fullmatch("0*[1-9a-f][0-9a-f]*", flags) else 0


def _read_mix(ratio: str) -> str:
    """Per cent of reads, of a ratio of reads to writes."""
    reads = require_positive(ratio, "ratio of reads to writes")
    return f"{100 * reads / (reads + 1):.0f}"


def _read_transfers(run: _SysbenchRun, way: str, block: float) -> Iterator[tuple[str, float, str]]:
    """Name, value in base units and line of each rate of the ways that the test goes.

    Requests of 0.4 and 0.5 are read where they are the rate by the ``block``: nothing stands before them on their
    line, so that they may have lost digits.
    """
    ways = [each for each in ("read", "write") if each in way]
    if moved := run.find(_FILES["moved"]):
        name = ways[0] if len(ways) == 1 else "moved"
        total, requests = _scale(moved, 7), run.find(_FILES["requests"])
        yield name, total, moved[0]
        if requests and _agree(require_positive(requests[1], "requests of a second") * block, total):
            yield f"{name}_iops", float(requests[1]), requests[0].strip()
    for each, rate, count in (("read", "read", "reads"), ("write", "written", "writes")):
        for key, suffix, factor in ((rate, "", _MIB), (count, "_iops", 1.0)):
            match = run.find(_FILES[key])
            if match and each in ways:
                yield f"{each}{suffix}", require_positive(match[1], key) * factor, match[0].strip()
    for match in find_matches(_FILES["both"], run.lines):
        if match[1] in ways:
            yield match[1], require_positive(match[3], f"{match[1]} MiB/s") * _MIB, match[0].strip()
            yield f"{match[1]}_iops", require_positive(match[2], f"{match[1]} IOPS"), match[0].strip()


def _agree(one: float, other: float) -> bool:
    """Whether two amounts are the same but for the digits that were rounded away."""
    return abs(one - other) <= 0.01 * max(one, other)


def _scale(match: re.Match[str], group: int) -> float:
    """A number with its letter, of five digits and powers of 1,024 (``sb_print_value_size``)."""
    return require_positive(match[group], "an amount") * _POWERS[match[group + 1]]


def _format_size(match: re.Match[str]) -> str:
    return f"{match[1]}{match[2]}{'iB' if match[2] else 'B'}"


def _find_test(run: _SysbenchRun) -> str:
    """The test of a run that prints nothing of its own: 1.0 does not say whether it was threads or mutex."""
    own = "\n".join(run.lines)
    if "Doing thread subsystem performance test" in own or run.test == "threads":
        return "threads"
    return "" if "Threads started!" not in own or _OTHERS.search(own) else "unnamed"


def _read_events(
    run: _SysbenchRun, name: str, direct: re.Pattern[str] | None, marks: Mapping[str, object]
) -> Iterator[Reading]:
    """Events of a second as printed, or from their number and the time where nothing else is printed."""
    own = {key: value for key, value in marks.items() if (key, value) != ("test", name)}
    if direct is not None:
        if match := run.find(direct):
            rate = require_positive(match[1], "events per second")
            yield Reading(f"sysbench.{name}", rate, Unit.PER_SECOND, known_labels(**own), match[0].strip())
        return
    events, seconds, fairness = run.find(_EVENTS), run.find(_TIME), run.find(_FAIRNESS)
    if events and fairness and abs(float(fairness[1]) * run.threads - int(events[1])) > 1 + 1e-3 * run.threads:
        raise ProbeOutputError(f"{events[0].strip()} and {fairness[0].strip()}", "as many events as of all threads")
    if events and seconds and float(seconds[1]) >= _EXACT_FROM:
        rate = require_positive(events[1], "events") / float(seconds[1])
        raw = f"{' '.join(events[0].split())}, {' '.join(seconds[0].split())}"
        yield Reading(f"sysbench.{name}", rate, Unit.PER_SECOND, known_labels(**own), raw)


def _read_latencies(run: _SysbenchRun, marks: Mapping[str, object]) -> Iterator[Reading]:
    """Latencies behind their heading; zeros are below 0.01 ms and left out."""
    begin = next((index for index, line in enumerate(run.lines) if line.strip() in _LATENCIES), None)
    if begin is None:
        return
    default = "ms" if run.lines[begin].strip() == "Latency (ms):" else ""
    inaccurate = any("Percentile statistics will be inaccurate" in line for line in run.lines)
    for line in run.lines[begin + 1 : begin + 5]:
        match = _LATENCY.fullmatch(line)
        if match is None:
            return
        word, number, unit = match[1], match[2] or match[4], match[3] or default
        if bool(match[3]) is bool(default) or (inaccurate and "percentile" in word):
            continue
        if float(number) > 0:
            percentile = re.search(r"\d+", word)
            statistic = f"p{percentile[0]}" if percentile else {"avg": "mean"}.get(word, word)
            every = known_labels(**{**marks, "statistic": statistic})
            time = require_positive(number, f"latency {word}") * _UNITS[unit]
            yield Reading("sysbench.latency", time, Unit.SECOND, every, " ".join(line.split()))
