"""Reader of the Intel MPI Benchmarks 3.x, 4.x and 2017 to 2021: times, and rates whose unit was proven.

``Mbytes/sec`` is 2^20 byte/s up to version 4.1 and 10^6 byte/s from 2018 on. A table tells by itself: its rate is
its size over its time. The unit is taken when size, time and rate fit it, and when it is the one that the version
in the heading means; otherwise no rate is read. Rows that fit neither unit are no rows.

Tables of one process measure no network and are not read.

IMB-P2P has the heading and the names of IMB-MPI1, and counts every message of every process. Its tables alone have
times beside ``Msg/sec``. Only the rates of a PingPong of two processes are those of one way, and are read.

Source: ``IMB_output.c`` of 3.2, 4.0 and 2018 to 2021 and the user's guide; ``imb_p2p_*.c`` of 2021.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType

from benchconsole.probes.api import ProbeOutputError, Reading, Unit
from benchconsole.probes.readers.lines import refuse_lines, search_lines, shorten, split_lines, strip_lines
from benchconsole.probes.readers.numbers import multiply_spans, overlap, parse_count, parse_decimal, parse_span
from benchconsole.probes.tools.imb.heading import Heading
from benchconsole.probes.tools.mpi.message_tables import Row, SizeTable, is_mean_between, number_tables
from benchconsole.topology.copying import replace

MEBI, MEGA = 2.0**20, 1e6
_UNITS = frozenset((MEBI, MEGA))
_LAST_MEBI, _FIRST_MEGA = 4, 2018
_USUAL_LARGEST = "4194304"
"""Bytes that IMB goes to unless it is told otherwise; meant where the heading that tells was cut off."""
_MOST_DEFECT = 0.01
"""``TOL`` of IMB: a larger difference of data means that they arrived wrong."""

_VERSION = re.compile(r"#\s*Intel\s*\(R\) MPI Benchmark(?:s| Suite) V?(\d{1,4})\b.*")
_BENCHMARK = re.compile(r"# Benchmarking (?:Multi-)?(\w+)")
_PROCESSES = re.compile(r"# #processes = (\d{1,7})(?:;.*)?")
_GROUPS = re.compile(r"# \( (?P<groups>\d{1,7}) groups of (\d{1,7}) processes each running simultaneous \)")
_WAITING = re.compile(r"# \( (\d{1,7}) additional processes waiting in MPI_Barrier\)")
_MODE = re.compile(r"#\s+MODE: ((?:NON-)?AGGREGATE)")
_LARGEST = re.compile(r"# Maximum message length in bytes:\s*(\d{1,12})")
_COMPLAINT = re.compile(r"(?i)invalid|not found|unknown|need|error")
_UNKNOWN = re.compile(r"Invalid benchmark name\b|^EXCEPTION: ")
"""IMB goes on without the benchmark that it does not know, and with all of its own where it knows none."""
_EXACT = re.compile(r"[0-9]+\.[0-9]{2,}")
"""IMB prints two decimals: a time or a rate with fewer was cut."""
_WRONG = re.compile(r"Got invalid buffer|Application error code \d+ occurred")
_END = "# All processes entering MPI_Finalize"

_TIME = "t[usec]"
_TIMES = {
    _TIME: "", "t_min[usec]": "min", "t_max[usec]": "max", "t_avg[usec]": "mean",
    "t_ovrl[usec]": "overlapped", "t_pure[usec]": "pure",
}  # fmt: skip
_RATE, _MESSAGES = "Mbytes/sec", "Msg/sec"
_COLUMNS = {"Group", "#bytes", "#repetitions", *_TIMES, "t_CPU[usec]", "overlap[%]", _RATE, _MESSAGES, "defects"}

_BOTH_WAYS = {"Sendrecv": 2, "Exchange": 4, "Biband": 2}
"""Messages that a process sends and receives for the size of a row, where the rate counts both."""
_ONE_WAY = (
    "PingPong", "PingPing", "PingPongSpecificSource", "PingPingSpecificSource", "PingPongAnySource",
    "PingPingAnySource", "Uniband", "Unidir_Get", "Unidir_Put", "One_put_all", "One_get_all",
)  # fmt: skip
_MESSAGES_OF = {**_BOTH_WAYS, **dict.fromkeys(_ONE_WAY, 1)}
"""Messages for the size of a row that the rate of a benchmark counts, where that is known."""


@dataclass(slots=True)
class _ImbTable(SizeTable):
    """One benchmark as printed: its rows by column, and whether its end was seen."""

    LABELS = MappingProxyType({"size": "#bytes", "group": "Group"})

    benchmark: str
    of_version: frozenset[float]
    """The units that the version in the heading may mean."""
    units: frozenset[float]
    """Those of them that every row so far fits."""
    largest: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Labels of what the heading says of this benchmark."""
    processes: int = 0
    groups: str = ""
    waiting: str = ""
    mode: str = ""
    doubted: bool = False
    ended: bool = False

    @property
    def counts_all(self) -> bool:
        """Whether its rates are sums over all processes, of which more than one sends at a time."""
        is_of_p2p = {_TIME, _MESSAGES} <= set(self.columns)
        return is_of_p2p and (self.benchmark, self.processes) != ("PingPong", 2)

    @property
    def marks(self) -> Mapping[str, object]:
        counts = {"processes": self.processes, "groups": self.groups, "waiting": self.waiting}
        return {"benchmark": self.benchmark, "mode": self.mode.lower(), **counts, **self.settings}


