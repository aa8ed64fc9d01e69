"""Output of IOR 2.8 to 4.1 as text, CSV or JSON: rows of iterations, ``Max Write``, and the summary of all tests.

Every table says its columns and units itself. MiB is 2^20 byte; ``MB`` in brackets must be the same rate. Operations
are read where they are the rate by the size of a transfer: IOR 2.10 forgets the segments. The JSON documents
(``-O summaryFormat=JSON``) of 3.2 and of runs with ``-v`` are broken as a whole, so the objects of their ``summary``
are read one by one; the iterations stand without their test and are read from whole documents only.

Source: IOR 2.10.3 ``src/C/IOR.c``, 3.0.1 ``src/ior.c``, 3.2 to 4.1 ``src/ior-output.c``; hpc/ior issues 102 and 503.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from benchconsole.probes.api import Labels, ProbeOutputError, Reading, Unit, labels
from benchconsole.probes.readers.documents import Document, find_documents, read_array, read_mapping
from benchconsole.probes.readers.lines import shorten, strip_lines
from benchconsole.probes.readers.numbers import format_size, parse_count, parse_decimal, read_number, require_positive
from benchconsole.probes.tools.ior.conditions import COMMAND, UNKNOWN, CommandConditions, read_command, read_statement

_MIB = 2.0**20
_FAILED = re.compile(
    r"\bERROR\b|\*\* error \*\*|\bFAILED\b|MPI_ABORT was invoked|No space left on device|Input/output error"
    r"|Disk quota exceeded|Primary job +terminated|noticed that process rank"
    r"|\bWARNING\b.*(?:tasks requested|ncorrect data|artial|nable to|annot|ailed|inconsistent)"
)
_SHORT = re.compile(r"\bWARNING\b.*aggregate (?:file size|bytes moved)(?:\s*=\s*(?P<bytes>[0-9]{1,19})(?![0-9]))?")
_DEADLINE = re.compile(
    r"deadlineForStonewalling|stonewallingTime|Using stonewalling|stoneWallingStatusFile=\S"
    r"|stoneWallingWearOut(?:Iterations)?=[1-9]",
    re.IGNORECASE,
)
_HARMLESS = re.compile(r"\bWARNING: unable to (?:use realpath|stat\w*)\(\) (?:on )?file system")
_STATED = re.compile(r"\s*(?P<key>[A-Za-z][A-Za-z ]{0,60}?)\s{0,60}[:=]\s*(?P<value>\S.*)")
_MAX = re.compile(r"\s*Max (?P<operation>Write|Read):\s+(?P<mib>[0-9.]+) MiB/sec\s+\((?P<mb>[0-9.]+) MB/sec\)\s*")
_HUMAN = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?) ?(?P<unit>bytes|[MGT]iB)")
_FACTORS = {"bytes": 1.0, "MiB": _MIB, "GiB": 2.0**30, "TiB": 2.0**40}
_BANNER = re.compile(r"\s*IOR-[0-9]")
_BEGINS = re.compile(r"\s*(?:IOR-[0-9]|TestID\b|Test [0-9]+ started)")
_ENDS = re.compile(r"\s*(?:Run finished|Finished) *:.*")
_API = re.compile(
    r"(?P<api>POSIX|MPIIO|HDF5|NCMPI|NC4|HDFS|S3|DFS|DAOS|DUMMY|MMAP|RADOS|CEPHFS|GFARM|Gfarm|IME|PMDK|LIBNFS"
    r"|CHFS|FINCHFS|AIO|aio|BFS|PLFS)(?![A-Za-z0-9_])"
)
"""Names of IOR's interfaces; versions and drivers may follow."""
_BEGAN = re.compile(r'^\s*"Began"\s*:', re.MULTILINE)
"""Where a JSON document speaks of its run, before its command line and results."""
_COMMAND_KEY = re.compile(r'^\s*"Command line"\s*:\s*"(?P<words>[^"\n]*)",?\s*$', re.MULTILINE)
_STATISTICS = {"max": "Max", "min": "Min", "mean": "Mean"}
_JSON_RATES = {"max": "bwMaxMIB", "min": "bwMinMIB", "mean": "bwMeanMIB"}
_JSON_OPERATIONS = {"max": "OPsMax", "min": "OPsMin", "mean": "OPsMean"}
_TASKS = {"tasks": re.compile(r"([0-9]{1,7})"), "clients": re.compile(r"([0-9]{1,7}) \([0-9]{1,7} per node\)")}
_SIZES = {"xfersize": "transfer", "blocksize": "block"}
_TAIL_OF_2_10 = "#Tasks tPN reps fPP reord reordoff reordrand seed segcnt blksiz xsize aggsize Test# API"
"""Columns of 2.10 with ``-v`` after the seconds; its heading has other words, as many."""


