"""Reads the tables of the Intel MPI Benchmarks 3.x, 4.x and 2017 to 2021: times, and rates whose unit was proven.

``Mbytes/sec`` is 2^20 byte/s up to version 4.1 and 10^6 byte/s from 2018 on. A table tells by itself: its rate is
its size over its time. The unit is taken when size, time and rate fit it, and when it is the one that the version
in the heading means; otherwise no rate is read. Rows that fit neither unit are no rows.

Refuses tables of one process, which measure no network, and results of a build that checked the data and found
it wrong. Source: ``IMB_output.c`` of 3.2, 4.0 and 2018 to 2021 and the user's guide.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from probes.api import Labels, ProbeOutputError, Reading, Unit, labels
from probes.builtin.captured import decimal, one_line, whole
from probes.builtin.message_tables import Row, SizeTable, numbered
from probes.builtin.printed import Span, fits, plain_lines, span, times

MEBI, MEGA = 2.0**20, 1e6
_LAST_MEBI, _FIRST_MEGA = 4, 2018
_USUAL_LARGEST = "4194304"
"""Bytes that IMB goes to unless it is told otherwise; meant where the heading that tells was cut off."""
_MOST_DEFECT = 0.01
"""``TOL`` of IMB: a larger difference of data means that they arrived wrong."""

_VERSION = re.compile(r"#\s*Intel\s*\(R\) MPI Benchmark(?:s| Suite) V?(\d{1,4})\b.*")
_BENCHMARK = re.compile(r"# Benchmarking (?:Multi-)?(\w+)")
_PROCESSES = re.compile(r"# #processes = (\d{1,7})(?:;.*)?")
_GROUPS = re.compile(r"# \( \d+ groups of (\d{1,7}) processes each running simultaneous \)")
_MODE = re.compile(r"#\s+MODE: ((?:NON-)?AGGREGATE)")
_LARGEST = re.compile(r"# Maximum message length in bytes:\s*(\d{1,12})")
_WRONG = re.compile(r"Got invalid buffer|Application error code \d+ occurred")
_END = "# All processes entering MPI_Finalize"

_TIMES = {
    "t[usec]": "", "t_min[usec]": "min", "t_max[usec]": "max", "t_avg[usec]": "mean",
    "t_ovrl[usec]": "overlapped", "t_pure[usec]": "pure",
}  # fmt: skip
_RATE, _MESSAGES = "Mbytes/sec", "Msg/sec"
_COLUMNS = {"Group", "#bytes", "#repetitions", *_TIMES, "t_CPU[usec]", "overlap[%]", _RATE, _MESSAGES, "defects"}

_BOTH_WAYS = {"Sendrecv": 2, "Exchange": 4, "Biband": 2}
"""Benchmarks whose rate counts what a process sends and what it receives: messages for each row's size."""
_ONE_WAY = {"PingPong", "PingPing", "PingPongSpecificSource", "PingPingSpecificSource", "PingPongAnySource",
            "PingPingAnySource", "Uniband", "Unidir_Get", "Unidir_Put", "One_put_all", "One_get_all"}  # fmt: skip


@dataclass(slots=True)
class _Table(SizeTable):
    """One benchmark as printed: its rows by column, and whether its end was seen."""

    benchmark: str
    unit: float | None
    largest: str = ""
    processes: int = 0
    mode: str = ""
    doubted: bool = False
    ended: bool = False

    def labels(self, row: Row | None = None, **more: object) -> Labels:
        """What tells its numbers from those of others; ``row`` adds those of one row."""
        marks: dict[str, object] = {"benchmark": self.benchmark, "processes": self.processes, **more}
        if self.mode:
            marks["mode"] = self.mode.lower()
        if self.run > 1:
            marks["run"] = self.run
        for name, column in (("size", "#bytes"), ("group", "Group")):
            if row is not None and column in row:
                marks[name] = row[column]
        return labels(**marks)


