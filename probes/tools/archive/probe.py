"""The pair probe ``archive``: files moved to the peer over so many TCP connections at once, as by parallel ftp.

A process for each transfer at both ends. The receiver counts: bytes that it threw away, or that it has on its disk
(``sink: files``, in portions of 16 MiB). It samples each transfer by its own clock, so that the sum is over the
time in which all of them ran. A transfer ends with its ``size`` or after ``seconds``, whichever is first.
The receiver drops connections that do not know the word of the test.
"""

import secrets
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes import scratch
from benchconsole.probes.api import (
    Contact,
    Demands,
    Given,
    Metric,
    Output,
    Part,
    Reading,
    RemoteError,
    SendingOptions,
    Shown,
    Target,
    Unit,
)
from benchconsole.probes.serving import serving
from benchconsole.probes.tools.archive import json_reader
from benchconsole.probes.tools.archive.node_script import RECEIVER, SENDER
from benchconsole.probes.tools.files.node_directory import SCRATCH
from benchconsole.probes.tools.network.pair_probe import PairProbe
from benchconsole.probes.tools.python import script_runner

_START = 4.0
_IDLE = 60.0
"""Seconds without a byte after which either end gives up."""


class Archive(PairProbe):
    """Options: ``streams`` (transfers at once), ``size`` of each, ``seconds`` after which they end at the latest;
    ``source`` memory or files (made first, read from where they lie) and ``sink`` discard or files; ``scratch`` for
    those, ``shared`` and ``python``.
    """

    name = "archive"
    summary = "Files moved to another node over several connections at once, their rates summed"
    source = "LLNL Lustre milestone, parallel ftp to the archive"
    metrics = (
        Metric("archive.throughput", Unit.BYTE_RATE, "all transfers while all of them ran", Shown.STORAGE),
        Metric("archive.transfer", Unit.BYTE_RATE, "one transfer, as the receiver counts it", Shown.STORAGE),
        Metric("archive.spread", Unit.ONE, "rate of the fastest transfer over that of the slowest"),
    )
    tools = MappingProxyType({"python3": "python3"})
    versions = MappingProxyType({"python3": script_runner.LEAST_PYTHON})
    options = MappingProxyType(
        {
            "streams": 9, "size": "1 GiB", "seconds": 10, "source": "memory", "sink": "discard", "scratch": SCRATCH,
            "shared": "", "python": "python3",
        }
    )  # fmt: skip
    sending_options = SendingOptions(streams="streams")

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds of the transfers at most, and to make the files that they come from, at 100 MB/s."""
        given = self.given(options)
        made = _count_bytes(given) / script_runner.ASSUMED if _reads_files(given) else 0.0
        return _read_seconds(given) + made + _START

    def space(self, options: Mapping[str, str | int | float]) -> float:
        given = self.given(options)
        return _count_bytes(given) if _reads_files(given) or _writes_files(given) else 0.0

    def demands(self, target: Target) -> Demands:
        """The disks where there are files, and what is written; the NICs are the design's affair."""
        given = self.given(target.options)
        written = _count_bytes(given) * (_reads_files(given) + _writes_files(given))
        if not written:
            return Demands()
        system = given.text("shared")
        taken = MappingProxyType({f"filesystem:{system}": written} if system else {})
        return Demands(frozenset((Part.DISK,)), taken, written)

    def sender(self, target: Target, port: int, *, word: str, gate: str = "") -> list[str]:
        given, peer = self.given(target.options), self.peer(target).data_address
        limits = (given.whole("streams", 1, 64), _read_size(given), _read_seconds(given))
        words = (
            *map(str, (*limits, int(_reads_files(given)), port)),
            word,
            peer,
            target.node.data_address,
            str(_IDLE),
            given.text("sink"),
        )
        argv = script_runner.make_command(given.text("python"), SENDER, *words, gate=gate)
        return _wrap_in_scratch(given, argv) if _reads_files(given) else argv

    def receiver(self, target: Target, port: int, *, word: str, idle: float) -> list[str]:
        """The command that receives once, and ends after ``idle`` seconds without a sender."""
        given = self.given(target.options)
        numbers = (given.whole("streams", 1, 64), int(_writes_files(given)), port)
        words = (*map(str, numbers), word, self.peer(target).data_address, str(idle), str(_IDLE))
        argv = script_runner.make_command(given.text("python"), RECEIVER, *words)
        return _wrap_in_scratch(given, argv) if _writes_files(given) else argv

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        """Start the receiver, prepare and connect, wait for the round, send; what the sender says holds both ends."""
        given, word, gate = self.given(target.options), secrets.token_hex(16), script_runner.draw_gate()
        limit = 60.0 + _read_seconds(given) + _IDLE + self.space(target.options) / script_runner.SLOWEST
        python = given.text("python")
        self.sender(target, 1, word=word)

        def receiver(port: int) -> list[str]:
            return self.receiver(target, port, word=word, idle=limit)

        try:
            async with serving(contact.there, receiver, timeout=2 * limit + 30.0) as (port, _):
                argv = self.sender(target, port, word=word, gate=gate)
                return (await script_runner.run_released(contact, argv, python=python, gate=gate, timeout=limit),)
        except RemoteError as error:
            if error.output is not None:
                scratch.heed(error.output, error.failure.node)
            raise

    def parse(self, output: Output) -> Sequence[Reading]:
        return json_reader.parse_document(script_runner.read_document(output, self.name))


def _read_size(given: Given) -> int:
    return given.size("size", 2**20, 2**44)


def _read_seconds(given: Given) -> float:
    return given.number("seconds", 1.0)


def _count_bytes(given: Given) -> float:
    return float(given.whole("streams", 1, 64) * _read_size(given))


def _reads_files(given: Given) -> bool:
    return given.choice("source", json_reader.SOURCES) == "files"


def _writes_files(given: Given) -> bool:
    return given.choice("sink", json_reader.SINKS) == "files"


def _wrap_in_scratch(given: Given, argv: Sequence[str]) -> list[str]:
    files = given.whole("streams", 1, 64) + 16
    return script_runner.wrap_in_scratch(argv, given.text("scratch"), size=int(_count_bytes(given)), files=files)
