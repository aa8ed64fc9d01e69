"""Reader of the reports of h5perf_serial and of the parallel h5perf.

Both print MB/s and mean 2^20 byte/s. ``Write`` counts the time of the transfers alone, ``Write Open-Close`` that from
opening to closing the file, ``Raw Data Write`` that of the data without what HDF5 adds. Both print rows of zeros and
end with exit status 0 where a file could not be opened.

Source: HDF5 1.8 and 1.10, ``tools/perform/sio_perf.c`` and ``pio_perf.c``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from benchconsole.probes.api import ProbeOutputError, Reading, Unit, labels
from benchconsole.probes.readers.lines import dedent_lines, refuse_lines, shorten, split_lines
from benchconsole.probes.readers.numbers import require_positive
from benchconsole.probes.readers.readings import number_runs

LABELS = frozenset(
    (
        "api", "block", "cached", "driver", "files", "iterations", "layout", "method", "pattern", "run", "size",
        "statistic", "tasks", "timing",
    )
)  # fmt: skip
"""Labels that the numbers of a report may carry."""

_MIB = 2.0**20
_API_NAMES = {"POSIX": "posix", "MPIO": "mpiio", "PHDF5": "phdf5", "HDF5": "hdf5"}
_COMPLAINT = re.compile(
    r"\*\*\* Assertion failed|(?:Open|Create|Close|Write|Read|Seek) failed|HDF5-DIAG: Error|No space left|MPI_ABORT"
)

_CONTEXT = re.compile(r"benchconsole: h5perf_serial size=(\d{1,18}) memory=(\d{1,18})")
_BEGIN = re.compile(r"(?:rank \d+: )?==== Parameters ====")
_OF_RUN = {
    "method": re.compile(r"rank \d+: I/O Method for MPI and HDF5=(Collective|Independent)"),
    "pattern": re.compile(r"rank \d+: Block Pattern in Dataset=(Contiguous|Interleaved)"),
    "files": re.compile(r"rank \d+: Number of files=([1-9]\d{0,6})"),
}
_OF_HDF5 = {
    "layout": re.compile(r"(?:rank \d+: D|HDF5 d)ata storage method(?: in HDF5)?=(Contiguous|Chunked)"),
    "driver": re.compile(r"HDF5 file driver=([a-z0-9]{1,20})"),
}
"""Lines of the parameters, by the label that they give: of the whole run, and of HDF5 alone."""
_PROCESSORS = re.compile(r"Number of processors = ([1-9]\d{0,6})")
_SERIAL_BUFFER = re.compile(r"Transfer Buffer Size \(bytes\): ([1-9]\d{0,14})")
_SERIAL_SIZE = re.compile(r"File Size\(MB\): (\d{1,12}\.\d\d)")
_PARALLEL = re.compile(r" *Transfer Buffer Size: ([1-9]\d{0,14}) bytes, File size: (\d{1,12}\.\d\d) MBs?")
_API = re.compile(r" *IO API = (POSIX|MPIO|PHDF5|HDF5)(?: \(w/(MPI-?[A-Za-z/]+) driver\))?")
_HEADING = re.compile(r" *(Raw Data )?(Write|Read)( Open-Close)? \(([1-9]\d{0,6}) iteration\(s\)\):")
_ORDER = ("Raw Data Write", "Write", "Write Open-Close", "Raw Data Read", "Read", "Read Open-Close")
"""How the headings below one interface follow each other."""
_ROW = re.compile(r" *(Maximum|Average|Minimum) Throughput: +(\S+) MB/s(?: \( *\d+\.\d+ s\))?")
_STATISTICS = {"Maximum": "max", "Average": "mean", "Minimum": "min"}


@dataclass(slots=True)
class _ReportPlace:
    """Where in the report a row stands; empty where the report has not said it."""

    run: dict[str, object] = field(default_factory=dict)
    hdf5: dict[str, object] = field(default_factory=dict)
    marks: dict[str, object] = field(default_factory=dict)
    api: str = ""
    cached: dict[str, object] = field(default_factory=dict)
    told: set[object] = field(default_factory=set)
    rank: int = -1
    serial: bool = False

    def admit(self, heading: str) -> bool:
        """Whether rows below ``heading`` are of this place: headings are in order, unless a line between is lost."""
        key, rank = (*self.marks.items(), self.api, heading), _ORDER.index(heading.partition(" (")[0])
        if key in self.told or rank <= self.rank:
            self.api = ""
        self.told.add(key)
        self.rank = rank
        return bool(self.api) and {"block", "size"} <= self.marks.keys()


def refuse_complaint(text: str) -> None:
    """Raise ProbeOutputError with the first line in which h5perf, HDF5 or MPI says that something failed."""
    refuse_lines(_COMPLAINT, split_lines(text), "a run without errors")


def read_report(text: str, probe: str) -> Sequence[Reading]:
    """Throughputs in byte/s, as metrics of ``probe``. ProbeOutputError for a complaint, and where nothing is whole."""
    refuse_complaint(text)
    numbers = number_runs(_find_readings(dedent_lines(text), probe))
    if not numbers:
        raise ProbeOutputError("no whole result", "the report of h5perf or h5perf_serial")
    return numbers


def _find_readings(lines: Sequence[str], probe: str) -> Iterator[Reading]:
    place = _ReportPlace()
    for index, line in enumerate(lines):
        _read_place(place, line.rstrip())
        heading = _HEADING.fullmatch(line.rstrip())
        # for raw reading h5perf_serial prints the times from opening to closing again
        again = heading and place.serial and heading[1] and heading[2] == "Read"
        if heading and place.admit(heading[0].strip()) and not again:
            yield from _read_block(place, heading, lines[index + 1 : index + 4], probe)


def _read_place(place: _ReportPlace, line: str) -> None:
    if _BEGIN.fullmatch(line):
        place.run, place.hdf5, place.marks, place.api, place.told = {}, {}, {}, "", set()
    elif found := _read_parameter(_OF_RUN, line):
        place.run |= found
    elif found := _read_parameter(_OF_HDF5, line):
        place.hdf5 |= found
    elif match := _CONTEXT.fullmatch(line):
        place.cached = {"cached": "possible"} if int(match[1]) < 2 * int(match[2]) else {}
    elif match := _PROCESSORS.fullmatch(line):
        place.marks, place.api, place.serial = {"tasks": match[1]}, "", False
    elif match := _SERIAL_BUFFER.fullmatch(line):
        place.marks, place.api, place.serial = {"tasks": 1, "block": f"{match[1]}B"}, "", True
    elif match := _SERIAL_SIZE.fullmatch(line):
        place.marks["size"] = f"{match[1]}MiB"
    elif match := _PARALLEL.fullmatch(line):
        if int(match[1]) <= int(str(place.marks.get("block", "0B")).removesuffix("B")):
            place.marks.pop("tasks", None)  # the buffer does not grow: the line of the next number of tasks is lost
        place.marks |= {"block": f"{match[1]}B", "size": f"{match[2]}MiB"}
        place.api = ""
    elif match := _API.fullmatch(line):
        place.api, place.rank = _API_NAMES[match[1]], -1
        place.marks.pop("driver", None)
        if match[2]:
            place.marks["driver"] = match[2]


def _read_parameter(patterns: Mapping[str, re.Pattern[str]], line: str) -> dict[str, str]:
    """The label that a line of the parameters gives; none for any other line."""
    found = ((name, pattern.fullmatch(line)) for name, pattern in patterns.items())
    return {name: match[1].lower() for name, match in found if match}


def _read_block(place: _ReportPlace, heading: re.Match[str], lines: Sequence[str], probe: str) -> Iterator[Reading]:
    """The three rows below a heading, all of them or none."""
    rows = [match for line in lines if (match := _ROW.fullmatch(line.rstrip()))]
    if [row[1] for row in rows] != list(_STATISTICS):
        return
    rates = [require_positive(row[2], f"{place.api} {heading[0].strip()} {row[1]}") for row in rows]
    if not rates[0] >= rates[1] >= rates[2]:
        raise ProbeOutputError(f"{rates} below {shorten(heading[0])}", "maximum, average and minimum in this order")
    timing = "raw" if heading[1] else "open-close" if heading[3] else "transfer"
    own = place.hdf5 if place.api in ("hdf5", "phdf5") else {}
    marks = {**own, **place.run, **place.marks, **place.cached, "api": place.api, "timing": timing}
    marks["iterations"] = heading[4]
    name = f"{probe}.{heading[2].lower()}"
    for row, rate in zip(rows, rates, strict=True):
        every = labels(**marks, statistic=_STATISTICS[row[1]])
        yield Reading(name, rate * _MIB, Unit.BYTE_RATE, every, f"{heading[0].strip()} {' '.join(row[0].split())}")