def readings(text: str, probe: str = "imb") -> Sequence[Reading]:
    """Every time and every rate whose unit is certain, in base units; ProbeOutputError when there is none."""
    lines = plain_lines(text)
    if wrong := next((line for line in lines if _WRONG.search(line)), None):
        raise ProbeOutputError(one_line(wrong), "data that arrive as they were sent")
    tables = _tables(lines)
    whole_ones = list(numbered(tables))
    found = [one for table in whole_ones if table.processes > 1 for one in _readings(table, probe)]
    if not found:
        lonely = any(table.processes == 1 for table in whole_ones)
        raise ProbeOutputError(
            "tables of one process" if lonely else _complaint(text), "a table of IMB with two processes or more"
        )
    return found


def _complaint(text: str) -> str:
    lines = [line for line in plain_lines(text) if re.search(r"(?i)invalid|not found|unknown|need|error", line)]
    return one_line(lines[0]) if lines else "no table"


def _tables(lines: Sequence[str]) -> list[_Table]:
    unit: float | None = None
    largest = _USUAL_LARGEST
    found: list[_Table] = []
    for line in lines:
        if told := _LARGEST.fullmatch(line):
            largest = told[1]
        if match := _VERSION.fullmatch(line):
            major = int(match[1])
            largest = ""
            unit = MEBI if major <= _LAST_MEBI else MEGA if major >= _FIRST_MEGA else None
        begins = _BENCHMARK.fullmatch(line)
        if found and (begins or line == _END):
            found[-1].ended = True
        if begins:
            found.append(_Table(begins[1], unit, largest))
        elif found and not found[-1].ended:
            found += _take(found[-1], line)
    return found


def _take(table: _Table, line: str) -> list[_Table]:
    """Add what one line says of ``table``; the next table where the same benchmark goes on in another mode."""
    words = tuple(line.split())
    if table.rows and (match := _MODE.fullmatch(line)):
        table.ended = True
        return [replace(table, mode=match[1], columns=(), rows=[], doubted=False, ended=False)]
    if table.rows and (_PROCESSES.fullmatch(line) or _GROUPS.fullmatch(line) or _is_heading(words)):
        table.ended = table.doubted = True  # by the head of another table, whose first line was lost
    elif match := _PROCESSES.fullmatch(line) or _GROUPS.fullmatch(line):
        table.processes = int(match[1])
    elif match := _MODE.fullmatch(line):
        table.mode = match[1]
    elif not table.columns and _is_heading(words):
        table.columns = words
    elif table.columns and len(words) == len(table.columns) and all(span(word) is not None for word in words):
        row = dict(zip(table.columns, words, strict=True))
        if not _is_row(table, row):
            table.doubted = True
        elif _is_of_another(table, row):
            table.ended = table.doubted = True
        else:
            table.rows.append(row)
    return []


def _is_heading(words: Sequence[str]) -> bool:
    known = len(words) > 2 and set(words) <= _COLUMNS and "#repetitions" in words
    return known and ("#bytes" in words or _RATE not in words)


def _is_of_another(table: _Table, row: Row) -> bool:
    """Whether ``row`` is of a table whose head was lost: within one the sizes grow."""
    if not table.rows or "Group" in row or "#bytes" not in row:
        return False
    return int(row["#bytes"]) <= int(table.rows[-1]["#bytes"])


def _is_row(table: _Table, row: Row) -> bool:
    """Whether the numbers of a row are what IMB prints, and fit each other."""
    defect = decimal(row.get("defects", "0"))
    if defect is None or defect > _MOST_DEFECT:
        raise ProbeOutputError(f"defects {row['defects']} in {table.benchmark}", "data that arrive as they were sent")
    counts = [row[name] for name in ("Group", "#bytes", "#repetitions") if name in row]
    if None in map(whole, counts) or not whole(row["#repetitions"]):
        return False
    if any("." not in row[name] for name in _TIMES if name in row):
        return False
    least, mean, most = (span(row.get(f"t_{name}[usec]", "0")) for name in ("min", "avg", "max"))
    ordered = least is not None and mean is not None and most is not None and least[0] <= mean[1] and mean[0] <= most[1]
    return ordered and (_RATE not in row or bool(_units(table, row)))


