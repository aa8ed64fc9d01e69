"""The needs of tests on a node, and those that a node's answer does not meet."""

import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

import pytest

from benchconsole.probes.api import Fact, Probe, Safety, Target
from benchconsole.probes.hygiene import prerequisites
from benchconsole.probes.hygiene.prerequisites import (
    Health,
    Needs,
    ScratchRoom,
    Sudo,
    Survey,
    Tool,
    examine,
    needs_of,
    short_of,
    survey,
    tools_of,
)
from benchconsole.probes.model.errors import ProbeOutputError
from benchconsole.probes.model.measuring import FailedAt, Failure, Output, Round, Test
from benchconsole.probes.model.remote import Remote, RemoteError
from benchconsole.probes.testing import FakeRemote, a_node
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Node, NodeId
from tests.probes.hygiene.local import Here


def tool(directory: Path, name: str, text: str) -> None:
    directory.mkdir(exist_ok=True)
    (directory / name).write_text(f"#!/bin/sh\n{text}\n")
    (directory / name).chmod(0o755)


@pytest.mark.parametrize(("ended", "hung"), [(0, set()), (1, set()), (124, {"iperf3"}), (137, {"iperf3"})])
async def test_a_tool_that_had_to_be_ended_hangs(tmp_path: Path, ended: int, hung: set[str]) -> None:
    bin_ = tmp_path / "bin"
    tool(bin_, "timeout", f'shift 3; "$@"; [ "$1" != iperf3 ] || exit {ended}')
    tool(bin_, "iperf3", "echo iperf 3.12")
    tool(bin_, "fio", "echo fio-3.33")
    found = await examine(Here("x", str(bin_)), ["iperf3", "fio"], [])
    assert found.hung == hung
    assert dict(found.tools) == {"iperf3": "3.12", "fio": "3.33"}


async def test_a_real_answer(tmp_path: Path) -> None:
    bin_, link = tmp_path / "bin", tmp_path / "link"
    tool(bin_, "fio", 'echo "fio-3.33"')
    tool(bin_, "iperf3", 'echo "iperf 3.12 (cJSON 1.7.15)"; echo "Linux host 6.1"')
    tool(bin_, "date", 'echo "1000000000.500000000"')
    link.symlink_to(tmp_path)
    before = time.time()
    found = await examine(
        Here("x", str(bin_)), ["fio", "iperf3", "nosuchtool", "sh"], [str(tmp_path), str(link), "/nowhere"]
    )
    assert dict(found.tools) == {"fio": "3.33", "iperf3": "3.12", "sh": ""}
    assert found.offset == pytest.approx(1_000_000_000.5 - before, abs=10)
    assert list(found.rooms) == [str(tmp_path)]
    assert 0 < found.rooms[str(tmp_path)].free < found.rooms[str(tmp_path)].total
    assert [words.partition(": ")[2] for words in found.unfit] == [
        f"{link} is a symbolic link: name the directory that it leads to",
        "there is no directory /nowhere",
    ]
    assert (found.sudo is Sudo.ROOT) is (os.geteuid() == 0)
    assert 0 < found.within < 10


async def test_a_tool_that_hangs_or_writes_what_it_likes_spoils_nothing(tmp_path: Path) -> None:
    tool(tmp_path, "iperf3", "printf 'iperf 9.9\\tend\\t\\033[31m\\n'; echo end; exit 3")
    tool(tmp_path, "fio", "echo uid 0; printf 'bad\\t/x'")
    found = await examine(Here("x", str(tmp_path)), ["iperf3", "fio"], [])
    assert dict(found.tools) == {"iperf3": "9.9", "fio": ""}
    assert found.unfit == ()


async def test_a_tool_that_will_not_be_ended_is_killed_and_the_others_are_told(tmp_path: Path) -> None:
    tool(tmp_path, "iperf3", "trap '' TERM; while :; do sleep 1; done")
    tool(tmp_path, "fio", 'echo "fio-3.33"')
    async with asyncio.timeout(25):
        found = await examine(Here("x", str(tmp_path)), ["iperf3", "fio"], [])
    assert dict(found.tools) == {"iperf3": "", "fio": "3.33"}


def said(*lines: str) -> Output:
    return Output((), "".join(f"{line}\n" for line in lines).encode())


async def answered(*lines: str) -> Health:
    return await examine(FakeRemote().when("benchconsole-doctor", answers=said(*lines)), [], [])


