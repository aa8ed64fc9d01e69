import json
from collections.abc import Sequence

import pytest

from benchconsole.probes.model.measuring import Output
from benchconsole.probes.reach.slurm.drain import DrainError, drain, reason_for, undrain
from benchconsole.probes.testing import FakeRemote

OURS = reason_for("s1", "iperf3", "throughput 2.9 Gb/s < 8 Gb/s")
FREE, DRAINED_BY_US, DRAINED_BY_THEM = ("idle", ""), ("drain", OURS), ("drain", "bad DIMM")


def _remote(*states: tuple[str, str], update: Output | None = None) -> FakeRemote:
    """A cluster of one node whose state is, one look after the other, as given."""
    answers = []
    for state, reason in states:
        flags = ["DRAIN"] if state == "drain" else []
        node = {"name": "n1", "state": "idle", "state_flags": flags, "reason": reason}
        answers.append(Output((), json.dumps({"nodes": [node]}).encode()))
    return FakeRemote("head").when("sinfo", answers=answers).when("scontrol", answers=update or Output((), b""))


def _orders(remote: FakeRemote) -> Sequence[tuple[str, ...]]:
    return [call.argv for call in remote.calls if call.argv[0] == "scontrol"]


def test_the_reason_names_us_the_session_and_both_numbers() -> None:
    assert OURS == "benchconsole s1 iperf3: throughput 2.9 Gb/s < 8 Gb/s"
    hostile = reason_for("s1", "iperf3", "a\nb\x1b" + "c" * 400)
    assert hostile.isprintable()
    assert len(hostile) == 200


async def test_a_free_node_is_drained_with_our_reason() -> None:
    remote = _remote(FREE, DRAINED_BY_US)
    await drain(remote, "n1", OURS)

    assert _orders(remote) == [("scontrol", "update", "nodename=n1", "state=drain", f"reason={OURS}")]


async def test_somebody_elses_drain_is_not_overwritten() -> None:
    remote = _remote(DRAINED_BY_THEM)
    with pytest.raises(DrainError, match="drained already, not by us \\(bad DIMM\\)"):
        await drain(remote, "n1", OURS)
    assert _orders(remote) == []


async def test_only_our_own_reason_is_written() -> None:
    remote = _remote(FREE)
    with pytest.raises(DrainError, match="expected one that begins with"):
        await drain(remote, "n1", "because")
    assert remote.calls == []


async def test_scontrol_is_not_believed() -> None:
    with pytest.raises(DrainError, match="does not show it as drained"):
        await drain(_remote(FREE, FREE), "n1", OURS)


async def test_a_refusal_of_slurm_is_told() -> None:
    refused = Output((), b"", b"slurm_update error: Invalid user id\n", 1)
    with pytest.raises(DrainError, match="Invalid user id"):
        await drain(_remote(FREE, update=refused), "n1", OURS)


async def test_what_we_drained_is_undrained() -> None:
    remote = _remote(DRAINED_BY_US, FREE)

    assert await undrain(remote, "n1") is True
    assert _orders(remote) == [("scontrol", "update", "nodename=n1", "state=resume")]


@pytest.mark.parametrize("state", [DRAINED_BY_THEM, ("drain", ""), ("drain", "not benchconsole s1")])
async def test_a_foreign_drain_is_left_alone(state: tuple[str, str]) -> None:
    remote = _remote(state)
    with pytest.raises(DrainError, match="was not drained by us"):
        await undrain(remote, "n1")
    assert _orders(remote) == []


async def test_a_node_in_service_needs_nothing() -> None:
    remote = _remote(FREE)

    assert await undrain(remote, "n1") is False
    assert _orders(remote) == []


async def test_a_node_that_slurm_does_not_know_is_named() -> None:
    with pytest.raises(DrainError, match="Slurm knows no node 'n9'"):
        await undrain(_remote(FREE), "n9")


async def test_without_slurm_nothing_is_drained() -> None:
    with pytest.raises(DrainError, match="belongs to no Slurm cluster"):
        await drain(FakeRemote("head").when("sinfo", answers=Output((), b"", b"", 127)), "n1", OURS)
