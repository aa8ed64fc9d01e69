"""Owns the pair probe ``archive``: files moved to the peer over so many TCP connections at once, as by parallel ftp.

A process for each transfer at both ends. The receiver counts: bytes that it threw away, or that it has on its disk
(``sink: files``, in portions of 16 MiB). It samples each transfer by its own clock, so that the sum is over the
time in which all of them ran. A transfer ends with its ``size`` or after ``seconds``, whichever is first.
Refuses connections that do not know the word of the test, and to listen on an address that only this node has.
"""

import secrets
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from probes import scratch
from probes.api import (
    Contact,
    Demands,
    Given,
    Metric,
    Output,
    Part,
    PlanError,
    Probe,
    Reading,
    RemoteError,
    Safety,
    Shape,
    Shown,
    Target,
    Unit,
)
from probes.builtin import archive_json, python_script
from probes.builtin.archive_node import RECEIVER, SENDER
from probes.serving import serving

_START = 4.0
_IDLE = 60.0
"""Seconds without a byte after which either end gives up."""


class Archive(Probe):
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
    versions = MappingProxyType({"python3": python_script.LEAST_PYTHON})
    options = MappingProxyType(
        {
            "streams": 9,
            "size": "1 GiB",
            "seconds": 10,
            "source": "memory",
            "sink": "discard",
            "scratch": "/tmp",  # noqa: S108 - mktemp inside
            "shared": "",
            "python": "python3",
        }
    )
    safety = Safety.LOADS
    shape = Shape.PAIR

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds of the transfers at most, and to make the files that they come from, at 100 MB/s."""
        given = self.given(options)
        made = _bytes(given) / python_script.ASSUMED if _from_files(given) else 0.0
        return _seconds(given) + made + _START

    def space(self, options: Mapping[str, str | int | float]) -> float:
        """The files of all transfers, at each end that has them."""
        given = self.given(options)
        return _bytes(given) if _from_files(given) or _to_files(given) else 0.0

    def demands(self, target: Target) -> Demands:
        """The disks where there are files, and what is written; the NICs are the design's affair."""
        given = self.given(target.options)
        written = _bytes(given) * (_from_files(given) + _to_files(given))
        if not written:
            return Demands()
        system = given.text("shared")
        taken = MappingProxyType({f"filesystem:{system}": written} if system else {})
        return Demands(frozenset((Part.DISK,)), taken, written)

    def sender(self, target: Target, port: int, *, word: str, gate: str = "") -> list[str]:
        """The command that sends; PlanError for options that cannot be read."""
        given, peer = self.given(target.options), _peer(target)
        numbers = (given.whole("streams", 1, 64), _size(given), _seconds(given), int(_from_files(given)), port)
        words = (*map(str, numbers), word, peer, target.node.data_address, str(_IDLE), given.text("sink"))
        argv = python_script.command(given.text("python"), SENDER, *words, gate=gate)
        return _in_scratch(given, argv) if _from_files(given) else argv

    def receiver(self, target: Target, port: int, *, word: str, idle: float) -> list[str]:
        """The command that receives once, and ends after ``idle`` seconds without a sender."""
        given = self.given(target.options)
        numbers = (given.whole("streams", 1, 64), int(_to_files(given)), port)
        words = (*map(str, numbers), word, _peer(target), str(idle), str(_IDLE))
        argv = python_script.command(given.text("python"), RECEIVER, *words)
        return _in_scratch(given, argv) if _to_files(given) else argv

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        """Start the receiver, prepare and connect, wait for the round, send; what the sender says holds both ends."""
        given, word, gate = self.given(target.options), secrets.token_hex(16), python_script.new_gate()
        limit = 60.0 + _seconds(given) + _IDLE + self.space(target.options) / python_script.SLOWEST
        python = given.text("python")
        self.sender(target, 1, word=word)

        def receiver(port: int) -> list[str]:
            return self.receiver(target, port, word=word, idle=limit)

        try:
            async with serving(contact.there, receiver, timeout=2 * limit + 30.0) as (port, _):
                argv = self.sender(target, port, word=word, gate=gate)
                return (await python_script.released(contact, argv, python=python, gate=gate, timeout=limit),)
        except RemoteError as error:
            if error.output is not None:
                scratch.heed(error.output, error.failure.node)
            raise

    def parse(self, output: Output) -> Sequence[Reading]:
        """Read the document of the sender, with the receiver's word in it. ProbeOutputError when it is not whole."""
        return archive_json.readings(python_script.document(output, self.name))


def _peer(target: Target) -> str:
    if target.peer is None:
        raise PlanError("archive needs a pair of nodes")
    return target.peer.data_address


def _size(given: Given) -> int:
    return given.size("size", 2**20, 2**44)


def _seconds(given: Given) -> float:
    return given.number("seconds", 1.0)


def _bytes(given: Given) -> float:
    return float(given.whole("streams", 1, 64) * _size(given))


def _from_files(given: Given) -> bool:
    return given.choice("source", archive_json.SOURCES) == "files"


def _to_files(given: Given) -> bool:
    return given.choice("sink", archive_json.SINKS) == "files"


def _in_scratch(given: Given, argv: Sequence[str]) -> list[str]:
    files = given.whole("streams", 1, 64) + 16
    return python_script.in_scratch(argv, given.text("scratch"), size=int(_bytes(given)), files=files)