def parse_text(text: str, errors: str = "", probe: str = "imb") -> Sequence[Reading]:
    """Every time and every rate whose unit is certain, in base units; ProbeOutputError when there is none.

    ``errors`` is standard error, where some versions say that they do not know a benchmark: then the tables are
    of others than were asked for, and none is read.
    """
    lines = strip_lines(text)
    refuse_lines(_UNKNOWN, split_lines(f"{text}\n{errors}"), "benchmarks that IMB knows")
    refuse_lines(_WRONG, lines, "data that arrive as they were sent")
    tables = list(number_tables(_read_tables(lines)))
    found = [one for table in tables if table.processes > 1 for one in _make_readings(table, probe)]
    if not found:
        lonely, complaint = any(table.processes == 1 for table in tables), search_lines(_COMPLAINT, lines)
        reason = "tables of one process" if lonely else shorten(complaint.string) if complaint else "no table"
        raise ProbeOutputError(reason, "a table of IMB with two processes or more")
    return found


def _read_tables(lines: Sequence[str]) -> list[_ImbTable]:
    units = _UNITS
    largest, heading = _USUAL_LARGEST, Heading()
    found: list[_ImbTable] = []
    for line in lines:
        if match := _LARGEST.fullmatch(line):
            largest = match[1]
        if match := _VERSION.fullmatch(line):
            major, largest, heading = int(match[1]), "", Heading()
            units = frozenset((MEBI,) if major <= _LAST_MEBI else (MEGA,) if major >= _FIRST_MEGA else _UNITS)
        begins = _BENCHMARK.fullmatch(line)
        if found and (begins or line == _END):
            found[-1].ended = True
        if begins:
            found.append(_ImbTable(begins[1], units, units, largest, heading.find_settings(begins[1])))
        elif found and not found[-1].ended:
            found += _read_line(found[-1], line)
        else:
            heading.read(line)
    return found


def _read_line(table: _ImbTable, line: str) -> list[_ImbTable]:
    """Add what one line says of ``table``; the next table where the same benchmark goes on in another mode."""
    words = tuple(line.split())
    if table.rows and (match := _MODE.fullmatch(line)):
        table.ended = True
        units = table.of_version
        return [replace(table, mode=match[1], units=units, columns=(), rows=[], doubted=False, ended=False)]
    if table.rows and (_PROCESSES.fullmatch(line) or _GROUPS.fullmatch(line) or _is_heading(words)):
        table.ended = table.doubted = True  # by the head of another table, whose first line was lost
    elif match := _PROCESSES.fullmatch(line):
        table.processes = int(match[1])
    elif match := _GROUPS.fullmatch(line):
        table.groups, table.processes = match["groups"], int(match[2])
    elif match := _WAITING.fullmatch(line):
        table.waiting = match[1]
    elif match := _MODE.fullmatch(line):
        table.mode = match[1]
    elif not table.columns and _is_heading(words):
        table.columns = words
    elif table.columns and len(words) == len(table.columns) and all(parse_span(word) is not None for word in words):
        row = dict(zip(table.columns, words, strict=True))
        if not _is_row(table, row) or not (units := _find_units(table, row) if _RATE in row else _UNITS):
            table.doubted = True
        elif (
            table.rows
            and "Group" not in row
            and "#bytes" in row
            and int(row["#bytes"]) <= int(table.rows[-1]["#bytes"])
        ):
            table.ended = table.doubted = True  # within a table the sizes grow: the head of this one was lost
        else:
            table.rows.append(row)
            table.units &= units
    return []