def _units(table: _Table, row: Row) -> set[float]:
    """The units that the rate of ``row`` may have by its size and its time, or by its messages."""
    rate, moved = span(row[_RATE]), _moved(table, row)
    if rate is None or moved is None:
        return set()
    return {unit for unit in (MEBI, MEGA) for each in moved if _overlap(times(rate, (unit, unit)), each)}


def _moved(table: _Table, row: Row) -> list[Span] | None:
    """byte/s by the other columns of a row, for each number of messages that the benchmark may count; None: unknown."""
    size = float(row["#bytes"])
    if _MESSAGES in row:
        messages = span(row[_MESSAGES])
        return None if messages is None else [times(messages, (size, size))]
    took = span(row.get("t[usec]") or row.get("t_max[usec]", ""))
    if took is None:
        return None
    counts = [_BOTH_WAYS.get(table.benchmark, 1)] if _is_known(table.benchmark) else [1, 2, 4]
    return [(count * size / took[1] * 1e6, count * size / max(took[0], 1e-9) * 1e6) for count in counts]


def _is_known(benchmark: str) -> bool:
    return benchmark in _BOTH_WAYS or benchmark in _ONE_WAY


def _overlap(one: Span, other: Span) -> bool:
    return fits(one[0], other) or fits(other[0], one)


def _unit(table: _Table) -> float | None:
    """The one unit that every row of a table and its heading allow; None where it stays open."""
    allowed = {MEBI, MEGA} if table.unit is None else {table.unit}
    for row in table.rows:
        allowed &= _units(table, row)
    return allowed.pop() if len(allowed) == 1 else None


def _readings(table: _Table, probe: str) -> Iterator[Reading]:
    unit = _unit(table) if _RATE in table.columns else None
    rates: list[tuple[float, str]] = []
    for row in table.rows:
        raw = " ".join(row.values())
        yield from _times(table, row, probe)
        rate, messages = decimal(row.get(_RATE, "0")), decimal(row.get(_MESSAGES, "0"))
        if unit is not None and rate:
            marks = table.labels(row, **({"direction": "both"} if table.benchmark in _BOTH_WAYS else {}))
            yield Reading(f"{probe}.bandwidth", rate * unit, Unit.BYTE_RATE, marks, raw)
            rates.append((rate * unit, raw))
        if messages:
            yield Reading(f"{probe}.message_rate", messages, Unit.PER_SECOND, table.labels(row), raw)
    if rates and _has_every_size(table):
        best, raw = max(rates)
        name = "peak_both" if table.benchmark in _BOTH_WAYS else "peak"
        if _is_known(table.benchmark):
            yield Reading(f"{probe}.{name}", best, Unit.BYTE_RATE, table.labels(statistic="max"), raw)


def _has_every_size(table: _Table) -> bool:
    """Whether the rows are all there are: where the heading tells the largest size, all doubled sizes up to it."""
    if not table.ended or table.doubted or "Group" in table.columns:
        return False
    sizes = [int(row["#bytes"]) for row in table.rows if row["#bytes"] != "0"]
    doubled = all(later == 2 * before for before, later in pairwise(sizes))
    return not table.largest or (doubled and sizes[-1:] == [int(table.largest)])


def _times(table: _Table, row: Row, probe: str) -> Iterator[Reading]:
    for column, statistic in _TIMES.items():
        took = decimal(row.get(column, "0"))
        if took:
            marks = table.labels(row, **({"statistic": statistic} if statistic else {}))
            raw = f"{column} {row[column]} in {' '.join(row.values())}"
            yield Reading(f"{probe}.latency", took / 1e6, Unit.SECOND, marks, raw)
