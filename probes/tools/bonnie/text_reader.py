"""Output of bonnie++ 1.03 to 2.00: its CSV line, and its table where the line is not there.

Rates are in K/sec of 2^10 byte/s, seeks and files in 1/s, latencies (from 1.93 on) the longest of one operation.
``+++++`` and empty cells are tests that were too short or not run. A table is read only where it says the same as the
line would, because a capture cut between the two must not give other numbers: tables from 1.98 on round to ``238m`` and
``3.7g``, and print files per second that were never measured (an integer format with a floating-point argument).

Source: bonnie++ 1.03e, 1.96 and 2.00a, ``bon_time.cpp``; bon_csv2html(1).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchconsole.probes.api import ProbeOutputError, Reading, Unit, labels
from benchconsole.probes.readers.lines import dedent_lines, find_match, refuse_lines, shorten
from benchconsole.probes.readers.numbers import format_size, parse_decimal, require_positive
from benchconsole.probes.readers.readings import number_runs

_KIB = 1024.0
_FILES = 1024
"""bonnie++ counts files in this unit."""

_COMPLAINT = re.compile(
    r"^(?:.*\.\.\.)?(?:Can't (?:write|read|open|create|make|change|delete|stat|set|find|sync)\b|Bonnie: drastic"
    r"|Not enough ram|File size should be|Expected \d+ files)"
)
_CONTEXT = re.compile(r"benchconsole: bonnie\+\+ size=(\d{1,18}) memory=(\d{1,18}) direct=([01])\s*")
_SIZE = re.compile(r"(\d{1,9})([MG])(?::\d+[km]?)?")
_CHUNK = re.compile(r"(\d{1,9})([kKmM]?)")
_CHUNK_UNITS = {"": 1, "k": 2**10, "K": 2**10, "m": 2**20, "M": 2**20}
_DEFAULT_CHUNK = "8192"
"""Bytes of a chunk that is not told (bonnie++(8), ``-s``)."""
_RATE = re.compile(r"\d{1,12}(?:\.\d)?")
_TIME = re.compile(r"(\d{1,12})(us|ms|s)")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}

_INPUT_OUTPUT: Sequence[tuple[str, Mapping[str, str]]] = (
    ("write", {"access": "character"}), ("write", {"access": "block"}), ("rewrite", {"access": "block"}),
    ("read", {"access": "character"}), ("read", {"access": "block"}), ("seeks", {}),
)  # fmt: skip
_ON_FILES: Sequence[tuple[str, Mapping[str, str]]] = tuple(
    ("files", {"operation": operation, "pattern": pattern})
    for pattern in ("sequential", "random")
    for operation in ("create", "stat", "remove")
)

# A name of the machine may hold blanks, its size never does; "-f" leaves both cells of a test blank.
_ROW = re.compile(r"(?P<name>.{0,40}?)(?:^|\s)(?P<size>\d+[MG][\d:km]*)(?P<cells>(?: {10}| +[\d.+kmg]+ +[\d+]+){6})\s*")
_FILE_ROW = re.compile(r" *(?P<files>\d+)(?P<spec>[:\w/]*)(?P<cells>(?: {10}| +[\d+]+ +[\d+]+){6})\s*")
_CELL = re.compile(r" {10}| +([\d.+kmg]+) +[\d+]+")


@dataclass(frozen=True, slots=True)
class _HalfRun:
    """One half of a run: its tests, what tells it from others, and its cells as text, one of each test or none."""

    tests: Sequence[tuple[str, Mapping[str, str]]]
    marks: Mapping[str, object]
    cells: Sequence[str]
    latencies: Sequence[str] = ()


def readings(text: str) -> Sequence[Reading]:
    """Every rate and latency, in base units; ProbeOutputError when bonnie++ complained or nothing is whole."""
    lines = dedent_lines(text)
    refuse_lines(_COMPLAINT, lines, "a run without complaint")
    runs = list(dict.fromkeys(line.strip() for line in lines if _is_result(line.strip())))
    halves = [half for line in runs for half in _read_csv(line.split(","))] if runs else list(_find_tables(lines))
    marks = _find_cache_marks(lines)
    numbers = tuple(reading for half in halves for reading in _read_half(half, marks))
    if not numbers:
        tables = any("------Sequential " in line for line in lines) and not runs
        what = "a table whose numbers are rounded or too short" if tables else "no number that was measured"
        raise ProbeOutputError(what, "a whole CSV line of bonnie++ with a test of at least 0.5 s")
    return number_runs(numbers)


def _read_half(half: _HalfRun, cached: Mapping[str, Mapping[str, str]]) -> Iterator[Reading]:
    for index, (name, own) in enumerate(half.tests):
        every = {**half.marks, **own, **cached.get(name, {})}
        cell, latency = (column[index] if column else "" for column in (half.cells, half.latencies))
        if (rate := _parse_rate(cell)) is not None:
            unit, factor = (Unit.PER_SECOND, 1.0) if name in ("seeks", "files") else (Unit.BYTE_RATE, _KIB)
            yield Reading(f"bonnie.{name}", rate * factor, unit, labels(**every), cell)
        if (time := _parse_latency(latency)) is not None:
            every = {"operation": name, **every, "statistic": "max"}
            yield Reading("bonnie.latency", time, Unit.SECOND, labels(**every), latency)


def _find_cache_marks(lines: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
    """By test, as our own note says: whether it used direct I/O, and whether the page cache could hold half its file.

    bonnie++ 2.00a opens the file for direct I/O only to write it first: what comes after goes through the cache.
    """
    note = find_match(_CONTEXT, lines)
    if note is None:
        return {}
    small = {"cached": "possible"} if int(note[1]) < 2 * int(note[2]) else {}
    through = {"direct": "0", **small}
    return {
        "write": {"direct": "1"} if note[3] == "1" else through,
        **dict.fromkeys(("rewrite", "read", "seeks"), through),
    }


def _is_result(line: str) -> bool:
    """Whether a line is a result: of 1.9x and later by its versions, of 1.03 by its length and size."""
    cells = line.split(",")
    if re.fullmatch(r"1\.9\d[a-z]?", cells[0]) and len(cells) > 1 and re.fullmatch(r"[12]\.\d\d[a-z]?", cells[1]):
        return True
    return len(cells) == 27 and bool(_SIZE.fullmatch(cells[1]) or not cells[1]) and bool(cells[0].strip())


def _read_csv(cells: list[str]) -> tuple[_HalfRun, _HalfRun]:
    if len(cells) == 27:  # 1.03 has no version in its line and no latencies
        count, _, kind = cells[14].partition("/")[0].partition(":")
        created = {"clients": 1, **_label_files(count, kind)}
        size, _, chunk = cells[1].partition(":")
        moved = {"clients": 1, **_label_size(size, chunk)}
        return _HalfRun(_INPUT_OUTPUT, moved, cells[2:14:2]), _HalfRun(_ON_FILES, created, cells[15:27:2])
    modern = cells[0] >= "1.98"
    if len(cells) == 47 and not modern and not any(cells[5:18]):
        cells.insert(5, "")  # 1.96 writes one comma too few where it did no input and output
    if len(cells) != (50 if modern else 48):
        found = f"{len(cells)} cells in {shorten(','.join(cells), 60)}"
        raise ProbeOutputError(found, "the 48 or 50 cells of bonnie++ 1.9 to 2.00")
    first, files = (9, 21) if modern else (7, 19)
    clients = {"clients": _parse_count(cells[3], "the concurrency")}
    moved = {**clients, **_label_size(cells[5], cells[6])}
    created = {**clients, **_label_files(cells[files], cells[files + 1])}
    return (
        _HalfRun(_INPUT_OUTPUT, moved, cells[first : first + 12 : 2], cells[files + 17 : files + 23]),
        _HalfRun(_ON_FILES, created, cells[files + 5 : files + 17 : 2], cells[files + 23 : files + 29]),
    )


def _label_size(cell: str, chunk: str) -> Mapping[str, object]:
    """Size of the file, and of the chunks that it is read and written in, where that is understood."""
    if not cell:
        return {}
    match = _SIZE.fullmatch(cell)
    if match is None:
        raise ProbeOutputError(f"file size {shorten(cell, 20)}", "megabytes or gigabytes such as 512M")
    part = _CHUNK.fullmatch(chunk or _DEFAULT_CHUNK)
    block = {"block": format_size(int(part[1]) * _CHUNK_UNITS[part[2]])} if part else {}
    return {"size": f"{int(match[1])}{match[2]}iB", **block}


def _label_files(cell: str, kind: str) -> Mapping[str, object]:
    """How many files, and the bytes of the largest of them; or how many links of a ``kind``."""
    if not cell:
        return {}
    links = {"kind": kind} if kind in ("link", "symlink") else {}
    largest = kind.partition(":")[0] or "0"
    size = {"file_size": format_size(int(largest))} if re.fullmatch(r"\d{1,12}", largest) else {}
    return {"files": _parse_count(cell, "the number of files") * _FILES, **links, **size}


def _parse_count(cell: str, what: str) -> int:
    if not re.fullmatch(r"[1-9]\d{0,6}", cell):
        raise ProbeOutputError(f"{shorten(cell, 20)} as {what}", "a whole number above 0")
    return int(cell)


def _parse_rate(cell: str) -> float | None:
    if not cell or not cell.strip("+"):
        return None
    number = parse_decimal(cell) if _RATE.fullmatch(cell) else None
    if number is None:
        raise ProbeOutputError(f"{shorten(cell, 20)} in a result", "a rate, +++++ or nothing")
    return number or None


def _parse_latency(cell: str) -> float | None:
    if not cell:
        return None
    match = _TIME.fullmatch(cell)
    if match is None:
        raise ProbeOutputError(f"latency {shorten(cell, 20)}", "a whole number of us, ms or s")
    return require_positive(match[1], "a latency") * _SECONDS[match[2]] if int(match[1]) else None


def _find_tables(lines: Sequence[str]) -> Iterator[_HalfRun]:
    """Each half of each table, where all of its lines stand together."""
    clients, of = 0, ""
    for index, line in enumerate(lines):
        head = re.match(r"Version +([12]\.\d\d[a-z]?) ", line)
        version = head[1] if head else "1.03" if line.startswith(f"{' ' * 20}------Sequential Create") else ""
        body = lines[index + 1 : index + 5]
        if not version or len(body) < 3:
            continue
        if not head and not body[0].startswith(f"{' ' * 20}-Create"):
            continue
        if "------Sequential Output------" in line:
            found = re.match(r"Concurrency +(\d+) ", body[0])
            clients = _parse_count(found[1], "the concurrency") if found else int(not "1.9" <= version < "1.98")
            of = version
            yield from _read_throughput(version, clients, body) if clients or version >= "1.98" else ()
        elif "------Sequential Create------" in line and version < "1.98":
            clients = 1 if version < "1.9" else clients if of == version else 0
            yield from _read_created(version, clients, body) if clients else ()


def _read_throughput(version: str, clients: int, body: Sequence[str]) -> Iterator[_HalfRun]:
    row = _ROW.fullmatch(body[2])
    if row is None or "-Per Chr- --Block-- -Rewrite-" not in body[0] or ("K/sec" in body[1]) is (version >= "1.98"):
        return
    size, _, rest = row["size"].partition(":")
    if version >= "1.98":
        clients = _parse_count((rest.split(":")[1:2] or [""])[0] or "1", "the concurrency")
    cells = [_find_exact(cell, index, version) for index, cell in enumerate(_CELL.findall(row["cells"]))]
    latencies = _read_latencies(body[3:4]) if version >= "1.9" else ()
    moved = {"clients": clients, **_label_size(size, rest.partition(":")[0])}
    yield _HalfRun(_INPUT_OUTPUT, moved, cells, latencies)


def _find_exact(cell: str, index: int, version: str) -> str:
    """A cell as the CSV line would have it; nothing where the table rounds it."""
    if version >= "1.98" and index < 5:
        return cell.removesuffix("k") if cell.endswith("k") else ""
    return "" if version < "1.9" and index == 5 and "." not in cell else cell


def _read_created(version: str, clients: int, body: Sequence[str]) -> Iterator[_HalfRun]:
    row = _FILE_ROW.fullmatch(body[2])
    if row is None or "-Create-- --Read--- -Delete--" not in body[0] or "files" not in body[1]:
        return
    kind = row["spec"].partition("/")[0].strip(":")
    about = {"clients": clients, **_label_files(row["files"], kind)}
    latencies = _read_latencies(body[3:4]) if version >= "1.9" else ()
    yield _HalfRun(_ON_FILES, about, _CELL.findall(row["cells"]), latencies)


def _read_latencies(line: Sequence[str]) -> Sequence[str]:
    """Six columns of ten characters behind the word; nothing when a column does not begin with a blank."""
    if not line or not line[0].startswith("Latency   "):
        return ()
    row = line[0].rstrip()
    columns = [row[begin : begin + 10] for begin in range(17, 77, 10)]
    sound = all(re.fullmatch(r"(?: +(?:\d+(?:us|ms|s))?)?", column) for column in columns)
    return [column.strip() for column in columns] if sound and len(row) <= 77 else ()
