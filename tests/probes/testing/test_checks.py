"""Each clause of the contract catches the probe that breaks it, and lets a good one pass."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchconsole.probes.api import (
    Contact,
    Metric,
    Output,
    Probe,
    ProbeOutputError,
    Reading,
    RemoteError,
    Shape,
    Target,
    Unit,
)
from benchconsole.probes.testing import PROBE_CHECKS, Check, captured, checks

TRANSCRIPT = Output(("uptime",), b"load: 0.25\nusers: 12\n")
LINE = re.compile(r"^load: ([0-9]+\.[0-9]+)$", re.MULTILINE)


class Load(Probe):
    """A probe that keeps the contract."""

    name = "load"
    summary = "load of a node"
    metrics = (Metric("load.one", Unit.ONE, "processes that want to run"),)

    def command(self, target: Target) -> Sequence[str]:
        return ["uptime"]

    def parse(self, output: Output) -> Sequence[Reading]:
        match = LINE.search(output.text.rpartition("\n")[0])
        if match is None:
            raise ProbeOutputError("no load", "a line 'load: N'")
        return [Reading("load.one", float(match[1]), Unit.ONE)]


class ReadsCuts(Load):
    def parse(self, output: Output) -> Sequence[Reading]:
        match = re.search(r"load: ([0-9.]*[0-9])", output.text)
        if match is None:
            raise ProbeOutputError("no load", "a line 'load: N'")
        return [Reading("load.one", float(match[1]), Unit.ONE)]


class RaisesOthers(Load):
    def parse(self, output: Output) -> Sequence[Reading]:
        return [Reading("load.one", float(output.text.split("\n")[0].split()[1]), Unit.ONE)]


class Undeclared(Load):
    metrics = (Metric("load.other", Unit.ONE, "nothing that is read"),)


class OtherUnit(Load):
    metrics = (Metric("load.one", Unit.SECOND, "of another kind"),)


class Infinite(Load):
    def parse(self, output: Output) -> Sequence[Reading]:
        return [Reading("load.one", float("inf"), Unit.ONE)]


class Unsorted(Load):
    def parse(self, output: Output) -> Sequence[Reading]:
        return [Reading("load.one", 1.0, Unit.ONE, (("b", "1"), ("a", "1")))]


class Forgetful(Load):
    def __init__(self) -> None:
        self.count = 0.0

    def parse(self, output: Output) -> Sequence[Reading]:
        self.count += 1
        return [Reading("load.one", self.count, Unit.ONE)]


class ShellText(Load):
    def command(self, target: Target) -> Sequence[str]:
        return ["sh", "-c", f"ping {target.node.data_address}"]


class NotASlug(Load):
    name = "Load Average"


class NeverEnds(Load):
    def estimate(self, options: object) -> float:
        return float("inf")


class LeavesATask(Load):
    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        self.task = asyncio.create_task(asyncio.Event().wait())
        return [await contact.here.run(["uptime"], timeout=1)]


class LeavesAServer(Load):
    shape = Shape.PAIR

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        await contact.there.start(["serve"], timeout=1).__aenter__()
        return [await contact.here.run(["uptime"], timeout=1)]


class Swallows(Load):
    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        try:
            return [await contact.here.run(["uptime"], timeout=1)]
        except RemoteError:
            return []


class NoTimeout(Load):
    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        return [await contact.here.run(["uptime"], timeout=float("inf"))]


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_a_good_probe_passes(check: Check) -> None:
    check(Load(), [TRANSCRIPT])


@pytest.mark.parametrize(
    ("probe", "check"),
    [
        (NotASlug, checks.declaration_is_complete),
        (NeverEnds, checks.declaration_is_complete),
        (Forgetful, checks.transcripts_are_read),
        (Undeclared, checks.readings_match_declaration),
        (OtherUnit, checks.readings_match_declaration),
        (Infinite, checks.readings_match_declaration),
        (Unsorted, checks.readings_match_declaration),
        (ReadsCuts, checks.cut_transcript_gives_no_other_reading),
        (RaisesOthers, checks.cut_transcript_gives_no_other_reading),
        (RaisesOthers, checks.random_text_raises_nothing_else),
        (Infinite, checks.random_text_raises_nothing_else),
        (ShellText, checks.commands_are_argument_lists),
        (NoTimeout, checks.commands_are_argument_lists),
        (LeavesATask, checks.cancelling_leaves_nothing_running),
        (LeavesAServer, checks.cancelling_leaves_nothing_running),
        (Swallows, checks.unreachable_is_not_hidden),
    ],
    ids=lambda value: value.__name__,
)
def test_a_broken_clause_is_caught(probe: type[Probe], check: Check) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - what a parser lets out is not to be foreseen
        check(probe(), [TRANSCRIPT])
    assert str(caught.value)


def test_no_transcript_is_no_proof() -> None:
    with pytest.raises(AssertionError, match="no transcript"):
        checks.transcripts_are_read(Load(), [])


def test_checks_are_named_functions() -> None:
    names = [check.__name__ for check in PROBE_CHECKS]
    assert len(set(names)) == len(names)
    assert all(check.__doc__ for check in PROBE_CHECKS)


def test_a_transcript_comes_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "uptime").write_bytes(b"load: 0.25\n\xff")
    assert captured(tmp_path / "uptime", "uptime", exit_status=2) == Output(("uptime",), b"load: 0.25\n\xff", b"", 2)
