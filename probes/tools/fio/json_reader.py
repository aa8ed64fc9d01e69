"""The JSON of fio 2 and 3, of one host or of several (``fio --client``), between whatever notices stand around it.

``bw`` is KiB/s, ``bw_bytes`` byte/s; ``clat`` is in microseconds up to version 2 and ``clat_ns`` in nanoseconds from 3
on. With ``--status-interval`` a capture holds several documents of which only finished ones are results.

``fio --client`` writes the global options of all hosts into one object, so that a name stands there once for each host.
It prints "All clients" when it believes that all have reported, and believes so too early where a host was not reached
or a short job ended before another began. So a sum counts only where it is that of the jobs beside it, and an option
only where all hosts certainly had it.

A run that a signal ended is printed like any other, with ``error`` 0 and ``eta`` 0: one line alone says that it was.

fio lists the options that it was given, and none of its defaults: a job without ``direct`` goes through the page cache,
one of reads and writes is half of each, and ``iodepth`` is what was asked for, which a synchronous engine caps at 1.
These conditions are labels, too, where the list of options is certainly whole.

Source: fio 2.2.10, 3.0 and 3.33, ``stat.c``, ``client.c``, ``os/os.h`` and HOWTO.
"""

import itertools
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchconsole.probes.api import Labels, ProbeOutputError, Reading, Unit, labels
from benchconsole.probes.readers.documents import Document, find_documents, read_array, read_mapping
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.readers.numbers import parse_decimal, read_number, require_positive
from benchconsole.probes.tools.fio.job_options import JobOptions, parse_size

_FIRST = "fio version|timestamp|timestamp_ms|time|global options|jobs"
_COMPLAINT = re.compile(
    r"^(?:<[^>\n]*> )?fio: .*(?:\berr=[1-9]|io_u error|No space left).*$"
    r"|^fio: (?:connect[:;]|failed to connect|client \S+ timed out).*$"
    r"|^client(?: <[^>\n]*>: exited with error|: host=\S+ disconnected).*$"
    r"|^fio: terminating on signal [0-9]+.*$",
    re.MULTILINE,
)
_FOR_PEOPLE = re.compile(r"^(?:<[^>\n]*> )?\S+: \(groupid=\d+, jobs=\d+\): err=", re.MULTILINE)
_TERSE = re.compile(
    r"^(?P<version>[2-5]);(?:fio-[^;\n]{1,60};)?[^;\n]{1,200};[0-9]+;[0-9]+;(?:[0-9.]+;){4}", re.MULTILINE
)
"""A line of ``--minimal``: its own version, from 3 on that of fio, the job, its group, its error and its reads."""
_KIB = 1024.0
_OWN = re.compile(r"(?:sequential|random)-(?:read|write|mixed)")
_PERCENTILES = {50.0: "p50", 99.0: "p99"}
_LONGER = 1.5
"""Times the run of a job that the time of its thread may take, which is more by what stands between its loops."""
_AROUND = 0.1
"""Seconds that the thread of a job may take beyond that, which count in a short run."""
_VERSION = re.compile(r"fio-([0-9]{1,3})\.")
_TOTAL = "All clients"
_GLOBAL = re.compile(r"\"global options\"\s*:\s*(?=\{)")
_MOST_GLOBALS = 64
"""Global options that are looked at; bounds the work on hostile text."""
_LONGEST_HOST = 120
"""Letters of a host's name; a Unix socket's path has at most 107 bytes."""