@pytest.mark.parametrize(
    ("line", "sudo"),
    [
        ("sudo\troot", Sudo.ROOT),
        ("sudo\tyes", Sudo.FREE),
        ("sudo\tabsent", Sudo.ABSENT),
        ("sudo\tno sudo: a password is required", Sudo.PASSWORD),
        ("sudo\tno sudo: a terminal is required to read the password", Sudo.PASSWORD),
        ("sudo\tno alice is not in the sudoers file.", Sudo.REFUSED),
    ],
)
async def test_privileges_are_told_apart(line: str, sudo: Sudo) -> None:
    assert (await answered("now\t1700000000.5", line, "end\t")).sudo is sudo


async def test_a_clock_without_fractions_is_known_less_well() -> None:
    exact, coarse = await answered("now\t1700000000.5", "end\t"), await answered("now\t1700000000.%N", "end\t")
    assert coarse.within == pytest.approx(exact.within + 0.5, abs=0.1)
    assert coarse.offset == pytest.approx(exact.offset, abs=0.6)


async def test_a_machine_outside_of_any_cluster_has_no_slurm() -> None:
    outside = "slurm\tno sinfo: fatal: Could not establish a configuration source"
    assert (await answered("now\t1.0", outside, "end\t")).slurm == ""
    assert (await answered("now\t1.0", "slurm\tworks", "end\t")).slurm == "works"
    assert (await answered("now\t1.0", "slurm\tno sinfo: error: timed out", "end\t")).slurm == "sinfo: error: timed out"


@pytest.mark.parametrize(
    "lines", [(), ("now\t1.0",), ("end\t",), ("now\tyesterday", "end\t"), ("now\t1.0", "root\tx y /z", "end\t")]
)
async def test_an_answer_that_is_none_is_an_error(lines: tuple[str, ...]) -> None:
    with pytest.raises(ProbeOutputError):
        await answered(*lines)


class Writer(Probe):
    name = "writer"
    summary = "writes"
    tools = {"fio": "fio", "xhpl": ""}  # noqa: RUF012
    versions = {"fio": "3.10"}  # noqa: RUF012
    options = {"scratch": "/scratch", "program": "xhpl", "gib": 1}  # noqa: RUF012

    def command(self, target: Target) -> Sequence[str]:
        return ["fio"]

    def parse(self, output: Output) -> Sequence[Fact]:
        return ()

    def space(self, options: object) -> float:
        return self.given(options).whole("gib") * 2.0**30  # type: ignore[arg-type]


class Reader(Probe):
    name = "reader"
    summary = "reads"

    def command(self, target: Target) -> Sequence[str]:
        return ["cat"]

    def parse(self, output: Output) -> Sequence[Fact]:
        return ()


class Root(Reader):
    name = "root"
    privileged = True


class Wiper(Reader):
    name = "wiper"
    safety = Safety.DESTROYS


PROBES: dict[str, Probe] = {probe.name: probe for probe in (Writer(), Reader(), Root(), Wiper())}
GOOD = Health(
    Sudo.ROOT,
    tools=MappingProxyType({"fio": "3.33", "xhpl": ""}),
    rooms=MappingProxyType({"/scratch": ScratchRoom(100 * 2**30, 50 * 2**30)}),
)


def needs(*probes: str, **options: str | int) -> Needs:
    found = Needs()
    for name in probes:
        found.add(PROBES[name], options)
    return found


def test_nothing_is_lacking_where_everything_is_there() -> None:
    assert needs("writer", "reader", "root").lacking(GOOD) is None


@pytest.mark.fault("F15")
@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ({"xhpl": ""}, "fio is not installed (Debian package fio)"),
        ({"fio": "3.33"}, "xhpl is not installed"),
        ({"fio": "3.9", "xhpl": ""}, "fio 3.9 is there, 3.10 or newer is needed (Debian package fio)"),
    ],
)
def test_a_tool_that_is_missing_or_too_old(tools: dict[str, str], words: str) -> None:
    lacking = needs("writer").lacking(replace(GOOD, tools=MappingProxyType(tools)))
    assert lacking == (FailedAt.MISSING_TOOL, words)


@pytest.mark.parametrize("version", ["3.10", "3.10.1", "4", ""])
def test_a_version_that_will_do_or_is_not_told(version: str) -> None:
    tools = MappingProxyType({"fio": version, "xhpl": ""})
    assert needs("writer").lacking(replace(GOOD, tools=tools)) is None


def test_an_option_says_where_a_tool_is() -> None:
    assert list(tools_of(PROBES["writer"], {"program": "/opt/hpl/xhpl"})) == [
        Tool("fio", "fio", "3.10"),
        Tool("/opt/hpl/xhpl"),
    ]


