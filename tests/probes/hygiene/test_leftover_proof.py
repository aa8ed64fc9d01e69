"""The proof at the end of a run: what was left is ended and removed, what cannot be asked is never called clean."""

import asyncio
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import MappingProxyType

import pytest

from benchconsole.probes.hygiene import leftover_proof
from benchconsole.probes.hygiene.leftover_proof import prove, touched
from benchconsole.probes.model.measuring import FailedAt, Output, Proof, Round, Target, Test
from benchconsole.probes.model.remote import Remote, Running
from benchconsole.probes.testing import HANGS, FakeRemote, a_node
from benchconsole.probes.tools.fio.device_probe import FioDevice
from benchconsole.topology.model.fabric import Node, NodeId
from tests.probes.hygiene.local import Here, Reached, left_behind, made_by

SESSION = f"proof-{os.getpid()}"
CLEAN = Output((), b"\x1e")
HERE = a_node("here")


@pytest.fixture
def leftover() -> Iterator["subprocess.Popen[bytes]"]:
    """A process of a session that did not end with it."""
    process = left_behind(SESSION, "exec sleep 300")
    yield process
    process.kill()
    process.wait()


def reach(**remotes: Remote) -> Reached:
    return Reached(dict(remotes))


async def test_a_clean_node_costs_one_command() -> None:
    remote = Here("search")
    (found,) = await prove(reach(here=remote), [HERE], SESSION)
    assert found == Proof(NodeId("here"), asked=True)
    assert found.clean
    assert len(remote.calls) == 1


async def test_what_is_left_is_ended_and_removed_and_what_belongs_to_others_is_not(
    tmp_path: Path, leftover: "subprocess.Popen[bytes]"
) -> None:
    made, other = made_by(SESSION, tmp_path), made_by("another", tmp_path)
    foreign = left_behind("another", "exec sleep 300")
    try:
        (found,) = await prove(reach(here=Here("search")), [HERE], SESSION, scratch={HERE.id: [str(tmp_path)]})
        assert foreign.poll() is None
    finally:
        foreign.kill()
        foreign.wait()
    assert found.clean
    assert found.ended == 2
    assert leftover.wait(10) != 0
    assert not made.exists()
    assert other.exists()


async def test_what_stays_is_named_with_its_reason(tmp_path: Path) -> None:
    made = made_by(SESSION, tmp_path)
    (made / ".benchconsole").unlink()
    (found,) = await prove(reach(here=Here("search")), [HERE], SESSION, scratch={HERE.id: [str(tmp_path)]})
    assert not found.clean
    assert (found.asked, found.ended) == (True, 0)
    assert found.left == (f"directory {made}, which has no file .benchconsole of ours in it",)
    assert made.exists()


async def test_a_node_that_cannot_be_asked_or_searched_is_proven_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftover_proof, "PATIENCE", 0.05)
    nodes = [a_node(name) for name in ("lost", "empty", "appliance", "silent", "good")]
    lost = FakeRemote("lost")
    lost.when("list", answers=lost.failure(FailedAt.LOST, "the node went away"))
    found = await prove(
        reach(
            lost=lost,
            empty=FakeRemote("empty").when("list", answers=Output((), b"sh: not found\n", b"", 127)),
            appliance=FakeRemote("appliance").when("list", answers=Output((), b"\x1e?there is no grep\x1e")),
            silent=FakeRemote("silent").when("list", answers=HANGS),
            good=FakeRemote("good").when("list", answers=CLEAN),
        ),
        nodes,
        SESSION,
    )
    assert [each.node for each in found] == [node.id for node in nodes]
    assert [each.asked for each in found] == [False, False, False, False, True]
    said = dict(zip("abcd", (each.detail for each in found), strict=False))
    assert said["a"] == "connection lost: the node went away"
    assert "exit status 127" in said["b"]
    assert said["c"] == "there is no grep"
    assert "no answer within" in said["d"]
    assert [each.clean for each in found].count(True) == 1


async def test_no_more_nodes_are_asked_at_once_than_was_said() -> None:
    gauge = Gauge()
    nodes = [a_node(f"n{number}") for number in range(200)]
    found = await prove(reach(**{node.id: gauge for node in nodes}), nodes, SESSION, at_once=7)
    assert gauge.most == 7
    assert all(each.clean for each in found)
    assert len(found) == 200


class Gauge:
    """A node that counts how many ask it at once."""

    node = NodeId("gauge")

    def __init__(self) -> None:
        self.now = self.most = 0

    async def run(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", privileged: bool = False) -> Output:
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(3):
            await asyncio.sleep(0)
        self.now -= 1
        return CLEAN

    def start(self, argv: Sequence[str], *, timeout: float) -> AbstractAsyncContextManager[Running]:
        raise NotImplementedError("nothing is kept running here")  # the search only runs commands to their end


def test_what_a_plan_touches_follows_from_it_alone() -> None:
    one, two, three = (a_node(name) for name in ("n1", "n2", "n3"))
    rounds = [_round(1, one, "/scratch"), _round(2, two, "relative"), _round(3, one, "/tmp"), _round(4, three, None)]
    found = touched([*rounds, rounds[0]])
    assert [node.id for node in found.nodes] == ["n1", "n2", "n3"]
    assert dict(found.scratch) == {"n1": ("/scratch", "/tmp")}
    assert touched([]).nodes == ()


def test_what_destroys_runs_as_the_administrator_who_is_searched_too() -> None:
    rounds = [_round(1, HERE, None), _round(2, a_node("st1"), None, "fio-device")]
    assert touched(rounds, {"fio-device": FioDevice()}).privileged == {"st1"}
    assert touched(rounds).privileged == frozenset()


async def test_the_administrator_looks_at_the_processes_of_every_user() -> None:
    remote = FakeRemote("here").when("list", answers=CLEAN)
    await prove(reach(here=remote), [HERE], SESSION, privileged=[HERE.id])
    assert remote.calls[0].argv[-1] == "all"


def _round(number: int, node: Node, root: str | None, probe: str = "fio") -> Round:
    options = MappingProxyType({"scratch": root} if root else {})
    return Round(number, probe, probe, (Test(f"{number}", probe, Target(node, options=options), number),), 1.0, "")


async def test_a_node_that_does_not_answer_is_not_awaited_when_the_others_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftover_proof, "LATE", 0.05)
    remotes = {name: FakeRemote(name).when_matching(lambda argv: True, answers=CLEAN) for name in ("n1", "n2")}
    remotes["n3"] = FakeRemote("n3").when_matching(lambda argv: True, answers=HANGS)
    found = await prove(reach(**remotes), [a_node(name) for name in ("n3", "n1", "n2")], SESSION)
    assert [(each.node, each.asked) for each in found] == [("n3", False), ("n1", True), ("n2", True)]
    assert found[0].detail.startswith("no answer within")