@dataclass(frozen=True, slots=True)
class _Job:
    """One entry of a list of jobs, with the options that it has for itself or shares with all."""

    entry: Document
    options: JobOptions

    @property
    def name(self) -> str:
        return shorten(str(self.entry.get("jobname", "")), 60)

    @property
    def client(self) -> str:
        """The host that it ran on, where fio drove several."""
        return str(self.entry.get("hostname", ""))

    def part(self, way: str) -> Document:
        return read_mapping(self.entry.get(way))

    @property
    def ways(self) -> Sequence[str]:
        """The directions in which it moved bytes; the other one of a one-way job is all zeros."""
        parts = [(way, self.part(way)) for way in ("read", "write")]
        moved = [(way, got) for way, got in parts if {"bw", "bw_bytes"} & got.keys()]
        return [way for way, got in moved if not got.get("bw") == got.get("bw_bytes", 0) == 0]

    def marks(self, way: str) -> dict[str, object]:
        """Pattern, block and the other conditions; a job that is not ours carries its name as well."""
        found: dict[str, object] = {}
        if kind := self.options.kind:
            found["pattern"] = "random" if kind.startswith("rand") else "sequential"
            found["block"] = self.options.format_block(way)
        found |= self.options.find_conditions()
        if depth := self.options.find_depth(read_mapping(self.entry.get("iodepth_level"))):
            found["depth"] = depth
        if verify := self.options.get("verify"):
            found["verify"] = shorten(verify, 20)
        if not _OWN.fullmatch(self.name):
            found["job"] = self.name
        if self.client:
            found["client"] = self.client
        return found

    def has_finished(self, listed: int) -> bool:
        """Whether it had reached what its options ask for; where they do not tell, its ``eta`` does.

        ``eta`` alone says nothing sure: versions print 0 shortly before the end, and a huge number after it.
        ``listed`` is how many jobs of the name there are: clones that are listed one by one move ``size`` each.
        """
        if read_mapping(self.entry.get("steadystate")).get("attained") == 1:
            return True  # before its time and its size, as it was asked to
        parts = [self.part(way) for way in ("read", "write")]
        ran = max(read_number(part.get("runtime")) or 0.0 for part in parts) * 1e-3
        limit = self.options.find_seconds("runtime") if self.options.has("runtime") else None
        if limit is not None and ran >= 0.99 * limit:
            return True
        jobs = 1 if listed == self.options.clones else self.options.clones
        done = sum(read_number(part.get("total_ios")) or 0.0 for part in parts)
        if (count := parse_size(self.options.get("number_ios"))) and done >= count * jobs:
            return True
        size = self.options.parse_bytes(self.options.get("io_size", "size", "filesize"))
        asked = size * (parse_size(self.options.get("loops", default="1")) or 1) * jobs if size else 0
        # what is verified is written, then read again
        verified = self.options.has("verify") and all(self._has_moved([part], asked) for part in parts)
        if asked and (self._has_moved(parts, asked) or verified):
            return True
        if asked and limit is not None and ran and any("io_bytes" in part for part in parts):
            return False
        return self.entry.get("eta") in (0, None)

    @property
    def runs_of_others(self) -> bool:
        """Whether more threads ran than the job has clones: ``job_runtime`` is the sum of the times of all.

        A job that verifies writes, then reads. The time of one that does not list its options is of unknown clones.
        """
        ramp = self.options.find_seconds("ramp_time")
        times = [1e-3 * (read_number(self.part(way).get("runtime")) or 0.0) for way in ("read", "write", "trim")]
        every = read_number(self.entry.get("job_runtime"))
        if every is None or ramp is None or not any(times) or not self.options.whole:
            return False
        each = (sum(times) if self.options.has("verify") else max(times)) + ramp
        return every * 1e-3 > self.options.clones * (_LONGER * each + _AROUND)

    def _has_moved(self, parts: Sequence[Document], size: int) -> bool:
        """Whether the bytes moved come to ``size`` but for a last block. fio 2 counts ``io_bytes`` in KiB."""
        factor = 1.0 if any("bw_bytes" in part or "io_kbytes" in part for part in parts) else _KIB
        moved = factor * sum(read_number(part.get("io_bytes")) or 0.0 for part in parts)
        over = (
            max(self.options.parse_bytes(block) or 0 for block in self.options.blocks.split(",")) * self.options.clones
        )
        return 0.999 * size < moved < size + max(over, 1)


def readings(text: str, errors: str = "") -> Sequence[Reading]:
    """Every reading of every finished job; ProbeOutputError when a job failed or none is whole.

    ``errors`` is what fio said on its other stream, searched for complaints only.
    """
    if said := find_complaint(text) or find_complaint(errors):
        raise ProbeOutputError(said, "jobs without error")
    found: list[Reading] = []
    for document in find_documents(text, first=_FIRST):
        if "client_stats" in document:
            found.extend(_read_hosts(document, text))
        else:
            shared = read_mapping(document.get("global options"))
            found.extend(_read_jobs(_list_jobs(document, read_array(document.get("jobs")), shared, told=True)))
    if not found:
        _refuse_other_forms(text)
        raise ProbeOutputError("no finished job in a whole JSON document", "fio --output-format=json to its end")
    # two documents that tell the same, as --status-interval ends with
    return tuple(dict.fromkeys(found))


