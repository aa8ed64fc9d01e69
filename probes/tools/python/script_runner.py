"""How a built-in probe runs a Python script of ours on a node, and the one JSON document that it prints.

Nothing is installed: the script goes as words of the command, needs Python 3.6 with its standard library and
nothing else, and ends with its command. When it has prepared what it works on it waits until every test of the
round has, so that no node makes its files while another reads. It prints one JSON document that begins with its
name and ends with ``"end": true``; the numbers in it are the observations, and the parsers derive the rest.
"""

import re
import secrets
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import ClassVar

from benchconsole.probes import scratch
from benchconsole.probes.api import Contact, Given, Output, ProbeOutputError, RemoteError, Target
from benchconsole.probes.readers.documents import Document, find_documents, read_array, read_mapping
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.readers.numbers import ABSURD, read_number, require_positive
from benchconsole.probes.readers.readings import refuse_failed
from benchconsole.probes.tools.files.node_directory import ScratchProbe
from benchconsole.probes.tools.python.node_library import COMMON

LEAST_PYTHON = "3.6"
ASSUMED = 100e6
"""byte/s that a file system is taken to write or read, where the time of a test depends on it."""
SLOWEST = 5e6
"""byte/s below which it is given up."""
VERSION = 1
"""Version of the documents; another one is not read."""

FROM_STORAGE = 0.9
"""Share of what was read that the kernel must have fetched from storage, to say that no cache answered."""

_LINE_END = "~"
_START = f'import sys; exec(sys.argv[1].replace("{_LINE_END}", chr(10)))'
_PREPARED = "benchconsole: prepared"
_OPEN = "import socket, sys; socket.socket(socket.AF_UNIX).connect(chr(0) + sys.argv[1])"
_OPENING = 30.0
_SPECIAL = re.compile(r"['\\~]|![^= ]|[^\n -~]")

# $1 scratch root, $2 bytes, $3 files, then the command, which runs in the directory that was made.
_IN_SCRATCH = scratch.script(
    r"""
    command -v "$4" >/dev/null 2>&1 || { say "$4: command not found"; exit 127; };
    scratch "$1" "$2" "$3"; shift 3;
    cd "$made" || exit 1;
    run "$@" || exit $?
    """
)


def make_script(body: str) -> str:
    """A script: what all of them share, then ``body``; ValueError for what csh, fish or our own folding would alter."""
    text = COMMON + body
    if special := _SPECIAL.search(text):
        line = text.count("\n", 0, special.start()) + 1
        found = f"found {special[0]!r} in line {line}"
        raise ValueError(f"{found}, expected no quote, backslash, ~, !x or letter of others")
    return text


def make_command(python: str, script: str, *words: str, gate: str = "") -> list[str]:
    """The command that runs ``script`` (of ``source``) with ``words``, whatever lies in its directory and home.

    With a ``gate`` it waits behind that name, when it has prepared, until ``released`` opens it.
    """
    return [python, "-I", "-c", _START, script.replace("\n", _LINE_END), gate, *words]


def draw_gate() -> str:
    """A name for the gate of one script that nobody else has."""
    return f"benchconsole-{secrets.token_hex(8)}"


async def run_released(contact: Contact, argv: Sequence[str], *, python: str, gate: str, timeout: float) -> Output:
    """Run ``argv`` at the test's node: let it prepare, wait for the round, open its ``gate``; what it said.

    RemoteError where it refuses, lacks a tool or does not come to its end within ``timeout`` seconds, waiting for
    others (as long at most) apart.
    """
    async with contact.here.start(argv, timeout=2 * timeout) as running:
        try:
            await running.says(_PREPARED, timeout=timeout)
            await contact.together()
            opened = await contact.here.run([python, "-I", "-c", _OPEN, gate], timeout=_OPENING)
            return opened if opened.exit_status else await running.output()
        except RemoteError as error:
            if error.output is not None:
                scratch.heed(error.output, contact.here.node)
            raise


