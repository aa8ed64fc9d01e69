"""Reads the tables of the OSU Micro-Benchmarks 2.x to 7.x: point to point, multiple pairs, collectives, one-sided.

``MB/s`` is 10^6 byte/s in every version and ``us`` microseconds. Comment lines stand before, between and after the
heading of a table (the data type of 7.x), and notes of the MPI library between its rows. Where the data were checked
(``-c``) a row that did not pass makes the whole run worth nothing. Columns that are not known leave a table unread.

The greatest bandwidth over the sizes is read where the size that was asked for last (``-m`` of the command, when it
is known) was reached: the text has no other end. Source: ``osu_util.c``, ``osu_util_mpi.c`` and ``osu_*.c`` of the
versions 2.1, 3.1, 5.x, 6.2 and 7.x.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from probes.api import Labels, ProbeOutputError, Reading, Unit, labels
from probes.builtin.captured import decimal, one_line, whole
from probes.builtin.message_tables import Row, SizeTable, numbered
from probes.builtin.printed import fits, plain_lines, span, times

_TITLE = re.compile(
    r"#? ?OSU (?:MPI(?:-(?P<device>[A-Z]\w*))? )?(?P<name>[\w /-]+?)(?: Test)?(?: v|\s*\(Version )\d[\w.]*\)?"
)
_TYPE = re.compile(r"# Datatype: (MPI_\w+)\.?")
_PAIRS = re.compile(r"# \[ pairs: (\d{1,6}) \](?: \[ window size: (\d{1,6}|[\w ]+) \])?")
_COMMAND_SIZES = re.compile(r"(?:\d+:)?(\d{1,12})")

_LATENCY = {
    "Latency (us)": "mean", "Latency(us)": "mean", "Avg Latency(us)": "mean", "Avg Latency (us)": "mean",
    "Min Latency(us)": "min", "Max Latency(us)": "max", "Overall(us)": "overall", "Pure Comm.(us)": "pure",
    **{f"P{part} Tail Lat(us)": f"p{part}" for part in range(1, 101)},
}  # fmt: skip
_BANDWIDTH = {"Bandwidth (MB/s)", "Bi-Bandwidth (MB/s)", "MB/s"}
_MESSAGES = "Messages/s"
_LEFT_OUT = {
    "Iterations", "Compute(us)", "Overlap(%)", "Coll. Init(us)", "MPI_Test(us)", "MPI_Wait(us)",
    *(f"P{part} Tail BW(MB/s)" for part in range(1, 101)),
}  # fmt: skip
_CHECKED = "Validation"
_SHORT = ("Size", "Avg Latency(us)")
_FULL = (*_SHORT, "Min Latency(us)", "Max Latency(us)", "Iterations")
"""7.3 prints the cells of ``-f`` below the heading without it."""
_UNTITLED = ("?", "?")
"""Of a table whose title was lost: its benchmark may be one that counts both directions."""
_BOTH = "bi-directional"
_SIZED = "Size"
_HEADING = re.compile(
    "|".join(map(re.escape, sorted({_SIZED, *_LATENCY, *_BANDWIDTH, _MESSAGES, *_LEFT_OUT, _CHECKED}, key=len)[::-1]))
)


@dataclass(slots=True)
class _Table(SizeTable):
    """One table as printed, with what stood around it."""

    title: str
    device: str = ""
    datatype: str = ""
    pairs: str = ""

    def labels(self, row: Row | None = None, **more: object) -> Labels:
        """What tells its numbers from those of others; ``row`` adds the size of one row."""
        marks: dict[str, object] = {"benchmark": self.title, **more}
        around = {"datatype": self.datatype, "pairs": self.pairs, "device": self.device}
        marks |= {name: text for name, text in around.items() if text}
        if self.run > 1:
            marks["run"] = self.run
        if row is not None and _SIZED in row:
            marks["size"] = row[_SIZED]
        return labels(**marks)


def readings(text: str, argv: Sequence[str] = (), probe: str = "osu") -> Sequence[Reading]:
    """Every time, bandwidth and message rate, in base units; ProbeOutputError when there is none, or one in doubt."""
    lines = plain_lines(text)
    last = _last_size(argv)
    found = [one for table in numbered(_tables(lines)) for one in _readings(table, probe, last)]
    if not found:
        told = [line for line in lines if re.search(r"(?i)requires|must be|usage|invalid|error|unrecognized", line)]
        raise ProbeOutputError(one_line(told[0]) if told else "no table", "a table of the OSU Micro-Benchmarks")
    return found


def _last_size(argv: Sequence[str]) -> str | None:
    """The greatest size of the option ``-m`` of the command, when there is one."""
    for option, value in pairwise(argv):
        if option == "-m" and (match := _COMMAND_SIZES.fullmatch(value)):
            return match[1]
    return None


def _tables(lines: Sequence[str]) -> list[_Table]:
    found: list[_Table] = []
    for line in lines:
        if match := _TITLE.fullmatch(line):
            found.append(_Table(_title(match["name"]), (match["device"] or "").lower()))
        elif found:
            found += _take(found[-1], line)
    return found


def _title(name: str) -> str:
    """The name of a benchmark as all versions would write it."""
    words = " ".join(name.lower().split())
    return words.replace("bidirectional", "bi-directional")


def _take(table: _Table, line: str) -> list[_Table]:
    """Add what one line says of ``table``; the next table where the same benchmark goes on with another data type."""
    if match := _TYPE.fullmatch(line):
        if table.rows:
            columns = _UNTITLED if match[1] == table.datatype else table.columns
            return [replace(table, datatype=match[1], columns=columns, rows=[])]
        table.datatype = match[1]
    elif match := _PAIRS.fullmatch(line):
        table.pairs = match[1]
    elif columns := _columns(line):
        if table.rows:
            return [replace(table, columns=_UNTITLED, rows=[])]
        if table.columns != _UNTITLED:
            table.columns = columns
    elif row := _row(table, line):
        table.rows.append(row)
    return []


def _columns(line: str) -> tuple[str, ...]:
    """The columns of a heading, ``("?",)`` where one is not known or stands twice; none for any other line."""
    heading = line.removeprefix("#").strip()
    columns = tuple(_HEADING.findall(heading))
    if not columns or not heading.startswith(columns[0]) or columns[0] not in (_SIZED, *_LATENCY):
        return ()
    unknown = _HEADING.sub("", heading).strip()
    return ("?",) if unknown or len(set(columns)) < len(columns) or columns == (_SIZED,) else columns


def _row(table: _Table, line: str) -> Row | None:
    """The cells of a row by column; None for a line that is no row of this table."""
    words = line.split()
    columns = _FULL if table.columns == _SHORT and len(words) == len(_FULL) else table.columns
    if len(words) != len(columns) or "?" in columns:
        return None
    row = dict(zip(columns, words, strict=True))
    numbers = [row[name] for name in row if name not in (_SIZED, "Iterations", _CHECKED)]
    if any(span(number) is None or "." not in number for number in numbers):
        return None
    if None in (whole(row[name]) for name in (_SIZED, "Iterations") if name in row):
        return None
    if row.get(_CHECKED, "Pass") not in ("Pass", "-"):
        raise ProbeOutputError(
            f"validation {one_line(row[_CHECKED])} at size {row[_SIZED]}", "data that passed the check"
        )
    _refuse_misfit(table, row)
    return row


def _refuse_misfit(table: _Table, row: Row) -> None:
    """ProbeOutputError for a row that no run prints in this place, as of another table whose heading was lost."""
    if _SIZED in row and table.rows and int(row[_SIZED]) <= int(table.rows[-1][_SIZED]):
        raise ProbeOutputError(f"size {row[_SIZED]} after {table.rows[-1][_SIZED]}", "sizes that grow within a table")
    least, mean, most = (span(row.get(f"{name} Latency(us)", "")) for name in ("Min", "Avg", "Max"))
    if least and mean and most and not (least[0] <= mean[1] and mean[0] <= most[1]):
        raise ProbeOutputError(one_line(" ".join(row.values())), "an average between the least and the most")
    rate, messages = span(row.get("MB/s", "")), span(row.get(_MESSAGES, ""))
    if rate and messages:
        size = float(row[_SIZED])
        carried = times(messages, (size, size))
        meant = times(rate, (1e6, 1e6))
        if not (fits(carried[0], meant, 1e-4) or fits(meant[0], carried, 1e-4)):
            raise ProbeOutputError(one_line(" ".join(row.values())), "MB/s that are messages times their size")


def _readings(table: _Table, probe: str, last: str | None) -> Iterator[Reading]:
    rates: list[tuple[float, str]] = []
    both = {"direction": "both"} if _BOTH in table.title else {}
    for row in table.rows:
        raw = " ".join(row.values())
        for column, text in row.items():
            number = decimal(text) if column not in (_SIZED, _CHECKED) else None
            if not number:
                continue
            if column in _LATENCY:
                marks = table.labels(row, statistic=_LATENCY[column])
                yield Reading(f"{probe}.latency", number / 1e6, Unit.SECOND, marks, f"{text} us in {raw}")
            elif column in _BANDWIDTH:
                rates.append((number * 1e6, f"{text} MB/s in {raw}"))
                yield Reading(f"{probe}.bandwidth", number * 1e6, Unit.BYTE_RATE, table.labels(row, **both), raw)
            elif column == _MESSAGES:
                yield Reading(f"{probe}.message_rate", number, Unit.PER_SECOND, table.labels(row), raw)
    if rates and table.rows[-1].get(_SIZED) == last:
        best, raw = max(rates)
        name = "peak_both" if both else "peak"
        yield Reading(f"{probe}.{name}", best, Unit.BYTE_RATE, table.labels(statistic="max"), raw)
