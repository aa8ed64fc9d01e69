"""The node probe ``dd``: a large file written and read again in one stream, as Jetstream's acceptance did.

Data must be read from the disk: direct I/O, or a file that the kernel was told to forget and has forgotten. Where
direct I/O is refused, the run fails unless ``direct=0`` was asked for. Read is the output of GNU coreutils in any
language, uutils, busybox, toybox and the BSDs: the rate is always bytes by seconds, and the rounded rate and the sizes
in brackets must agree with it. Whether it wrote or read is known of our own runs, which are marked, and where the
command stands above its summary or somebody said it: from a source of bytes into a file, or from a file to nowhere.

Sources: coreutils ``src/dd.c`` and its message catalogues, busybox ``coreutils/dd.c``, toybox and FreeBSD ``dd``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from benchconsole.probes import scratch
from benchconsole.probes.api import Labels, Metric, Output, ProbeOutputError, Reading, Shown, Target, Unit, labels
from benchconsole.probes.readers.command_lines import find_command, list_given
from benchconsole.probes.readers.lines import refuse_lines, shorten, split_lines, strip_colours
from benchconsole.probes.readers.numbers import format_bytes, parse_decimal, require_positive
from benchconsole.probes.readers.readings import known_labels, refuse_failed
from benchconsole.probes.tools.files.node_directory import SCRATCH, ScratchProbe

_SECTOR = 512

# $1 scratch directory, $2 bytes, $3 bytes of a block, $4 direct, $5 sync, $6 drop. dd speaks on standard error;
# here both go one way, so that each of its summaries stands below the line that says what it did.
_SCRIPT = scratch.script(
    r"""
    bytes=$2 block=$3 direct=$4 sync=$5 drop=$6 cache=0;
    export LC_ALL=C;
    command -v dd >/dev/null 2>&1 || { say "dd: command not found"; exit 127; };
    scratch "$1" "$bytes";
    exec 2>&1;
    mark() { echo "benchconsole-dd operation=$1 size=$bytes block=$block direct=$direct sync=$sync cache=$cache"; };
    count=$((bytes / block)); oflag= iflag= conv=;
    if [ "$direct" = 1 ]; then oflag=oflag=direct iflag=iflag=direct; fi;
    if [ "$sync" = 1 ]; then conv=conv=fsync; fi;
    mark write;
    run dd if=/dev/zero of="$made/data" bs="$block" count="$count" $oflag $conv || exit $?;
    if [ "$direct$drop" = 00 ]; then cache=1; fi;
    if [ "$direct$drop" = 01 ]; then
        iflag=iflag=nocache;
        sync "$made/data" && run dd if="$made/data" iflag=nocache count=0 status=none || exit $?;
        command -v fincore >/dev/null 2>&1 || { echo "fincore: command not found"; exit 127; };
        kept=$(fincore --bytes --noheadings --output RES "$made/data" | tr -d " ");
        [ "$kept" -le $((bytes / 100)) ] || {
            echo "dd: the page cache keeps $kept of $bytes bytes, so reading would not be the disk"; exit 1; };
    fi;
    mark read;
    run dd if="$made/data" of=/dev/null bs="$block" count="$count" $iflag || exit $?
    """
)

_MARK = "benchconsole-dd"
"""Begins the line that our script prints before each run, with what the run does."""

_MARKED = re.compile(
    _MARK + r" operation=(?P<operation>read|write) size=(?P<size>[0-9]{1,15}) block=(?P<block>[0-9]{1,15})"
    r" direct=(?P<direct>[01]) sync=(?P<sync>[01]) cache=(?P<cache>[01])\Z"
)
_NUMBER = r"[0-9]{1,15}(?:[.,][0-9]{1,15})?(?:e[+-]?[0-9]{1,3})?"
_RECORDS = re.compile(r"[^0-9+]*(?P<full>[0-9]{1,15})\+(?P<part>[0-9]{1,15})\s*[^0-9+\s][^0-9+]*")
_GNU = re.compile(
    r"[^0-9(]*(?P<bytes>[0-9]{1,15})(?![0-9.,])[^0-9()]*(?:\((?P<sizes>[^()]*)\)[^0-9()]*)?[,，、]\s*"
    rf"(?P<seconds>{_NUMBER})\s*[^\W\d]{{1,12}}\.?\s*[,，、]\s*"
    rf"(?P<rate>{_NUMBER})(?P<gap>\s*)(?P<unit>[kKMGTPE]?i?[Bo]?)/[^\W\d]{{1,12}}\.?\s*"
)
_BSD = re.compile(
    rf"\s*(?P<bytes>[0-9]{{1,15}}) bytes transferred in (?P<seconds>{_NUMBER}) sec(?:ond)?s"
    rf" \((?P<rate>{_NUMBER}) bytes/sec\)\s*"
)
_SIZE = re.compile(rf"({_NUMBER})(\s*)([kKMGTPE]?i?[Bo]?)(?![\w.])")
_COMPLAINT = re.compile(
    r"^(?:(?:\S*/|\S+: (?:line [0-9]+: |[0-9]+: )?)?g?dd: |\^C)"
    r"|(?:No space left on device|Input/output error|Disk quota exceeded|Read-only file system)"
)
_POWERS = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_TOLERANCE = 0.01
_LONGEST = 400
_SOURCES = ("/dev/zero", "/dev/random", "/dev/urandom")
_BLOCK_DEVICE = re.compile(r"/dev/(?:sd|hd|vd|xvd|nvme|md|dm-|mapper/|disk/)")
_ENDS_ON_DISK = frozenset(("fsync", "fdatasync"))


@dataclass(frozen=True, slots=True)
class _Copied:
    """One summary: bytes, seconds, whether these may be the whole seconds of progress, whether the printed rate
    and sizes agree with them, and the line.
    """

    size: float
    seconds: float
    coarse: bool
    sound: bool
    raw: str


class Dd(ScratchProbe):
    """Options: ``scratch`` (absolute path), ``size`` of the file and of a ``block``, ``direct`` (1 or 0), ``end_fsync``
    (1: writing ends when the disk has it), ``drop`` (1: with ``direct=0`` the file is forgotten before it is read),
    ``rate`` (the slowest that is expected, for the time), and ``shared``: the name of the storage system that
    ``scratch`` is on, where all nodes write into one.
    """

    name = "dd"
    label_names = frozenset(("block", "cached", "direct", "end_fsync", "number", "operation", "size"))
    summary = "One large file in a scratch directory, written and read again in one stream"
    source = "Jetstream acceptance report, 5.1.2"
    metrics = (Metric("dd.throughput", Unit.BYTE_RATE, "bytes copied by the seconds that it took", Shown.STORAGE),)
    tools = MappingProxyType({"dd": "coreutils"})
    options = MappingProxyType(
        {
            "scratch": SCRATCH, "size": "2 GiB", "block": "1 MiB", "direct": 1, "end_fsync": 1, "drop": 1,
            "rate": "100 MB/s", "shared": "",
        }
    )  # fmt: skip
    timeout = 300.0

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        given = self.given(options)
        return 2.0 + 2.0 * given.size("size", _SECTOR) / given.quantity("rate", Unit.BYTE_RATE)

    def space(self, options: Mapping[str, str | int | float]) -> float:
        return float(self.given(options).size("size", _SECTOR))

    def command(self, target: Target) -> Sequence[str]:
        given = self.given(target.options)
        size, block = given.size("size", _SECTOR), given.size("block", _SECTOR, 2**30)
        if size % block != 0:
            raise given.refused("size", f"whole blocks of {given.text('block')}")
        if given.flag("direct") and block % _SECTOR != 0:
            raise given.refused("block", f"a multiple of {_SECTOR} bytes with direct=1")
        flags = [str(int(given.flag(name))) for name in ("direct", "end_fsync", "drop")]
        return ["sh", "-c", _SCRIPT, "benchconsole-dd", given.path("scratch"), str(size), str(block), *flags]

    def parse(self, output: Output) -> Sequence[Reading]:
        told = list_given(output.argv)
        found = [*_read_runs(output.text, told), *_read_runs(output.error_text, told)]
        refuse_failed(output, "dd")
        if not found:
            raise ProbeOutputError("no run of dd that was read to its end", "dd's line of bytes, seconds and rate")
        return found


def _read_runs(text: str, told: Sequence[str] | None) -> list[Reading]:
    """The rate of every run in ``text``, none where there is no dd; ProbeOutputError where one failed.

    ``told`` are the words of the command that made them all, where somebody said it.
    """
    refuse_lines(_COMPLAINT, split_lines(text), "dd to copy everything without complaint")
    return [
        Reading("dd.throughput", require_positive(run.size / run.seconds, "a rate"), Unit.BYTE_RATE, marks, run.raw)
        for run, marks in _find_runs(text, told)
    ]


def _find_runs(text: str, told: Sequence[str] | None) -> Iterator[tuple[_Copied, Labels]]:
    """Every run that ended, with the labels of our mark, or with its number and what its command says where somebody
    else ran it.
    """
    ours, mark, number = _MARK in text, None, 0
    given = {} if told is None else _read_command(told)
    conditions = given
    records: list[tuple[int, int]] = []
    for line, progress in _read_lines(text):
        if _MARK in line:
            mark, records = _MARKED.search(line), []
        elif (words := find_command(line, "dd")) is not None:
            conditions, records = _read_command(words), []
        elif found := _RECORDS.fullmatch(line):
            conditions = given if len(records) == 2 else conditions  # the summary of the run before was lost
            records = [*records[-1:], (int(found["full"]), int(found["part"]))]
        elif copied := _read_copied(line):
            if len(records) != 2 and (ours or progress or copied.coarse):
                continue
            _refuse_unsound(copied, records)
            number += 1
            if mark is not None:
                if copied.size != float(mark["size"]):
                    raise ProbeOutputError(f"{copied.size:.0f} bytes", f"{mark['size']} bytes as they were asked for")
                asked = {"direct": mark["direct"], "cached": "possible" if mark["cache"] == "1" else ""}
                asked |= {"end_fsync": mark["sync"]} if mark["operation"] == "write" else {}
                sizes = {"size": format_bytes(int(copied.size)), "block": format_bytes(int(mark["block"]))}
                yield copied, known_labels(operation=mark["operation"], **sizes, **asked)
            elif not ours:
                marks: dict[str, object] = {"number": number, "size": format_bytes(int(copied.size))}
                if len(records) == 2 and records[0] == records[1] and records[1][1] == 0:
                    marks["block"] = format_bytes(round(copied.size / records[1][0]))
                yield copied, labels(**marks, **conditions)
            mark, records, conditions = None, [], given


def _read_command(words: Sequence[str]) -> dict[str, str]:
    """The labels that a command tells; none of one that neither only writes nor only reads.

    Nor of one with words that dd does not take: something else is in its line.
    """
    pairs = [word.partition("=")[::2] for word in words if "=" in word]
    asked = dict(pairs)
    source, sink = asked.get("if", ""), asked.get("of", "")
    has_others = any("=" not in word and not word.isdecimal() for word in words)
    if has_others or len(asked) < len(pairs) or not source or not sink:
        return {}
    flags = {name: asked.get(name, "").split(",") for name in ("iflag", "oflag", "conv")}
    if source in _SOURCES and _is_stored(sink):
        ends = "sync" in flags["oflag"] or "dsync" in flags["oflag"] or not _ENDS_ON_DISK.isdisjoint(flags["conv"])
        return {
            "operation": "write",
            "direct": str(int("direct" in flags["oflag"])),
            "end_fsync": str(int(ends)),
        }
    if sink == "/dev/null" and _is_stored(source):
        is_direct = "direct" in flags["iflag"]
        return {"operation": "read", "direct": str(int(is_direct))} | ({} if is_direct else {"cached": "possible"})
    return {}


def _is_stored(path: str) -> bool:
    """Whether what stands there is on a disk: a file, or a block device."""
    return not path.startswith(("/dev/", "/proc/", "/sys/")) or _BLOCK_DEVICE.match(path) is not None


def _read_lines(text: str) -> Iterator[tuple[str, bool]]:
    """Whole lines without colours, and whether progress stood on them before. Latin-1 blanks arrive as U+FFFD.

    A shell takes the last line end away; a last line is whole when the unit of its rate is.
    """
    lines = strip_colours(text).replace("\ufffd", " ").split("\n")
    for raw in lines if lines[-1].rstrip("\r").endswith(("B/s", "bytes/sec)")) else lines[:-1]:
        _, overwritten, line = raw.rstrip("\r").rpartition("\r")
        yield line, bool(overwritten)


def _read_copied(line: str) -> _Copied | None:
    match = _GNU.fullmatch(line) or _BSD.fullmatch(line) if len(line) <= _LONGEST else None
    if match is None:
        return None
    parts = match.groupdict()
    size, seconds = parse_decimal(parts["bytes"]), parse_decimal(_put_point(parts["seconds"]))
    if not size or not seconds:
        return None
    sizes = _SIZE.findall(parts.get("sizes") or "")
    sound = all(_is_rounded(size, *each) for each in sizes)
    sound = sound and _is_rounded(size / seconds, parts["rate"], parts.get("gap", " "), parts.get("unit", "B"))
    return _Copied(size, seconds, parts["seconds"].isdigit(), sound, shorten(line))


def _is_rounded(value: float, text: str, gap: str, unit: str) -> bool:
    """Whether ``text`` in ``unit`` is ``value`` rounded.

    coreutils writes ``MB`` for powers of 1000 after a blank; busybox for powers of 1024, without one; toybox ``M``.
    """
    number = parse_decimal(_put_point(text))
    if number is None:
        return False
    base = 1000.0 if gap and "i" not in unit and unit[-1:] in ("B", "o") else 1024.0
    last = 0.5 * 10.0 ** -len(_put_point(text).partition(".")[2])
    return abs(value / base ** _POWERS[unit.rstrip("Boi")] - number) <= last + _TOLERANCE * number


def _put_point(text: str) -> str:
    return text.replace(",", ".")


def _refuse_unsound(copied: _Copied, records: Sequence[tuple[int, int]]) -> None:
    """Raise where numbers contradict each other, and where a block was read and not written, or written in part."""
    if not copied.sound:
        raise ProbeOutputError(copied.raw, "bytes, seconds and rate that agree")
    if len(records) != 2:
        return
    read, written = records
    lost = sum(read) - sum(written) == 1
    short = sum(read) == sum(written) and written[1] > read[1]
    damaged = written[1] == 0 and (written[0] == 0 or copied.size % written[0] != 0)
    if lost or short or damaged:
        found = f"{read[0]}+{read[1]} records in, {written[0]}+{written[1]} out, {copied.size:.0f} bytes"
        raise ProbeOutputError(found, "as many records out as in, of whole blocks")