def _refuse_other_forms(text: str) -> None:
    """Raise ProbeOutputError where fio printed its numbers in another form than JSON; name the form and its line."""
    if terse := _TERSE.search(text):
        line = text.count("\n", 0, terse.start()) + 1
        found = (
            f"fio's terse output (version {terse['version']}) in line {line}, which leaves out block, engine and direct"
        )
        raise ProbeOutputError(found, "JSON: run fio with --output-format=json, or json,terse for both")
    if people := _FOR_PEOPLE.search(text):
        line = text.count("\n", 0, people.start()) + 1
        found = f"fio's text for people in line {line}, which is rounded: {shorten(people[0], 60)}"
        raise ProbeOutputError(found, "JSON: run fio with --output-format=json")


def find_complaint(text: str) -> str:
    """The first line in which fio, or one of its clients, says that something failed; empty where none does."""
    found = _COMPLAINT.search(text)
    return shorten(found[0]) if found else ""


def _list_jobs(document: Document, entries: Sequence[object], shared: Document, *, told: bool) -> Sequence[_Job]:
    """``entries`` of ``document`` with their options; ``told`` says that all its jobs have in common was printed."""
    match = _VERSION.match(str(document.get("fio version", "")))
    version = int(match[1]) if match else 0
    jobs = map(read_mapping, entries)
    return [
        _Job(
            job,
            JobOptions(
                {**shared, **read_mapping(job.get("job options"))},
                told and ("job options" in job or "global options" in document),  # an empty list is left out
                version,
            ),
        )
        for job in jobs
    ]


def _read_hosts(document: Document, text: str) -> Iterator[Reading]:
    """The jobs of every host, then fio's own sum where it is that of all of them."""
    entries = [read_mapping(entry) for entry in read_array(document.get("client_stats"))]
    listed = [entry for entry in entries if entry.get("jobname") != _TOTAL]
    if not listed:  # fio ends with status 0 when its servers started nothing
        raise ProbeOutputError("client_stats without a job", "jobs of every client")
    shared = _find_shared(document, listed, text)
    named = _name_hosts(listed)
    # without them, what a job leaves to the global options is not known, and what it has itself is not all
    told = "global options" in document
    jobs = (
        [_Job(job, JobOptions({})) for job in named]
        if shared is None
        else _list_jobs(document, named, shared, told=told)
    )
    totals = [_Job(entry, JobOptions({})) for entry in entries if entry.get("jobname") == _TOTAL]
    _refuse_errors(totals)
    yield from _read_jobs(jobs)
    alike = Counter((job.name, job.client) for job in jobs)
    total = next((total for total in totals if _is_sum(total, jobs)), None)
    if total is not None and all(job.has_finished(alike[job.name, job.client]) for job in jobs):
        yield from _read_total(total, jobs, alike)


def _name_hosts(jobs: Sequence[Document]) -> list[Document]:
    """``jobs`` with short names of their hosts; a host with several ports is told by both."""
    ports = defaultdict(set)
    for job in jobs:
        ports[str(job.get("hostname", ""))].add(str(job.get("port", "")))
    named: list[Document] = []
    for job in jobs:
        host = str(job.get("hostname", ""))
        full = f"{host}:{job.get('port', '')}" if len(ports[host]) > 1 else host
        named.append({**job, "hostname": shorten(full, _LONGEST_HOST)})
    return named


def _find_shared(document: Document, jobs: Sequence[Document], text: str) -> Document | None:
    """The global options of ``document``, which ``text`` has as written; None where not every host had all of them.

    One that only some had would stand for a default of the others, so that then none of them is certain.
    """
    if "global options" not in document:  # older versions print none
        return {}
    written = {name: str(value) for name, value in read_mapping(document.get("global options")).items()}
    hosts = {(str(job.get("hostname")), str(job.get("port"))) for job in _name_hosts(jobs)}
    blocks = [pairs for pairs in _find_written(text) if dict(pairs) == written]
    every = Counter({item: len(hosts) for item in written.items()})
    return written if blocks and all(Counter(pairs) == every for pairs in blocks) else None