@dataclass(slots=True)
class _Test:
    """The test that is being printed: labels, bytes of one transfer, and its best rates."""

    marks: dict[str, str] = field(default_factory=dict)
    transfer: float | None = None
    best: dict[str, float] = field(default_factory=dict)
    command: CommandConditions = UNKNOWN

    def label(self, operation: str, **values: str) -> dict[str, str]:
        """The labels of a number of one operation: ``values`` over what the test says of itself."""
        marks = {**self.marks, **values}
        if operation != "read":
            marks.pop("reorder", None)
        return {**self.command.label(operation, marks.get("api")), **marks, "operation": operation}


def refuse_complaints(text: str) -> None:
    """Raise ProbeOutputError for words of IOR, mdtest or MPI that say that a run is not what was asked for."""
    if not (_FAILED.search(text) or _SHORT.search(text)):
        return
    stopped_by_time, asked = _DEADLINE.search(text) is not None, 0
    for line in text.splitlines():
        failed = _FAILED.search(line) is not None and not _HARMLESS.search(line)
        if not stopped_by_time and (short := _SHORT.search(line)):
            asked = int(short["bytes"] or 0) if "Expected" in line else asked
            # a file that was larger before is no loss
            failed = failed or not 0 < asked <= int(short["bytes"] or 0)
        if failed:
            raise ProbeOutputError(shorten(line), "a run without errors, of all the bytes and tasks asked for")


def readings(text: str) -> list[Reading]:
    """Every rate in ``text``, each once; ProbeOutputError for one that cannot be."""
    kept: dict[tuple[str, float, Labels], Reading] = {}
    # IOR prints its maximum in two places
    for reading in (*_walk(strip_lines(text)), *_read_json(text)):
        kept.setdefault((reading.metric, reading.value, reading.labels), reading)
    return list(kept.values())


def _walk(lines: Sequence[str]) -> Iterator[Reading]:
    test, columns, unanswered = _Test(), list[str](), False
    for line in lines:
        if _BEGINS.match(line):
            begins = _BANNER.match(line) is not None
            unanswered = refuse_beside(line, unanswered) if begins else unanswered
            test = _Test() if begins else _Test(command=test.command)
        elif _ENDS.fullmatch(line):
            test, columns = _Test(), []
        elif command := COMMAND.fullmatch(line):
            test.command = read_command(command["words"], before_3_2=command["used"] is not None)
        elif heading := _columns(line):
            test = _Test() if "," in line else test
            columns = heading
        elif match := _MAX.fullmatch(line):
            unanswered = False
            yield _maximum(match, test)
        elif row := _row(line, columns):
            unanswered = False
            yield from (_iteration if "access" in row else _summary)(row, test, shorten(line, 400))
        elif stated := _STATED.fullmatch(line):
            _note(stated["key"], stated["value"], test)


def refuse_beside(line: str, unanswered: bool) -> bool:
    """True for the first line of a run; ProbeOutputError where the run before it has no result yet.

    Under an MPI that is not its own, every task believes to be alone and prints everything.
    """
    if unanswered:
        raise ProbeOutputError(f"{shorten(line, 60)!r} before the run above it has a result", "one run after the other")
    return True


def _columns(line: str) -> list[str]:
    """The columns that a heading names, without blanks inside; none for another line."""
    if not line.lstrip().startswith(("access", "Operation")):
        return []
    joined = re.sub(r"\bStd Dev\b", "StdDev", re.sub(r"(?<=[a-z]) \(", "(", line))
    words = joined.split(",") if joined.startswith("access,") else joined.split()
    if words[:1] == ["Operation"] and "grep" in words:
        words = [*words[: words.index("grep") - 1], *_TAIL_OF_2_10.split()]
    return words if len(words) > 2 and words[0] in ("access", "Operation") and "(" in words[1] else []


def _row(line: str, columns: Sequence[str]) -> dict[str, str]:
    """The fields of a row by their column; none where the line is no row with as many of them."""
    fields = line.split(",") if line.startswith(("write,", "read,")) else line.split()
    if fields[-1:] == ["EXCEL"]:
        fields.pop()
    if fields[:1] not in (["write"], ["read"]) or len(fields) != len(columns):
        return {}
    return dict(zip(columns, fields, strict=True))