class NodeScript(ScratchProbe):
    """A probe whose ``script`` works in a scratch directory of a node. Options ``scratch``, ``shared``, ``python``."""

    tools = MappingProxyType({"python3": "python3"})
    versions = MappingProxyType({"python3": LEAST_PYTHON})
    script: ClassVar[str]

    @abstractmethod
    def words(self, given: Given) -> Sequence[object]:
        """The words that the script is given; PlanError for options that cannot be read."""

    @abstractmethod
    def room(self, given: Given) -> tuple[int, int]:
        """Bytes and files that there must be room for."""

    @abstractmethod
    def limit(self, given: Given) -> float:
        """Seconds after which it is given up."""

    def command(self, target: Target) -> Sequence[str]:
        """The command as somebody would run it by hand: it waits for nobody."""
        return self._make_command(target, "")

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        """Prepare, wait for the other nodes, measure; RemoteError where the node refuses."""
        given, gate = self.given(target.options), draw_gate()
        argv, limit = self._make_command(target, gate), self.limit(given)
        return (await run_released(contact, argv, python=given.text("python"), gate=gate, timeout=limit),)

    def _make_command(self, target: Target, gate: str) -> Sequence[str]:
        given = self.given(target.options)
        argv = make_command(given.text("python"), self.script, *map(str, self.words(given)), gate=gate)
        size, files = self.room(given)
        return wrap_in_scratch(argv, given.text("scratch"), size=size, files=files)


def wrap_in_scratch(argv: Sequence[str], root: str, *, size: int, files: int) -> list[str]:
    """``argv`` in a directory of ours below ``root``, with room for ``size`` bytes in ``files`` files."""
    return ["sh", "-c", _IN_SCRATCH, "benchconsole-python", root, str(size), str(files), *argv]


def read_document(output: Output, name: str) -> Document:
    """The one whole document of the script ``name``; ProbeOutputError where it failed, or there is none, or more."""
    refuse_failed(output, name)
    document = find_result(output.text, name)
    if document.get("version") != VERSION:
        raise ProbeOutputError(f"version {shorten(str(document.get('version')))}", f"version {VERSION} of {name}")
    return document


def find_result(text: str, name: str) -> Document:
    """The one document of the benchmark ``name`` in ``text``, whole to its end; ProbeOutputError otherwise."""
    found = [one for one in find_documents(text, first="benchmark") if one.get("benchmark") == name]
    if len(found) != 1 or found[0].get("end") is not True:
        raise ProbeOutputError(f"{len(found)} whole results", f"one result of {name}, to its end")
    return found[0]


def read_count(found: Document, key: str, *, least: int = 1, most: int = 10**15) -> int:
    """The whole number at ``key``; ProbeOutputError for anything else, also for ``3.0`` and true."""
    value = found.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ProbeOutputError(f"{shorten(str(value))} as {key}", f"a whole number {least} to {most}")
    return value


def read_word(found: Document, key: str, allowed: Sequence[str]) -> str:
    """The text at ``key``, one of ``allowed``."""
    value = found.get(key)
    if value not in allowed:
        raise ProbeOutputError(f"{shorten(str(value))} as {key}", f"one of {', '.join(allowed)}")
    return str(value)


def read_seconds(found: Document, key: str) -> float:
    """The time at ``key``, above 0."""
    value = found.get(key)
    if isinstance(value, str):
        raise ProbeOutputError(f"{shorten(value)} as {key}", "a number")
    return require_positive(value, key)


def read_results(found: Document, expected: int) -> Iterator[tuple[int, Document]]:
    """The results of ``expected`` processes, each with its number from 1 on; ProbeOutputError unless all are there."""
    each = [read_mapping(one) for one in read_array(found.get("results"))]
    numbers = [one.get("number") for one in each]
    if numbers != list(range(1, expected + 1)):
        raise ProbeOutputError(f"results of {shorten(str(numbers))}", f"of 1 to {expected}, each once")
    return enumerate(each, 1)


def read_fetched(one: Document) -> float:
    """Bytes that the kernel got from storage for a process; 0 where it did not count them."""
    value = read_number(one.get("fetched"))
    return value if value is not None and 0 < value < ABSURD else 0.0


def find_cache_label(each: Sequence[tuple[Document, int]]) -> str:
    """Whether files were read from storage: ``dropped`` where the kernel counted it, else ``unproven``.

    ``each`` are the results of processes and the bytes that each read.
    """
    return "dropped" if all(read_fetched(one) >= FROM_STORAGE * size for one, size in each) else "unproven"