def _find_written(text: str) -> Iterator[list[tuple[str, str]]]:
    """Every object of global options in ``text``, with names as often as they stand there."""
    decoder = json.JSONDecoder(object_pairs_hook=list)
    for match in itertools.islice(_GLOBAL.finditer(text), _MOST_GLOBALS):
        try:
            pairs, _ = decoder.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            continue
        yield [(name, str(value)) for name, value in pairs]


def _is_sum(total: _Job, jobs: Sequence[_Job]) -> bool:
    """Whether ``total`` is the sum over exactly these jobs: all their bytes, in the time of the longest."""
    for way in ("read", "write"):
        if any(way in one.entry for one in (total, *jobs)):
            parts = [one.part(way) for one in (total, *jobs)]
            moved = [known for part in parts if (known := read_number(part.get("io_bytes"))) is not None]
            times = [known for part in parts if (known := read_number(part.get("runtime"))) is not None]
            # fio 2 rounds every one of them down to KiB
            spare = 0 if "bw_bytes" in parts[0] else len(jobs)
            if not len(moved) == len(times) == len(parts):
                return False
            if abs(moved[0] - sum(moved[1:])) > spare or times[0] != max(times[1:]):
                return False
    return True


def _refuse_mixed(jobs: Sequence[_Job]) -> None:
    """Refuse jobs that have one sum of reads and writes alone; ``unified_rw_reporting=both`` prints them, too."""
    for job in jobs:
        if "mixed" in job.entry and not {"read", "write"} & job.entry.keys():
            found = f"job {job.name} with one sum of reads and writes"
            raise ProbeOutputError(found, "reads and writes by themselves: fio without unified_rw_reporting")


def _read_jobs(jobs: Sequence[_Job]) -> Iterator[Reading]:
    _refuse_errors(jobs)
    _refuse_mixed(jobs)
    alike: dict[tuple[str, str], list[_Job]] = defaultdict(list)
    numbers = []
    for job in jobs:
        alike[job.name, job.client].append(job)
        numbers.append(len(alike[job.name, job.client]))
    for job, number in zip(jobs, numbers, strict=True):
        listed = len(alike[job.name, job.client])
        if job.has_finished(listed):
            yield from _read_job(job, number if listed > 1 else None)
    for clones in alike.values():
        yield from _read_clones(clones)


def _refuse_errors(jobs: Sequence[_Job]) -> None:
    for job in jobs:
        for key in ("error", "total_err"):
            if (value := job.entry.get(key)) not in (0, None):
                raise ProbeOutputError(f"job {job.name} with {key} {shorten(str(value))}", "jobs without error")


def _read_total(total: _Job, jobs: Sequence[_Job], alike: Counter[tuple[str, str]]) -> Iterator[Reading]:
    """fio's sum over all hosts, with the labels that all jobs have in common."""
    # one entry for all clones of a job (group_reporting) stands for as many
    clients = sum(1 if alike[job.name, job.client] > 1 else job.options.clones for job in jobs)
    for way in total.ways:
        marks = [job.marks(way) for job in jobs]
        common = {name: value for name, value in marks[0].items() if all(each.get(name) == value for each in marks)}
        every = labels(**{**common, "client": "all", "clients": clients})
        yield from _read_direction(way, total.part(way), every, _TOTAL)


def _read_job(job: _Job, number: int | None) -> Iterator[Reading]:
    _refuse_several(job)
    if not job.ways and not job.options.get("rw").startswith(("trim", "randtrim")):
        raise ProbeOutputError(f"job {job.name} with zero bytes", "a job that read or wrote")
    for way in job.ways:
        marks = job.marks(way)
        if number is not None:
            marks["number"] = number
        elif job.options.clones > 1:  # one entry for all of them: group_reporting
            marks["clients"] = job.options.clones
        yield from _read_direction(way, job.part(way), labels(**marks), job.name)
        if way == "write":
            yield from _read_times("sync", job.part("sync"), ("lat_ns", 1e-9), labels(**marks), f"{job.name} sync")