@pytest.mark.parametrize("probe", ["root", "wiper"])
def test_the_administrator_is_needed_by_probes_that_say_so(probe: str) -> None:
    for sudo, lacks in ((Sudo.FREE, False), (Sudo.PASSWORD, False), (Sudo.REFUSED, True), (Sudo.ABSENT, True)):
        lacking = needs(probe).lacking(replace(GOOD, sudo=sudo))
        assert (lacking is not None and lacking[0] is FailedAt.REFUSED) is lacks
    assert needs("reader").lacking(replace(GOOD, sudo=Sudo.ABSENT)) is None


@pytest.mark.fault("I18")
@pytest.mark.parametrize(("gib", "short"), [(1, False), (25, False), (26, True)])
def test_room_is_twice_what_is_written(gib: int, short: bool) -> None:
    lacking = needs("writer", gib=gib).lacking(GOOD)
    assert (lacking is not None) is short
    if lacking is not None:
        assert lacking[0] is FailedAt.REFUSED
        assert "/scratch has 53.7 GB free, 27.9 GB are to be written" in lacking[1]


@pytest.mark.fault("I18")
def test_a_tenth_is_left_and_what_is_not_known_is_not_short() -> None:
    nearly = replace(GOOD, rooms=MappingProxyType({"/scratch": ScratchRoom(1000, 105)}))
    assert short_of("/scratch", 6.0, nearly)
    assert not short_of("/scratch", 5.0, nearly)
    assert not short_of("/elsewhere", 1e15, nearly)


def a_round(probe: str, nodes: Sequence[Node], **options: str | int) -> Round:
    given = MappingProxyType(options)
    tests = tuple(Test(f"{probe}/{node.id}", probe, Target(node, None, given), 1) for node in nodes)
    return Round(1, probe, probe, tests, 1.0, "")


NODES = tuple(a_node(f"n{number}") for number in range(1, 5))


def test_the_largest_of_several_stages_counts() -> None:
    rounds = [a_round("writer", NODES[:2], gib=1), a_round("writer", NODES[:1], gib=4), a_round("reader", NODES)]
    found = needs_of(rounds, PROBES)
    assert found[NodeId("n1")]["writer"].rooms == {"/scratch": 4 * 2.0**30}
    assert found[NodeId("n2")]["writer"].rooms == {"/scratch": 2.0**30}
    assert set(found[NodeId("n3")]) == {"reader"}


class Played:
    """Answers by node; on n1 fio hangs, n2 lacks it, n3 talks nonsense, n4 cannot be reached."""

    def __init__(self) -> None:
        self.remotes: dict[str, FakeRemote] = {}

    async def remote(self, node: Node) -> Remote:
        if node.id == "n4":
            raise RemoteError(Failure(FailedAt.UNREACHABLE, "no route", node.id))
        tools = "tool\txhpl\n" if node.id == "n2" else "tool\tfio fio-3.33\ntool\txhpl\n"
        tools += "hung\tfio\n" if node.id == "n1" else ""
        said = "what?" if node.id == "n3" else f"now\t1.5\nuid\t0\nsudo\troot\n{tools}end\t\n"
        self.remotes[node.id] = FakeRemote(node.id).when("benchconsole-doctor", answers=Output((), said.encode()))
        return self.remotes[node.id]

    async def close(self) -> None:
        """Nothing is open."""


async def test_each_node_is_asked_once_and_only_what_is_known_to_be_lacking_is_told() -> None:
    reach = Played()
    rounds = [a_round("reader", NODES), a_round("writer", NODES), a_round("writer", NODES, gib=2)]
    found = await survey(reach, rounds, PROBES)
    words = "fio is not installed (Debian package fio)"
    assert found.lacks == {("writer", "n2"): Failure(FailedAt.MISSING_TOOL, words, NodeId("n2"))}
    assert found.hung == {("writer", "n1")}
    assert [len(remote.calls) for remote in reach.remotes.values()] == [1, 1, 1]


async def test_a_node_that_keeps_silent_is_late_and_what_it_says_later_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prerequisites, "PATIENCE", 0.05)
    may = asyncio.Event()

    class Late(Played):
        async def remote(self, node: Node) -> Remote:
            if node.id == "n2":
                await may.wait()
            return await super().remote(node)

    found = await survey(Late(), [a_round("writer", NODES)], PROBES)
    assert (dict(found.lacks), list(found.late)) == ({}, ["n2"])
    may.set()
    await found.late[NodeId("n2")]
    assert [node for _, node in found.lacks] == ["n2"]


async def test_nodes_of_which_nothing_is_needed_are_not_asked() -> None:
    reach = Played()
    assert await survey(reach, [a_round("reader", NODES)], PROBES) == Survey({}, frozenset())
    assert reach.remotes == {}
