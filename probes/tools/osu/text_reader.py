"""Reader of the OSU Micro-Benchmarks 2.x to 7.x: point to point, multiple pairs, collectives, one-sided.

``MB/s`` is 10^6 byte/s in every version and ``us`` microseconds. Comment lines stand before, between and after the
heading of a table (the data type of 7.x), and notes of the MPI library between its rows. Where the data were checked
(``-c``) a row that did not pass makes the whole run worth nothing. Columns that are not known leave a table unread.
Of derived data types (``-D``) each row says what it sent, and no greatest bandwidth is told.

The greatest bandwidth over the sizes is read where the size that was asked for last (``-m`` of the command, when it
is known) was reached: the text has no other end. Source: ``osu_util.c``, ``osu_util_mpi.c`` and ``osu_*.c`` of the
versions 2.1, 3.1, 5.x, 6.2 and 7.x.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from benchconsole.probes.api import ProbeOutputError, Reading, Unit, labels
from benchconsole.probes.readers.lines import find_matches, refuse_lines, shorten, strip_lines
from benchconsole.probes.readers.numbers import multiply_spans, overlap, parse_count, parse_decimal, parse_span
from benchconsole.probes.tools.mpi.message_tables import Row, SizeTable, is_mean_between, number_tables
from benchconsole.topology.copying import replace

_TITLE = re.compile(
    r"#? ?OSU (?:MPI(?:-(?P<device>[A-Z]\w*))? )?(?P<name>[\w /-]+?)(?: Test)?(?: v|\s*\(Version )\d[\w.]*\)?"
)
_TYPE = re.compile(r"# Datatype: (MPI_\w+)\.?")
_PAIRS = re.compile(r"# \[ pairs: (\d{1,6}) \](?: \[ window size: (\d{1,6}|[\w ]+) \])?")
_COMPLAINT = re.compile(r"(?i)requires|must be|usage|invalid|error|unrecognized")
_EXACT = re.compile(r"[0-9]+\.[0-9]{2,}")
"""OSU prints two decimals, six in old versions: a number with fewer was cut."""
_INIT = re.compile(
    r"nprocs: (?P<processes>[0-9]{1,9}), min: (?P<min>[0-9]{1,9}) ms, max: (?P<max>[0-9]{1,9}) ms,"
    r" avg: (?P<mean>[0-9]{1,9}) ms"
)
"""The one line of ``osu_init``, in whole milliseconds."""
_COMMAND_SIZES = re.compile(r"(?:\d+:)?(\d{1,12})")

_LATENCY = {
    "Latency (us)": "mean", "Latency(us)": "mean", "Avg Latency(us)": "mean", "Avg Latency (us)": "mean",
    "Min Latency(us)": "min", "Max Latency(us)": "max", "Overall(us)": "overall", "Pure Comm.(us)": "pure",
    **{f"P{part} Tail Lat(us)": f"p{part}" for part in range(1, 101)},
}  # fmt: skip
_BANDWIDTH = {"Bandwidth (MB/s)", "Bi-Bandwidth (MB/s)", "MB/s"}
_MESSAGES = "Messages/s"
_LEFT_OUT = {
    "Iterations", "Compute(us)", "Overlap(%)", "Coll. Init(us)", "MPI_Test(us)", "MPI_Wait(us)", "Min Comm.(us)",
    "Max Comm.(us)",
    *(f"P{part} Tail BW(MB/s)" for part in range(1, 101)),
}  # fmt: skip
_CHECKED = "Validation"
_SHORT = ("Size", "Avg Latency(us)")
_FULL = (*_SHORT, "Min Latency(us)", "Max Latency(us)", "Iterations")
"""7.3 prints the cells of ``-f`` below the heading without it."""
_UNTITLED = ("?", "?")
"""Of a table whose title was lost: its benchmark may be one that counts both directions."""
_BOTH = "bi-directional"
_SIZED, _TRANSMITTED = "Size", "Transmit Size"
"""Bytes of a message; of a derived data type (``-D``) those that are sent of it, which the rates count."""
_WHOLE = (_SIZED, _TRANSMITTED, "Iterations")
"""Columns of whole numbers."""
_KNOWN = {_SIZED, _TRANSMITTED, *_LATENCY, *_BANDWIDTH, _MESSAGES, *_LEFT_OUT, _CHECKED}
_HEADING = re.compile("|".join(map(re.escape, sorted(_KNOWN, key=len)[::-1])))


@dataclass(slots=True)
class _OsuTable(SizeTable):
    """One table as printed, with the words around it."""

    LABELS = MappingProxyType({"size": _SIZED, "transmit_size": _TRANSMITTED})

    title: str
    device: str = ""
    datatype: str = ""
    pairs: str = ""
    window: str = ""

    @property
    def marks(self) -> Mapping[str, object]:
        told = {"benchmark": self.title, "datatype": self.datatype, "pairs": self.pairs, "device": self.device}
        return {**told, "window": self.window, "verify": "1" if _CHECKED in self.columns else ""}


def parse_text(text: str, argv: Sequence[str] = (), probe: str = "osu") -> Sequence[Reading]:
    """Every time, bandwidth and message rate, in base units; ProbeOutputError when there is none, or one in doubt."""
    lines = strip_lines(text)
    asked = (_COMMAND_SIZES.fullmatch(value) for option, value in pairwise(argv) if option == "-m")
    last = next((match[1] for match in asked if match), None)
    found = [one for table in number_tables(_read_tables(lines)) for one in _make_readings(table, probe, last)]
    found += _read_inits(lines, probe)
    if not found:
        refuse_lines(_COMPLAINT, lines, "a table of the OSU Micro-Benchmarks")
        raise ProbeOutputError("no table", "a table of the OSU Micro-Benchmarks")
    return found


def _read_inits(lines: Sequence[str], probe: str) -> Iterator[Reading]:
    """The times of ``osu_init``, in which every process has come up."""
    for match in find_matches(_INIT, lines):
        least, mean, most = (float(match[name]) for name in ("min", "mean", "max"))
        if not 0 < least <= mean + 1 <= most + 2:
            raise ProbeOutputError(match[0], "an average between the least and the most")
        for statistic, value in (("min", least), ("mean", mean), ("max", most)):
            marks = labels(benchmark="init", processes=match["processes"], statistic=statistic)
            yield Reading(f"{probe}.latency", value / 1e3, Unit.SECOND, marks, match[0])


def _read_tables(lines: Sequence[str]) -> list[_OsuTable]:
    found: list[_OsuTable] = []
    for line in lines:
        if match := _TITLE.fullmatch(line):
            # the name as all versions would write it
            name = " ".join(match["name"].lower().split()).replace("bidirectional", "bi-directional")
            found.append(_OsuTable(name, (match["device"] or "").lower()))
        elif found:
            found += _read_line(found[-1], line)
    return found


def _read_line(table: _OsuTable, line: str) -> list[_OsuTable]:
    """Add what one line says of ``table``; the next table where the same benchmark goes on with another data type."""
    if match := _TYPE.fullmatch(line):
        if table.rows:
            columns = _UNTITLED if match[1] == table.datatype else table.columns
            return [replace(table, datatype=match[1], columns=columns, rows=[])]
        table.datatype = match[1]
    elif match := _PAIRS.fullmatch(line):
        table.pairs, table.window = match[1], match[2] or ""
    elif columns := _read_columns(line):
        if table.rows:
            return [replace(table, columns=_UNTITLED, rows=[])]
        if table.columns != _UNTITLED:
            table.columns = columns
    elif row := _read_row(table, line):
        table.rows.append(row)
    return []


def _read_columns(line: str) -> tuple[str, ...]:
    """The columns of a heading, ``("?",)`` where one is not known or stands twice; none for any other line."""
    heading = line.removeprefix("#").strip()
    columns = tuple(_HEADING.findall(heading))
    if not columns or not heading.startswith(columns[0]) or columns[0] not in (_SIZED, *_LATENCY):
        return ()
    unknown = _HEADING.sub("", heading).strip()
    return ("?",) if unknown or len(set(columns)) < len(columns) or columns == (_SIZED,) else columns


def _read_row(table: _OsuTable, line: str) -> Row | None:
    """The cells of a row by column; None for a line that is no row of this table."""
    words = line.split()
    columns = _FULL if table.columns == _SHORT and len(words) == len(_FULL) else table.columns
    if len(words) != len(columns) or "?" in columns:
        return None
    row = dict(zip(columns, words, strict=True))
    numbers = [row[name] for name in row if name not in (*_WHOLE, _CHECKED)]
    if any(parse_span(number) is None or not _EXACT.fullmatch(number) for number in numbers):
        return None
    if None in (parse_count(row[name]) for name in _WHOLE if name in row):
        return None
    if row.get(_CHECKED, "Pass") not in ("Pass", "-"):
        found = f"validation {shorten(row[_CHECKED])} at size {row[_SIZED]}"
        raise ProbeOutputError(found, "data that passed the check")
    _refuse_misfit(table, row)
    return row


def _refuse_misfit(table: _OsuTable, row: Row) -> None:
    """ProbeOutputError for a row that no run prints in this place, as of another table whose heading was lost."""
    if _SIZED in row and table.rows and int(row[_SIZED]) <= int(table.rows[-1][_SIZED]):
        raise ProbeOutputError(f"size {row[_SIZED]} after {table.rows[-1][_SIZED]}", "sizes that grow within a table")
    latencies = [row[name] for name in ("Min Latency(us)", "Avg Latency(us)", "Max Latency(us)") if name in row]
    if len(latencies) == 3 and not is_mean_between(*latencies):
        raise ProbeOutputError(shorten(" ".join(row.values())), "an average between the least and the most")
    rate, messages = parse_span(row.get("MB/s", "")), parse_span(row.get(_MESSAGES, ""))
    if rate and messages:
        size = float(row.get(_TRANSMITTED, row[_SIZED]))
        if not overlap(multiply_spans(messages, (size, size)), multiply_spans(rate, (1e6, 1e6)), 1e-4):
            raise ProbeOutputError(shorten(" ".join(row.values())), "MB/s that are messages times their size")


def _make_readings(table: _OsuTable, probe: str, last: str | None) -> Iterator[Reading]:
    rates: list[tuple[float, str]] = []
    both = _BOTH in table.title
    for row in table.rows:
        raw = " ".join(row.values())
        for column, text in row.items():
            number = parse_decimal(text) if column not in (_SIZED, _TRANSMITTED, _CHECKED) else None
            if not number:
                continue
            if column in _LATENCY:
                marks = table.make_labels(row, statistic=_LATENCY[column])
                yield Reading(f"{probe}.latency", number / 1e6, Unit.SECOND, marks, f"{text} us in {raw}")
            elif column in _BANDWIDTH:
                rates.append((number * 1e6, f"{text} MB/s in {raw}"))
                marks = table.make_labels(row, direction="both" if both else None)
                yield Reading(f"{probe}.bandwidth", number * 1e6, Unit.BYTE_RATE, marks, raw)
            elif column == _MESSAGES:
                yield Reading(f"{probe}.message_rate", number, Unit.PER_SECOND, table.make_labels(row), raw)
    if rates and table.rows[-1].get(_SIZED) == last and _TRANSMITTED not in table.columns:
        yield table.make_peak(probe, rates, both=both)