def _refuse_several(job: _Job) -> None:
    """Refuse a group of different jobs in one entry (``group_reporting``): it has the name of its first job and the
    options of its last, so that its numbers would get labels of a job that did not reach them.
    """
    kind, ways = job.options.kind.removeprefix("rand"), job.ways
    others = {"read": ["write"], "write": [] if job.options.has("verify") else ["read"]}.get(kind, [])
    several = job.options.get("name", default=job.name) != job.name or any(way in ways for way in others)
    several = several or job.runs_of_others
    for way in ways:
        got, size = job.part(way), job.options.block_size(way)
        moved, count = read_number(got.get("io_bytes")), read_number(got.get("total_ios"))
        if kind and size and moved and count and "bw_bytes" in got and got.get("short_ios") == 0:
            spare = 0.01 * moved + size * job.options.clones
            several = several or abs(moved - count * size) > spare
    if several:
        raise ProbeOutputError(
            f"{job.name} with options of another job", "a group of one job and its clones, or no group_reporting"
        )


def _read_clones(jobs: Sequence[_Job]) -> Iterator[Reading]:
    """The sum over all clones of one job: their bytes and operations in the time of the longest."""
    first = jobs[0]
    if not 1 < len(jobs) == first.options.clones or not all(job.has_finished(len(jobs)) for job in jobs):
        return
    for way in first.ways:
        parts = [job.part(way) for job in jobs]
        times = [read_number(part.get("runtime")) or 0.0 for part in parts]
        if min(times) <= 0:
            continue
        rates = [_read_rate(way, part, first.name) for part in parts]
        operations = [require_positive(part.get("iops"), f"iops of {way}") for part in parts]
        marks = labels(**first.marks(way), clients=len(jobs))
        for name, unit, values in (("", Unit.BYTE_RATE, rates), ("_iops", Unit.PER_SECOND, operations)):
            total = sum(value * time for value, time in zip(values, times, strict=True)) / max(times)
            raw = f"{first.name} {way} " + " + ".join(f"{value:g}" for value in values)
            yield Reading(f"fio.{way}{name}", total, unit, marks, shorten(raw))


def _read_rate(way: str, got: Document, job: str) -> float:
    """Byte/s of one direction."""
    name, factor = ("bw_bytes", 1.0) if "bw_bytes" in got else ("bw", _KIB)
    return require_positive(got.get(name), f"{name} of {job} {way}") * factor


def _read_direction(way: str, got: Document, marks: Labels, job: str) -> Iterator[Reading]:
    name, where = "bw_bytes" if "bw_bytes" in got else "bw", f"{job} {way}"
    yield Reading(f"fio.{way}", _read_rate(way, got, job), Unit.BYTE_RATE, marks, f"{where} {name} {got[name]}")
    if "iops" in got:
        operations = require_positive(got["iops"], f"iops of {where}")
        yield Reading(f"fio.{way}_iops", operations, Unit.PER_SECOND, marks, f"{where} iops {got['iops']}")
    for key, factor in (("clat_ns", 1e-9), ("clat", 1e-6)):
        if read_number(read_mapping(got.get(key)).get("mean")):
            yield from _read_times(way, got, (key, factor), marks, where)
            return


def _read_times(what: str, got: Document, key: tuple[str, float], marks: Labels, where: str) -> Iterator[Reading]:
    """The mean and the percentiles of ``got[key]``, whose unit is that many seconds, as times of ``what``."""
    name, factor = key
    spread = read_mapping(got.get(name))
    if mean := read_number(spread.get("mean")):
        latency = require_positive(mean, f"{name} of {where}") * factor
        yield Reading(f"fio.{what}_latency", latency, Unit.SECOND, marks, f"{where} {name} mean {mean}")
        # versions fill the list of percentiles up with zeros
        for share, value in read_mapping(spread.get("percentile")).items():
            word = _PERCENTILES.get(parse_decimal(share) or 0.0)
            if word and value != 0:
                every = labels(**dict(marks), statistic=word)
                time = require_positive(value, f"{where} {name} {share}") * factor
                raw = f"{where} {name} percentile {share} {value}"
                yield Reading(f"fio.{what}_percentile", time, Unit.SECOND, every, raw)
