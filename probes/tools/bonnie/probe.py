"""The node probe ``bonnie``: bonnie++ on a file system, large files and many small ones.

bonnie++ asks root for a user: it is told the one that is logged in, because only that one can enter the directory.
Single characters with direct I/O are refused, because bonnie++ takes them for a full disk.
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes import scratch
from benchconsole.probes.api import Given, Metric, Output, PlanError, Reading, Shown, Target, Unit
from benchconsole.probes.readers.readings import refuse_failed
from benchconsole.probes.tools.bonnie import text_reader
from benchconsole.probes.tools.files.node_directory import SCRATCH, ScratchProbe

_MIB = 2**20
_MOST = 2**40
"""bonnie++ counts K/sec of a file in 32 bits, which overflow from 2 TiB on."""
_FILES = 1024
_PER_FILE = 4096
"""Bytes that an empty file takes at most of a directory and of inodes."""
_PASSES = 4
"""The file is written, read and written again, and read."""
_START = 15.0
"""Seconds of the seeks and of what is not measured."""
_FILES_A_SECOND = 2000.0
_CHARACTERS = 20 * _MIB
_CHARACTER_RATE = 5e5

# $1 scratch directory, $2 MiB, $3 files in units of 1024, $4 direct writing, $5 characters, $6 bytes, $7 inodes.
# The functions of scratch use names of their own, among them files. bonnie++ compares the size with the memory by
# itself and refuses; here the label says it, so it is told 0.
_SCRIPT = scratch.script(
    r"""
    mebibytes=$2 units=$3 direct=$4 characters=$5;
    PATH=$PATH:/usr/sbin:/sbin:/usr/local/sbin; export PATH;
    command -v bonnie++ >/dev/null 2>&1 || { say "bonnie++: command not found"; exit 127; };
    scratch "$1" "$6" "$7";
    memory=$(awk "/^MemTotal:/ { printf \"%.0f\", \$2 * 1024 }" /proc/meminfo);
    printf "benchconsole: bonnie++ size=%.0f memory=%s direct=%s\n" "$((mebibytes * 1048576))" "$memory" "$direct";
    set -- -d "$made" -s "$mebibytes" -r 0 -n "$units" -m "$(uname -n)";
    [ "$direct" = 0 ] || set -- "$@" -D;
    [ "$characters" = 1 ] || set -- "$@" -f;
    [ "$(id -u)" != 0 ] || set -- "$@" -u "$(id -u):$(id -g)";
    run env LC_ALL=C bonnie++ "$@"
    """
)


class Bonnie(ScratchProbe):
    """Options: ``scratch`` (absolute path), ``size`` of the file, ``files`` (whole units of 1,024),
    ``direct_write`` (1 or 0), ``characters`` (1: also one byte at a time), ``rate`` (the slowest expected, for the
    time), and ``shared``: the name of the storage system that ``scratch`` is on, where all nodes write into one.
    """

    name = "bonnie"
    closing = re.compile(r"[^,\s][^,]*(?:,[^,]*){26,49}")
    label_names = frozenset(
        (
            "access", "block", "cached", "clients", "direct", "file_size", "files", "kind", "operation", "pattern",
            "run", "size", "statistic",
        )
    )  # fmt: skip
    summary = "bonnie++ under a scratch directory: large files, seeks, and many small files"
    source = "Jetstream acceptance report, charge of the review panel"
    metrics = (
        Metric("bonnie.write", Unit.BYTE_RATE, "bytes written in sequence", Shown.STORAGE),
        Metric("bonnie.rewrite", Unit.BYTE_RATE, "bytes read, changed and written back", Shown.STORAGE),
        Metric("bonnie.read", Unit.BYTE_RATE, "bytes read in sequence", Shown.STORAGE),
        Metric("bonnie.seeks", Unit.PER_SECOND, "random seeks with a read, a tenth of them with a write"),
        Metric("bonnie.files", Unit.PER_SECOND, "small files created, looked at or removed"),
        Metric("bonnie.latency", Unit.SECOND, "longest time of one operation"),
    )
    tools = MappingProxyType({"bonnie++": "bonnie++"})
    options = MappingProxyType(
        {
            "scratch": SCRATCH, "size": "4 GiB", "files": 16384, "direct_write": 1, "characters": 0, "rate": "100 MB/s",
            "shared": "",
        }
    )  # fmt: skip
    timeout = 600.0

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        given = self.given(options)
        rate = given.quantity("rate", Unit.BYTE_RATE)
        files = 6 * _read_files(given) / _FILES_A_SECOND
        characters = 2 * _CHARACTERS / _CHARACTER_RATE if given.flag("characters") else 0.0
        return _START + _PASSES * given.size("size", _MIB, _MOST) / rate + files + characters

    def space(self, options: Mapping[str, str | int | float]) -> float:
        given = self.given(options)
        return float(given.size("size", _MIB, _MOST) + _read_files(given) * _PER_FILE)

    def command(self, target: Target) -> Sequence[str]:
        given = self.given(target.options)
        size, direct, characters = given.size("size", _MIB, _MOST), given.flag("direct_write"), given.flag("characters")
        if size % _MIB:
            raise given.refused("size", "whole MiB")
        if direct and characters:
            raise PlanError("bonnie: characters need the page cache, expected direct_write=0 or characters=0")
        files, space = _read_files(given), int(self.space(target.options))
        numbers = (size // _MIB, files // _FILES, int(direct), int(characters), space, files + 16)
        return ["sh", "-c", _SCRIPT, "benchconsole-bonnie", given.text("scratch"), *map(str, numbers)]

    def parse(self, output: Output) -> Sequence[Reading]:
        refuse_failed(output, "bonnie++")
        return text_reader.readings(output.text)


def _read_files(given: Given) -> int:
    """The option ``files``; bonnie++ takes units of 1,024 only."""
    files = given.whole("files", 0, 4096 * _FILES)
    if files % _FILES:
        raise given.refused("files", f"a multiple of {_FILES:,}")
    return files
