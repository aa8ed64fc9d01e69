"""The set probe ``mdtest``: all nodes of a set create, stat, read and remove files and directories at once.

How it is launched is ``probes.tools.ior.family``. The heading of its summary names the statistics in its own order and
in some runs those of ranks before those of iterations; of both, the iterations are read. A phase that was not run is a
row of zeros or nan; tables of times have the same headings.

Source: mdtest 1.8.3 and 1.9.3 ``mdtest.c``; IOR 3.0 to 4.1 ``src/mdtest.c``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from benchconsole.probes.api import Given, Metric, ProbeOutputError, Reading, Unit, labels
from benchconsole.probes.launch import DEFAULTS
from benchconsole.probes.readers.lines import shorten, strip_lines
from benchconsole.probes.readers.numbers import require_positive
from benchconsole.probes.tools.ior.conditions import COMMAND
from benchconsole.probes.tools.ior.family import START, IorProgram, read_program, read_tasks
from benchconsole.probes.tools.ior.output_reader import refuse_beside
from benchconsole.probes.tools.mdtest.conditions import UNKNOWN, CommandConditions, read_command

_KINDS = {"both": (), "files": ("-F",), "directories": ("-D",)}
_PHASES = 8
_MOST_ITEMS = 10_000_000
_INODE = 4096
"""Bytes that a file system takes for an item without content, at most, but for the largest of blocks."""

_SUMMARY = re.compile(r"\s*SUMMARY\b")
_RATES = re.compile(r"\s*SUMMARY(?: rate)?(?: \(in ops/sec\))?: ?\(of [0-9]+ iterations?\)\s*")
_HEADING = re.compile(r"\s*Operation\s+(?P<columns>\S.*)")
_ROW = re.compile(
    r"\s*(?P<object>Directory|File|Tree) (?P<operation>creation|create|stat|read|removal|remove|rename)\s*:?"
    r"(?P<numbers>(?:\s+\S+)+)\s*"
)
_TASKS = re.compile(r"(?P<tasks>[0-9]{1,7}) tasks, (?P<items>[0-9]{1,12}) (?:files|directories|files/directories)\s*")
_LAUNCHED = re.compile(r"\s*mdtest-\S+ was launched with [0-9]{1,7} total task\(s\).*")
_FINISHED = re.compile(r"\s*-- finished at .*")
_OPERATIONS = {"creation": "create", "removal": "remove"}
_STATISTICS = {"Max": "max", "Min": "min", "Mean": "mean"}
_NOT_RUN = re.compile(r"0\.0+|-?nan", re.IGNORECASE)
_ROUNDING = 0.0011


@dataclass(slots=True)
class _SummaryTable:
    """Where the text stands: the columns of the summary that goes on, the rows it had, what its test said of itself."""

    columns: list[str] = field(default_factory=list)
    marks: dict[str, str] = field(default_factory=dict)
    of_rates: bool = False
    rows: set[tuple[str, str]] = field(default_factory=set)
    command: CommandConditions = UNKNOWN

    def summarize(self, *, of_rates: bool) -> None:
        """Begin a summary. Labels of one test do not hold for the next."""
        self.marks = {} if self.rows else self.marks
        self.columns, self.of_rates, self.rows = [], of_rates, set()

    def admit(self, row: tuple[str, str]) -> bool:
        """Whether ``row`` is of this table: no operation stands twice in one."""
        if row in self.rows:
            self.columns = []
        self.rows.add(row)
        return bool(self.columns)


class Mdtest(IorProgram):
    """Options: ``tasks`` (0: one on each node), ``items`` of each task, ``depth`` and ``branch`` of the tree that they
    are spread over, ``unique`` (1: each task in a directory of its own), ``kind`` (both, files or directories),
    ``bytes`` (written to and read from each file, with their unit), ``repetitions``, ``rate`` (operations per
    second of all together, the slowest that is expected, for the time), ``shared`` (name of the storage system that
    ``scratch`` is on), ``mdtest`` (its name or path), and those of ``probes.launch.Options``, of which ``scratch``
    names a directory that all nodes share.
    """

    name = "mdtest"
    closing = re.compile(r"-- finished at .* --")
    label_names = frozenset(
        (
            "access", "barriers", "branch", "bytes", "depth", "end_fsync", "object", "operation", "reorder", "run",
            "statistic", "stonewall", "tasks", "total_items",
        )
    )  # fmt: skip
    summary = "Metadata of a shared file system: creating, examining, reading and removing by a set of nodes"
    source = "DESY storage report; Fermilab storage report (21 to 504 clients)"
    metrics = (Metric("mdtest.operations", Unit.PER_SECOND, "operations of all tasks by the time of the slowest"),)
    tools = MappingProxyType({"mpirun": "openmpi-bin", "mdtest": ""})
    options = MappingProxyType(
        {
            **DEFAULTS, "tasks": 0, "items": 1000, "depth": 0, "branch": 1, "unique": 1, "kind": "both", "bytes": "0 B",
            "repetitions": 1, "rate": 500, "shared": "", "mdtest": "mdtest",
        }
    )  # fmt: skip
    results = "mdtest's SUMMARY of rates"

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        given = self.given(options)
        items = float(given.whole("items", 1, _MOST_ITEMS)) * (read_tasks(given) or 1)
        phases = _PHASES * given.whole("repetitions", 1, 1000)
        return START + phases * items / given.number("rate", 1, 1e9)

    def space(self, options: Mapping[str, str | int | float]) -> float:
        given = self.given(options)
        each = given.size("bytes", 0, 2**40) + _INODE
        return float(each) * given.whole("items", 1, _MOST_ITEMS) * (read_tasks(given) or 1)

    def program(self, given: Given) -> Sequence[str]:
        """The command line of mdtest, in letters that all versions from 1.8 to 4.1 know."""
        items, depth = given.whole("items", 1, _MOST_ITEMS), given.whole("depth", 0, 32)
        branch = given.whole("branch", 1, 10_000)
        least = _count_directories(depth, branch)
        if items < least:
            raise given.refused("items", f"at least one for each of {least} directories of the tree")
        words = [read_program(given, "mdtest"), "-n", str(items), "-z", str(depth), "-b", str(branch)]
        words += ["-i", str(given.whole("repetitions", 1, 1000)), *_KINDS[given.choice("kind", _KINDS)]]
        if size := given.size("bytes", 0, 2**40):
            words += ["-w", str(size), "-e", str(size)]
        return [*words, *(["-u"] if given.flag("unique") else []), "-d", "."]

    def rates(self, text: str) -> Sequence[Reading]:
        return _read_report(text)


def _count_directories(depth: int, branch: int) -> int:
    """How many a tree has, its root included; counted no further than items may be."""
    found = level = 1
    for _ in range(depth):
        level *= branch
        found += level
        if found > _MOST_ITEMS:
            break
    return found


def _read_report(text: str) -> list[Reading]:
    """The rates of every phase that was run; ProbeOutputError for a row that cannot be."""
    found: list[Reading] = []
    table, unanswered = _SummaryTable(), False
    for index, line in enumerate(strip_lines(text)):
        if _LAUNCHED.fullmatch(line):
            unanswered, table = refuse_beside(line, unanswered), _SummaryTable()
        elif _FINISHED.fullmatch(line):
            table = _SummaryTable()
        elif command := COMMAND.fullmatch(line):
            table = _SummaryTable(command=read_command(command["words"]))
        elif index and (counted := _TASKS.fullmatch(line)):
            # a capture that begins in the middle of its first line may have lost digits
            table = _SummaryTable(
                marks={"tasks": counted["tasks"], "total_items": counted["items"]}, command=table.command
            )
        elif _SUMMARY.match(line):
            unanswered = False
            table.summarize(of_rates=_RATES.fullmatch(line) is not None)
        elif heading := _HEADING.fullmatch(line):
            # a second heading below one summary belongs to a table whose own title is lost
            table.columns, table.of_rates = _columns(heading["columns"]), table.of_rates and not table.columns
        elif table.of_rates and table.columns and (row := _ROW.fullmatch(line)):
            found.extend(_row(row, table) if table.admit((row["object"], row["operation"])) else ())
    return found


def _columns(text: str) -> list[str]:
    """The statistics in order, those of ranks as ``rank``; none for another table."""
    words = text.replace("Std Dev", "StdDev").replace("per Rank:", "").split()
    if words.count("per") == 1 and "Iteration:" in words:
        ranks = words.index("per")
        words = [*("rank" for _ in words[:ranks]), *words[ranks + 2 :]]
    return words if sorted(word for word in words if word != "rank") == ["Max", "Mean", "Min", "StdDev"] else []


def _row(row: re.Match[str], table: _SummaryTable) -> Iterator[Reading]:
    numbers, raw = row["numbers"].split(), shorten(row[0])
    if len(numbers) != len(table.columns) or all(map(_NOT_RUN.fullmatch, numbers)):
        return
    values = dict(zip(table.columns, numbers, strict=True))
    rates = {name: require_positive(values[column], f"{column} of {raw}") for column, name in _STATISTICS.items()}
    if not rates["min"] - _ROUNDING <= rates["mean"] <= rates["max"] + _ROUNDING:
        raise ProbeOutputError(raw, "a mean between minimum and maximum")
    operation = _OPERATIONS.get(row["operation"], row["operation"])
    item = row["object"].lower()
    told = {**table.marks, **table.command.label(item, operation)}
    for name, rate in rates.items():
        marks = labels(**told, object=item, operation=operation, statistic=name)
        yield Reading("mdtest.operations", rate, Unit.PER_SECOND, marks, raw)