def _is_heading(words: Sequence[str]) -> bool:
    known = len(words) > 2 and set(words) <= _COLUMNS and "#repetitions" in words
    return known and ("#bytes" in words or _RATE not in words)


def _is_row(table: _ImbTable, row: Row) -> bool:
    """Whether the numbers of a row are what IMB prints, and fit each other."""
    defect = parse_decimal(row.get("defects", "0"))
    if defect is None or defect > _MOST_DEFECT:
        raise ProbeOutputError(f"defects {row['defects']} in {table.benchmark}", "data that arrive as they were sent")
    counts = [row[name] for name in ("Group", "#bytes", "#repetitions") if name in row]
    if None in map(parse_count, counts) or not parse_count(row["#repetitions"]):
        return False
    if any(not _EXACT.fullmatch(row[name]) for name in (*_TIMES, _RATE) if name in row):
        return False
    return is_mean_between(*(row.get(f"t_{name}[usec]", "0") for name in ("min", "avg", "max")))


def _find_units(table: _ImbTable, row: Row) -> frozenset[float]:
    """The units that the rate of ``row`` may have by its size and its messages, or its time where it has none."""
    size, rate = float(row["#bytes"]), parse_span(row[_RATE])
    counted = parse_span(row.get(_MESSAGES) or row.get(_TIME) or row.get("t_max[usec]", ""))
    if rate is None or counted is None:
        return frozenset()
    moved = [multiply_spans(counted, (size, size))]
    if _MESSAGES not in row:
        counts = [_MESSAGES_OF[table.benchmark]] if table.benchmark in _MESSAGES_OF else [1, 2, 4]
        moved = [(count * size / counted[1] * 1e6, count * size / max(counted[0], 1e-9) * 1e6) for count in counts]
    spans = {unit: multiply_spans(rate, (unit, unit)) for unit in _UNITS}
    return frozenset(unit for unit, span in spans.items() if any(overlap(span, one) for one in moved))


def _make_readings(table: _ImbTable, probe: str) -> Iterator[Reading]:
    unit = next(iter(table.units)) if len(table.units) == 1 else None
    both = table.benchmark in _BOTH_WAYS
    rates: list[tuple[float, str]] = []
    for row in table.rows:
        raw = " ".join(row.values())
        for column, statistic in _TIMES.items():
            if took := parse_decimal(row.get(column, "0")):
                marks, line = table.make_labels(row, statistic=statistic), f"{column} {row[column]} in {raw}"
                yield Reading(f"{probe}.latency", took / 1e6, Unit.SECOND, marks, line)
        if table.counts_all:
            continue
        rate, messages = parse_decimal(row.get(_RATE, "0")), parse_decimal(row.get(_MESSAGES, "0"))
        if unit is not None and rate:
            marks = table.make_labels(row, direction="both" if both else None)
            yield Reading(f"{probe}.bandwidth", rate * unit, Unit.BYTE_RATE, marks, raw)
            rates.append((rate * unit, raw))
        if messages:
            marks = table.make_labels(row, direction="both" if both else None)
            yield Reading(f"{probe}.message_rate", messages, Unit.PER_SECOND, marks, raw)
    if rates and _has_every_size(table) and table.benchmark in _MESSAGES_OF:
        yield table.make_peak(probe, rates, both=both)


def _has_every_size(table: _ImbTable) -> bool:
    """Whether the rows are all there are: where the heading tells the largest size, all doubled sizes up to it."""
    if not table.ended or table.doubted or "Group" in table.columns:
        return False
    sizes = [int(row["#bytes"]) for row in table.rows if row["#bytes"] != "0"]
    doubled = all(later == 2 * before for before, later in pairwise(sizes))
    return not table.largest or (doubled and sizes[-1:] == [int(table.largest)])
