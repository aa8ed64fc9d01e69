"""Output of iozone 3.1xx to 3.5xx: the table of a run by itself, and the sums of its throughput mode.

The same headings stand above kB/sec (2^10 byte), operations per second (``-O``) and microseconds (``-N``): a line
before says which, and without one a table is not read. Tests that were not chosen leave blanks, so a row is told apart
by the tests in the command line, else by where its numbers stand below the heading.

Source: iozone 3.263, 3.397 and 3.507, ``src/current/iozone.c``.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from benchconsole.probes.api import ProbeOutputError, Reading, Unit, labels
from benchconsole.probes.readers.lines import read_lines, refuse_lines, shorten
from benchconsole.probes.readers.numbers import format_bytes, require_positive
from benchconsole.probes.readers.readings import add_labels
from benchconsole.probes.tools.iozone.conditions import STATED, label, read_command
from benchconsole.topology.copying import replace

_KIB = 1024.0
_COLUMNS = (
    ("write", "write"), ("rewrite", "rewrite"), ("read", "read"), ("reread", "reread"), ("read", "random-read"),
    ("write", "random-write"), ("read", "backward-read"), ("rewrite", "record-rewrite"), ("read", "stride-read"),
    ("fwrite", "fwrite"), ("frewrite", "frewrite"), ("fread", "fread"), ("freread", "freread"),
)  # fmt: skip
"""Every column as it is titled, and what it is; titles of a row above, as ``random``, are often lost."""
_TITLES = [title for title, _ in _COLUMNS]
_OPERATIONS = [operation for _, operation in _COLUMNS]
_TESTS = {0: (0, 1), 1: (2, 3), 2: (4, 5), 3: (6,), 4: (7,), 5: (8,), 6: (9, 10), 7: (11, 12)}
_RETESTS = frozenset(("rewrite", "reread"))
_GROUPS = {
    "initial writers": "write", "rewriters": "rewrite", "readers": "read", "initial readers": "read",
    "re-readers": "reread", "reverse readers": "backward-read", "stride readers": "stride-read",
    "random readers": "random-read", "mixed workload": "mixed", "random writers": "random-write",
    "pwrite writers": "pwrite", "pread readers": "pread", "fwriters": "fwrite", "freaders": "fread",
}  # fmt: skip
_UNITS = {
    "kB": ("iozone.throughput", Unit.BYTE_RATE, _KIB),
    "ops": ("iozone.operations", Unit.PER_SECOND, 1.0),
    "us": ("iozone.latency", Unit.SECOND, 1e-6),
}
_NUMBER = r"[0-9]{1,15}(?:\.[0-9]{1,6})?"
_LIMITS = re.compile(r"\s*(?:Iozone: Performance Test of File I/O|Run began: .*|iozone test complete\.)\s*")
"""Before and behind a run."""
_MODES = (
    (re.compile(r"\s*Output is in [kK][bB]ytes/sec\s*"), "kB"),
    (re.compile(r"\s*OPS Mode\. Output is in operations per second\.\s*"), "ops"),
    (re.compile(r"\s*Microseconds/op Mode\. Output is in microseconds per operation\.\s*"), "us"),
)
_COMMAND = re.compile(r"\s*Command line used: (?P<command>.*)")
_EACH = re.compile(
    r"\s*Each (?:process|thread) writes a (?P<size>[0-9]{1,15}) [kK][bB]ytes? file in"
    r" (?P<block>[0-9]{1,15}) [kK][bB]ytes? records\s*"
)
_CHILDREN = re.compile(
    rf"\s*Children see throughput for\s+(?P<tasks>[1-9][0-9]{{0,5}})\s+(?P<group>[a-z][a-z -]*?)\s*=\s*"
    rf"(?P<rate>{_NUMBER}|\S+) (?P<unit>[A-Za-z]+)/sec\s*"
)
_CHILD = re.compile(
    rf"\s*(?P<word>Min|Max|Avg) throughput per (?:process|thread)\s*=\s*(?P<rate>{_NUMBER}|\S+)"
    r" (?P<unit>[A-Za-z]+)/sec\s*"
)
_FAILED = re.compile(
    r"Performance measurements are invalid|[Ee]rror (?:writing|reading|in file)|No space left on device"
    r"|Input/output error|iozone: interrupted|[Cc]an ?not open|[Cc]an't open|Invalid argument"
    r"|Permission denied|File size limit|Wanted to (?:read|write)|Child [0-9]+ .*(?:died|killed)"
)
_PROCESSES: dict[str, tuple[str, Callable[[float, float], bool]]] = {
    "Min": ("min", lambda rate, mean: rate <= mean * 1.001 + 0.01),
    "Max": ("max", lambda rate, mean: rate >= mean * 0.999 - 0.01),
    "Avg": ("mean", lambda rate, mean: abs(rate - mean) <= 0.001 * mean + 0.01),
}
"""The statistic of a line on single processes, and whether that can be beside the mean by their sum."""


@dataclass(slots=True)
class _IozoneRun:
    """The lines so far of the run that goes on."""

    mode: str | None = None
    tests: list[str] | None = None
    heading: list[tuple[str, int]] = field(default_factory=list)
    retests: bool = True
    marks: dict[str, str] = field(default_factory=dict)
    group: tuple[str, int, float, str] | None = None
    is_idle: bool = False
    """A process of the group moved nothing."""
    conditions: dict[str, str] = field(default_factory=dict)


def readings(text: str) -> list[Reading]:
    """Every rate of every whole row; ProbeOutputError for a run that failed and for a row that cannot be."""
    found: list[Reading] = []
    run = _IozoneRun()
    lines = read_lines(text)
    refuse_lines(_FAILED, lines, "iozone to run to its end without errors")
    for line in lines:
        if _LIMITS.fullmatch(line):
            run = _IozoneRun()
        elif heading := _read_heading(line):
            # a second result of one run belongs to another, whose unit is lost
            run = replace(run, mode=None if run.heading or run.group else run.mode, heading=heading)
        elif run.heading and re.fullmatch(r"[\s0-9]*[0-9]\s+[0-9][\s0-9]*", line):
            found.extend(_read_row(line, run))
        else:
            was_idle = run.is_idle
            found.extend(_read_line(line, run))
            if run.is_idle and not was_idle:
                found[-1] = replace(found[-1], labels=add_labels(found[-1].labels, idle="some"))  # the group's sum
    return found


def _read_line(line: str, run: _IozoneRun) -> list[Reading]:
    """Readings of a line outside of tables; what it says of the run is kept."""
    for pattern, mode in _MODES:
        if pattern.fullmatch(line):
            if run.mode not in (None, mode):
                raise ProbeOutputError(f"output in {run.mode} and in {mode}", "one unit for the run")
            run.mode = mode
    if condition := STATED.get(line.strip()):
        run.conditions |= condition
    if command := _COMMAND.fullmatch(line):
        run.tests = _find_tests(command["command"].split())
        run.conditions = {**read_command(command["command"]), **run.conditions}
    elif "No retest option selected" in line:
        run.retests = False
    elif each := _EACH.fullmatch(line):
        run.marks = {name: format_bytes(int(each[name]) * 1024) for name in ("size", "block")}
    elif children := _CHILDREN.fullmatch(line):
        return list(_read_children(children, run))
    elif child := _CHILD.fullmatch(line):
        return list(_read_child(child, run))
    return []


def _find_tests(words: Sequence[str]) -> list[str] | None:
    """The operations whose columns a command line fills: all without ``-i``; None where they cannot be told."""
    text = " ".join(words[1:])
    if "-i" not in text and "-E" not in words:
        return _OPERATIONS
    numbers = [int(number) for number in re.findall(r"(?:^| )-i ?([0-9]{1,2})(?= |$)", text)]
    if not numbers or text.count("-i") != len(numbers) or not set(numbers) <= _TESTS.keys():
        return None
    return [_OPERATIONS[column] for column in sorted({column for number in numbers for column in _TESTS[number]})]


def _read_heading(line: str) -> list[tuple[str, int]]:
    """The operations that a heading names, each with where its title ends; none for another line."""
    words = [(match[0], match.end()) for match in re.finditer(r"\S+", line)]
    titles = [word for word, _ in words]
    if titles[:2] not in (["KB", "reclen"], ["kB", "reclen"]) or len(titles) < 4:
        return []
    if titles[2:] != _TITLES[: len(titles) - 2]:
        raise ProbeOutputError(shorten(line), "the columns of iozone in their order")
    ends = [end for _, end in words]
    return [("", ends[0]), ("", ends[1]), *zip(_OPERATIONS, ends[2:], strict=False)]


def _read_row(line: str, run: _IozoneRun) -> Iterator[Reading]:
    """One rate for each test of a row of file size, record size and numbers."""
    raw, fields = shorten(line, 300), [(match[0], match.end()) for match in re.finditer(r"[0-9]+", line)]
    if len(fields) < 3:
        return
    if run.mode is None:
        raise ProbeOutputError(raw, "a line above the table that says what it is in (Output is in kBytes/sec)")
    metric, unit, factor = _UNITS[run.mode]
    size, block = (format_bytes(int(require_positive(text, "a size")) * 1024) for text, _ in fields[:2])
    values = [text for text, _ in fields[2:]]
    operations = _find_operations(fields, run)
    if operations is None:
        raise ProbeOutputError(raw, "a number for each test, below its title")
    titles = {name for name, _ in run.heading[2:]}
    if len(operations) < sum(test in titles for test in run.tests or ()):
        operations.pop()  # the line ended early, maybe within this number
    for operation, text in zip(operations, values, strict=False):
        if not (text == "0" and not run.retests and operation in _RETESTS):
            number = require_positive(text, f"{operation} of {raw}") * factor
            marks = labels(**label(run.conditions, operation), operation=operation, size=size, block=block)
            yield Reading(metric, number, unit, marks, raw)


def _find_operations(fields: Sequence[tuple[str, int]], run: _IozoneRun) -> list[str] | None:
    """The operations in a row of numbers, by count and by place; None where neither tells, or they disagree."""
    titles = [name for name, _ in run.heading[2:]]
    chosen = titles if run.tests is None else run.tests
    counted = len(chosen) == len(fields) - 2 and set(chosen) <= set(titles)
    below = _find_below(fields, run.heading)
    if counted:
        return list(chosen) if below in (None, chosen) else None
    return below if below is not None and (run.tests is None or set(below) <= set(chosen)) else None


def _find_below(fields: Sequence[tuple[str, int]], heading: Sequence[tuple[str, int]]) -> list[str] | None:
    """The operations of numbers by the titles that end where they do, give or take two; None where that is not sure."""
    found = []
    for _, end in fields:
        near = [index for index, (_, title_end) in enumerate(heading) if abs(title_end - end) <= 2]
        if len(near) != 1:
            return None
        found.append(near[0])
    sure = found[:2] == [0, 1] and found == sorted(set(found))
    return [heading[index][0] for index in found[2:]] if sure else None


def _read_children(match: re.Match[str], run: _IozoneRun) -> Iterator[Reading]:
    run.group, run.is_idle = None, False
    operation, tasks = _GROUPS.get(match["group"]), int(match["tasks"])
    if operation is None:
        return
    mode = _find_mode(match["unit"], run, match[0])
    total = require_positive(match["rate"], f"rate of {shorten(match[0])}")
    run.group = (operation, tasks, total, mode)
    metric, unit, factor = _UNITS[mode]
    marks = labels(**run.marks, **label(run.conditions, operation), operation=operation, tasks=tasks)
    yield Reading(metric, total * factor, unit, marks, shorten(match[0]))


def _find_mode(unit: str, run: _IozoneRun, raw: str) -> str:
    stated = {"kB": "kB", "KB": "kB", "Kbytes": "kB", "kBytes": "kB", "ops": "ops"}.get(unit)
    if stated is None or run.mode not in (None, stated):
        raise ProbeOutputError(shorten(raw), "kB/sec or ops/sec, as the run said before")
    return stated


def _read_child(match: re.Match[str], run: _IozoneRun) -> Iterator[Reading]:
    """The slowest, fastest and mean process of the test whose sum was read last, held against that sum."""
    if run.group is None:
        return
    operation, tasks, total, mode = run.group
    if match["word"] == "Min" and re.fullmatch(r"0\.00?", match["rate"]):
        run.is_idle = True  # the sum is of the others
        return
    rate = require_positive(match["rate"], f"rate of {shorten(match[0])}")
    statistic, is_within = _PROCESSES[match["word"]]
    if _find_mode(match["unit"], run, match[0]) != mode or not is_within(rate, total / tasks):
        raise ProbeOutputError(shorten(match[0]), f"processes that add up to {total:g}")
    _, unit, factor = _UNITS[mode]
    metric = "iozone.process_throughput" if mode == "kB" else "iozone.process_operations"
    idle = {"idle": "some"} if run.is_idle else {}
    told = {**run.marks, **label(run.conditions, operation), **idle}
    marks = labels(**told, operation=operation, tasks=tasks, statistic=statistic)
    yield Reading(metric, rate * factor, unit, marks, shorten(match[0]))