def _note(key: str, value: str, test: _Test) -> None:
    if key in _TASKS and (count := _TASKS[key].fullmatch(value.strip())):
        test.marks["tasks"] = count[1]
    elif key == "api" and (word := _API.match(value)):
        test.marks["api"] = word["api"]
    elif key == "access" and (word := re.match(r"(single-shared-file|file-per-proc)", value)):
        test.marks["access"] = _name_access(one=word[0] == "file-per-proc")
    elif key in _SIZES and (size := _HUMAN.fullmatch(value.strip())):
        found = float(size["number"]) * _FACTORS[size["unit"]]
        test.marks[_SIZES[key]] = format_size(found)
        test.transfer = found if key == "xfersize" else test.transfer
    test.marks |= read_statement(key, value)


def _name_access(*, one: bool) -> str:
    """The label of how files are used: ``one`` for each task, or one that all share."""
    return "file-per-process" if one else "shared-file"


def _maximum(match: re.Match[str], test: _Test) -> Reading:
    rate, other = require_positive(match["mib"], "MiB/sec") * _MIB, require_positive(match["mb"], "MB/sec") * 1e6
    if abs(rate - other) > 0.006 * (_MIB + 1e6):
        raise ProbeOutputError(shorten(match[0]), "the same rate in MiB/sec and MB/sec")
    operation = match["operation"].lower()
    if rate < test.best.get(operation, 0.0) - 0.6 * _MIB:
        # 3.1 takes the bytes of the reading for those of the writing when time stops them
        raise ProbeOutputError(shorten(match[0]), f"no less than the {test.best[operation] / _MIB:g} of an iteration")
    marks = labels(**test.label(operation), statistic="max")
    return Reading("ior.throughput", rate, Unit.BYTE_RATE, marks, shorten(match[0]))


def _iteration(row: Mapping[str, str], test: _Test, raw: str) -> Iterator[Reading]:
    if "bw(MiB/s)" not in row:
        raise ProbeOutputError(raw, "a heading with bw(MiB/s)")
    rate = require_positive(row["bw(MiB/s)"], "bw(MiB/s)") * _MIB
    test.best[row["access"]] = max(rate, test.best.get(row["access"], 0.0))
    marks = test.label(row["access"])
    for column, name, factor in _ROW_SIZES:
        if (size := parse_decimal(row.get(column, ""))) is not None:
            marks[name] = format_size(size * factor)
    for column, name in (("iter", "iteration"), ("numTasks", "tasks")):
        if column in row:
            marks[name] = _count(row[column], column, raw)
    yield Reading("ior.throughput", rate, Unit.BYTE_RATE, labels(**marks), raw)


_ROW_SIZES = (
    ("block(KiB)", "block", 1024.0), ("xfer(KiB)", "transfer", 1024.0), ("blksiz", "block", 1.0),
    ("xsize", "transfer", 1.0),
)  # fmt: skip


def _count(text: str, column: str, raw: str) -> str:
    if parse_count(text, 10**15) is None:
        raise ProbeOutputError(raw, f"a whole number in the column {column}")
    return text


def _summary(row: Mapping[str, str], test: _Test, raw: str) -> Iterator[Reading]:
    rates, operations = _statistics(row, "MiB", raw), _statistics(row, "OPs", raw)
    if not rates:
        raise ProbeOutputError(raw, "a heading with Max(MiB), Min(MiB) and Mean(MiB)")
    api = {"api": shorten(row["API"], 20)} if "API" in row else {}
    marks, transfer = test.label(row["Operation"], **api), test.transfer
    for column, name, factor in _ROW_SIZES:
        if column in row:
            size = float(_count(row[column], column, raw)) * factor
            marks[name], transfer = format_size(size), size if name == "transfer" else transfer
    if "#Tasks" in row:
        marks["tasks"] = _count(row["#Tasks"], "#Tasks", raw)
    if row.get("fPP") in ("0", "1"):
        marks["access"] = _name_access(one=row["fPP"] == "1")
    yield from _read_statistics(rates, transfer, operations, marks, raw)


def _statistics(row: Mapping[str, str], unit: str, raw: str) -> dict[str, float]:
    """The statistics in ``unit``; none where the row has not all of them."""
    columns = {name: f"{word}({unit})" for name, word in _STATISTICS.items()}
    if not set(columns.values()) <= row.keys():
        return {}
    return {name: require_positive(row[column], f"{column} of {raw}") for name, column in columns.items()}


