"""Reader of McCalpin's STREAM 4 to 5.10, in C, in Fortran and over MPI: rates and times of a run that validated.

``MB/s`` is 10^6 byte/s. The table is read when all four of its rows are whole, when the rates are the bytes of the
arrays over the least times as closely as both were printed, and when the words ``Solution Validates`` follow it.
Versions before 5.6, whose tables have a column ``RMS time``, do not validate: their rates are read, that column is not.
A clock with less than 20 ticks for one test measures nothing, as STREAM itself says.

Source: ``stream.c`` 5.9 and 5.10, ``stream.f`` 5.6, ``stream_mpi.c`` 1.8.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from benchconsole.probes.api import ProbeOutputError, Reading, Unit
from benchconsole.probes.readers.lines import find_match, find_matches, refuse_lines, shorten, strip_lines
from benchconsole.probes.readers.numbers import Span, format_size, is_within, multiply_spans, parse_decimal, parse_span
from benchconsole.probes.readers.readings import add_labels, known_labels, number_runs

_HEADING = re.compile(r"Function\s+(?:Best )?Rate\s+\(?MB/s\)?\s+(?P<mean>Avg|RMS) time\s+Min time\s+Max time")
_ROW = re.compile(r"(Copy|Scale|Add|Triad):\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)")
_VALID = re.compile(r"Solution Validates(?:!|: avg error less than \S+ on all three arrays)?")
_BAD = re.compile(r"(?i)Failed Validation|malloc.* failed|allocation of array .* failed|AvgRelAbsErr > epsilon")
_TICKS = re.compile(r"\(= (-?\d+) (?:clock|timer) ticks\)")
_ARRAY = re.compile(r"(?:Total Aggregate )?Array size\s*=\s*(\d+)(?: \(elements\))?(?:, Offset = .*)?")
_BYTES = re.compile(r"(?:This system uses|Assuming) (\d{1,3}) bytes per (?:DOUBLE PRECISION word|array element)\.?")
_TIMES = re.compile(
    r"(?:Each kernel will be executed|Each test is run|You are running each test) +(?P<count>\d{1,6}) +times\b.*"
)
_RANKS = re.compile(r"Data is distributed across (?P<count>\d{1,7}) MPI ranks")
_THREADS = re.compile(r"Number of Threads(?P<counted> requested| counted)?\s*=\s*(?P<threads>\d{1,6})")

_WORDS = {"Copy": 2, "Scale": 2, "Add": 3, "Triad": 3}
"""Array elements that are read or written for each index."""
_LEAST_TICKS = 20
_Rows = Mapping[str, Sequence[str]]


def parse_text(text: str) -> Sequence[Reading]:
    """The best rate of each kernel in byte/s, and its mean, least and greatest time; ProbeOutputError otherwise."""
    lines = strip_lines(text)
    refuse_lines(_BAD, lines, "arrays that hold the computed values")
    return number_runs(one for run in _split_runs(lines) for one in _read_run(run))


def _split_runs(lines: Sequence[str]) -> Iterator[Sequence[str]]:
    """The lines to each validation; what follows the last one is a run of its own only where it has a table."""
    ends = [index + 1 for index, line in enumerate(lines) if _VALID.fullmatch(line)]
    for begin, end in pairwise([0, *ends]):
        yield lines[begin:end]
    rest = lines[ends[-1] if ends else 0 :]
    if not ends or any(_HEADING.fullmatch(line) for line in rest):
        yield rest


def _read_run(lines: Sequence[str]) -> Iterator[Reading]:
    rows, mean = _read_table(lines)
    ticks = [int(match[1]) for match in find_matches(_TICKS, lines)]
    if any(count < _LEAST_TICKS for count in ticks):
        raise ProbeOutputError(f"{min(ticks)} clock ticks", f"{_LEAST_TICKS} or more: larger arrays")
    size = _find_only(_ARRAY, lines, "size of the arrays")
    each = _find_only(_BYTES, lines, "size of an element") or 8
    arrays = [_find_array(name, cells, size, each) for name, cells in rows.items()]
    if max(low for low, _ in arrays) > min(high for _, high in arrays) * 1.001:
        raise ProbeOutputError("rates and times of different arrays", "the same arrays in all four kernels")
    times, ranks = (find_match(pattern, lines) for pattern in (_TIMES, _RANKS))
    marks = known_labels(
        threads=_find_threads(lines),
        array_size=format_size(size * each) if size else None,
        times=times["count"] if times else None,
        tasks=ranks["count"] if ranks else None,
    )
    for name, cells in rows.items():
        raw, kernel = f"{name}: {' '.join(cells)}", name.lower()
        rate, *took = map(float, cells)
        yield Reading(f"stream.{kernel}", rate * 1e6, Unit.BYTE_RATE, marks, raw)
        for statistic, seconds in list(zip(("mean", "min", "max"), took, strict=True))[not mean :]:
            own = add_labels(marks, kernel=kernel, statistic=statistic)
            yield Reading("stream.time", seconds, Unit.SECOND, own, raw)


def _read_table(lines: Sequence[str]) -> tuple[_Rows, bool]:
    """The cells of the one table, by kernel, when it was validated; whether their first times are averages."""
    headings = [(index, match) for index, line in enumerate(lines) if (match := _HEADING.fullmatch(line))]
    if len(headings) != 1:
        raise ProbeOutputError(f"{len(headings)} tables of rates in MB/s", "one table of STREAM")
    after, mean = lines[headings[0][0] + 1 :], headings[0][1]["mean"] == "Avg"
    matches = list(find_matches(_ROW, after))
    if [match[1] for match in matches] != list(_WORDS):
        raise ProbeOutputError(", ".join(match[1] for match in matches) or "no rows", "Copy, Scale, Add and Triad")
    if mean and not find_match(_VALID, after):
        raise ProbeOutputError("no validation", "Solution Validates below the table")
    return {match[1]: match.groups()[1:] for match in matches}, mean


def _find_array(name: str, cells: Sequence[str], size: int | None, each: int) -> Span:
    """Bytes of one array by the rate of a kernel and its least time; ProbeOutputError where they cannot be.

    ``size`` is the elements of an array, where that is known, and ``each`` the bytes of one.
    """
    raw = shorten(f"{name}: {' '.join(cells)}")
    rate, mean, least, most = map(parse_span, cells)
    if rate is None or mean is None or least is None or most is None or not all(map(parse_decimal, cells)):
        raise ProbeOutputError(raw, "a rate and three times above 0")
    if not (least[0] <= mean[1] and mean[0] <= most[1]):
        raise ProbeOutputError(raw, "an average between the least and the most")
    part = 1e6 / _WORDS[name]
    array = multiply_spans(rate, least, (part, part))
    if size and not is_within(each * size, array, 1e-3):
        raise ProbeOutputError(raw, f"MB/s of {_WORDS[name]} arrays of {size} elements over the time")
    return array


def _find_only(pattern: re.Pattern[str], lines: Sequence[str], what: str) -> int | None:
    found = {int(match[1]) for match in find_matches(pattern, lines)}
    if len(found) > 1:
        raise ProbeOutputError(f"{len(found)} values of the {what}", "one run of STREAM")
    return found.pop() if found else None


def _find_threads(lines: Sequence[str]) -> int | None:
    """The threads that were counted, else those that were requested; None where STREAM was built without."""
    threads = {match["counted"]: int(match["threads"]) for match in find_matches(_THREADS, lines)}
    requested, counted = threads.get(" requested"), threads.get(" counted")
    if requested and counted and requested != counted:
        raise ProbeOutputError(f"{counted} threads counted of {requested} requested", "as many threads as requested")
    return counted or requested or threads.get(None)