def _read_statistics(
    rates: Mapping[str, float],
    transfer: float | None,
    operations: Mapping[str, float],
    marks: Mapping[str, str],
    raw: str,
) -> Iterator[Reading]:
    """Readings of ``rates`` in MiB/s by statistic, and of the operations that agree with them.

    ``transfer`` is bytes of one. ProbeOutputError where the mean is not between the least and the most.
    """
    for found in (rates, operations):
        if found and not found["min"] - 0.011 <= found["mean"] <= found["max"] + 0.011:
            raise ProbeOutputError(raw, "a mean between minimum and maximum")
    for name, rate in rates.items():
        told = labels(**marks, statistic=name)
        yield Reading("ior.throughput", rate * _MIB, Unit.BYTE_RATE, told, raw)
        count = operations.get(name)
        if count is None or transfer is None:
            continue
        # but for the two decimals that are printed
        if abs(count * transfer - rate * _MIB) <= 0.01 * rate * _MIB + 0.006 * (transfer + _MIB):
            yield Reading("ior.operations", count, Unit.PER_SECOND, told, raw)


def _read_json(text: str) -> Iterator[Reading]:
    for document in find_documents(text, first="Version|Began"):
        command = read_command(str(document.get("Command line", "")))
        for test in map(read_mapping, read_array(document.get("tests"))):
            yield from _read_iterations(test, command)
    for part in _BEGAN.split(text):
        said = _COMMAND_KEY.search(part)
        command = read_command(said["words"] if said else "")
        for document in find_documents(part, first="operation"):
            if document.get("operation") in ("write", "read") and "bwMaxMIB" in document:
                yield from _read_summary(document, command)


def _read_summary(document: Document, command: CommandConditions) -> Iterator[Reading]:
    raw = shorten(str(dict(document)), 400)
    transfer, tasks, one = (read_number(document.get(key)) for key in ("transferSize", "numTasks", "filePerProc"))
    if tasks is None or one is None:
        raise ProbeOutputError(raw, "numTasks and filePerProc in a summary")
    access = _name_access(one=one == 1)
    told = {"tasks": f"{tasks:.0f}", "access": access}
    told |= _label_sizes(transfer, read_number(document.get("blockSize")), document.get("API"))
    if (segments := read_number(document.get("segmentCount"))) is not None:
        told["segments"] = f"{segments:.0f}"
    marks = _Test(told, command=command).label(str(document["operation"]))
    rates = {name: require_positive(document.get(key), key) for name, key in _JSON_RATES.items()}
    counted = set(_JSON_OPERATIONS.values()) <= document.keys()
    operations = _JSON_OPERATIONS.items() if counted else ()
    counts = {name: require_positive(document[key], key) for name, key in operations}
    yield from _read_statistics(rates, transfer, counts, marks, raw)


def _label_sizes(transfer: float | None, block: float | None, api: object) -> dict[str, str]:
    sizes = {name: format_size(size) for name, size in (("transfer", transfer), ("block", block)) if size}
    return sizes | ({"api": shorten(api, 20)} if isinstance(api, str) else {})


def _read_iterations(test: Document, command: CommandConditions) -> Iterator[Reading]:
    options, seen = read_mapping(test.get("Options")), Counter[str]()
    stated = _Test(command=command)
    for key, value in options.items():
        stated.marks |= read_statement(key, str(value))
    # IOR opens an array for the repetitions and one more around it
    groups = [read_array(each) or [each] for each in read_array(test.get("Results"))]
    for result in (read_mapping(each) for group in groups for each in group):
        if "access" not in result:
            break  # what comes after cannot be numbered
        way = str(result["access"])
        if way in ("write", "read"):
            rate = require_positive(result.get("bwMiB"), "bwMiB") * _MIB
            transfer, block = ((read_number(result.get(key)) or 0.0) * 1024.0 for key in ("xferKiB", "blockKiB"))
            marks = stated.label(way, iteration=str(seen[way]), **_label_sizes(transfer, block, options.get("api")))
            if isinstance(options.get("access"), str):
                marks["access"] = _name_access(one=options["access"] == "file-per-process")
            if (tasks := read_number(options.get("tasks"))) is not None:
                marks["tasks"] = f"{tasks:.0f}"
            yield Reading("ior.throughput", rate, Unit.BYTE_RATE, labels(**marks), f"bwMiB {result['bwMiB']}")
            seen[way] += 1
