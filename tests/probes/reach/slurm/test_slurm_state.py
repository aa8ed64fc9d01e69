import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.model.errors import ProbeOutputError
from benchconsole.probes.model.measuring import Output
from benchconsole.probes.reach.slurm.slurm_state import job_name, jobs, nodes, occupations, occupied
from benchconsole.probes.testing import FakeRemote

ANSWERS = Path(__file__).with_name("answers")
VERSIONS = ("22.05", "24.11")


def _text(command: str, version: str = "22.05") -> str:
    return (ANSWERS / f"{command}-{version}.json").read_text()


@pytest.mark.parametrize("version", VERSIONS)
def test_who_is_on_which_node_is_said_in_words_and_free_nodes_are_left_out(version: str) -> None:
    until = "runs until 2026-11-21 22:43 UTC"

    assert occupations(_text("squeue", version), _text("sinfo", version)) == {
        "n2": f"job 15 of bench, {until}; draining: benchconsole s1 iperf3: 2.9 < 8",
        "n3": f"job 15 of bench, {until}",
        "n4": "job 16 of bench, without a time limit",
        "n5": "drained: bad DIMM: slot 3",
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_jobs_that_are_over_or_wait_hold_no_node(version: str) -> None:
    found = {job.id: job for job in jobs(_text("squeue", version))}

    assert {number for number, job in found.items() if job.on_nodes} == {15, 16}
    assert found[15].name == "train $(id)"
    assert found[15].nodes == ("n2", "n3")
    assert {job.states for job in found.values() if not job.on_nodes} >= {frozenset({"PENDING"})}


@pytest.mark.parametrize("version", VERSIONS)
def test_state_and_flags_are_read_together(version: str) -> None:
    found = nodes(_text("sinfo", version))

    assert list(found) == [f"n{index}" for index in range(1, 9)]
    assert [name for name, node in found.items() if node.drained] == ["n2", "n5"]


def _squeue(**fields: Any) -> str:
    job = {"job_id": 7, "job_state": "RUNNING", "nodes": "n1", "user_name": "alice", "name": "x"}
    return json.dumps({"errors": [], "jobs": [{**job, **fields}]})


def _sinfo(state: str = "idle", *flags: str, reason: str = "") -> str:
    return json.dumps({"errors": [], "nodes": [{"name": "n1", "state": state, "state_flags": flags, "reason": reason}]})


NO_JOBS = json.dumps({"jobs": []})


@pytest.mark.parametrize(
    ("state", "flags", "words"),
    [
        ("idle", ["DRAIN"], "drained: why"),
        ("down", ["DRAIN"], "drained: why; down"),
        ("down", ["NOT_RESPONDING"], "down: why; not responding: why"),
        ("idle", ["MAINTENANCE"], "in maintenance: why"),
        ("idle", ["RESERVED"], "reserved: why"),
        ("unknown", [], "unknown: why"),
        ("idle", ["REBOOT_ISSUED"], "reboot issued: why"),
        ("idle", ["SOMETHING_NEW"], "something new: why"),
    ],
)
def test_whatever_is_not_known_to_be_harmless_counts_as_occupied(state: str, flags: list[str], words: str) -> None:
    assert occupations(NO_JOBS, _sinfo(state, *flags, reason="why")) == {"n1": words}


@pytest.mark.parametrize("state", ["idle", "IDLE", "idle*"])
def test_an_idle_node_is_free(state: str) -> None:
    assert occupations(NO_JOBS, _sinfo(state, "CLOUD", "PLANNED")) == {}


def test_a_node_that_is_allocated_to_a_hidden_job_is_occupied() -> None:
    assert occupations(NO_JOBS, _sinfo("allocated")) == {"n1": "allocated, by a job that is not shown to us"}
    assert occupations(NO_JOBS, _sinfo("idle", "COMPLETING")) == {"n1": "completing, by a job that is not shown to us"}


def test_our_own_allocation_occupies_nothing() -> None:
    ours = _squeue(name=job_name("s1"))

    assert occupations(ours, _sinfo("allocated"), session="s1") == {}
    assert set(occupations(ours, _sinfo("allocated"), session="s2")) == {"n1"}
    assert set(occupations(ours, _sinfo("allocated"))) == {"n1"}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"job_state": ["COMPLETED", "COMPLETING"]}, "job 7 of alice, is ending"),
        ({"job_state": "SUSPENDED"}, "job 7 of alice, without a time limit"),
        ({"job_state": "NEW_STATE"}, "job 7 of alice, without a time limit"),
        ({"end_time": 1795295562, "time_limit": None}, "job 7 of alice, without a time limit"),
        ({"end_time": 1795295562}, "job 7 of alice, runs until 2026-11-21 21:12 UTC"),
        ({"end_time": 2**62}, "job 7 of alice, without a time limit"),
        ({"end_time": {"set": True, "infinite": True, "number": 0}}, "job 7 of alice, without a time limit"),
        ({"user_name": "", "user_id": 1000}, "job 7 of 1000, without a time limit"),
        ({"user_name": "\x1b[31mroot\n"}, "job 7 of [31mroot, without a time limit"),
    ],
)
def test_a_job_in_words(fields: dict[str, Any], words: str) -> None:
    assert occupations(_squeue(**fields), _sinfo()) == {"n1": words}


def test_foreign_text_is_one_printable_line() -> None:
    hostile = "a\x1b]0;x\x07\nb" + "c" * 1000

    (words,) = occupations(NO_JOBS, _sinfo("idle", "DRAIN", reason=hostile)).values()

    assert words.isprintable()
    assert len(words) < 140


SPOILED: dict[str, Callable[[str], str]] = {
    "empty": lambda text: "",
    "notice alone": lambda text: "slurm_load_jobs error: Unable to contact slurm controller\n",
    "error within": lambda text: text.replace('"errors": [', '"errors": [{"error": "down"}', 1),
    "other document": lambda text: '{"steps": []}',
    "no list": lambda text: '{"jobs": {}, "nodes": 1, "sinfo": null}',
}


@pytest.mark.parametrize("how", SPOILED)
def test_an_answer_that_cannot_be_trusted_is_an_error_and_no_idle_cluster(how: str) -> None:
    spoiled = SPOILED[how]
    with pytest.raises(ProbeOutputError):
        jobs(spoiled(_text("squeue")))
    if how != "no list":
        with pytest.raises(ProbeOutputError):
            nodes(spoiled(_text("sinfo")))


@pytest.mark.parametrize(
    "fields", [{"nodes": "n[1-"}, {"nodes": "n[1-99999999]"}, {"job_state": None}, {"job_id": None}]
)
def test_a_job_that_cannot_be_placed_is_an_error(fields: dict[str, Any]) -> None:
    with pytest.raises(ProbeOutputError):
        occupations(_squeue(**fields), _sinfo())


@settings(max_examples=60)
@given(st.sampled_from(VERSIONS), st.sampled_from(("squeue", "sinfo")), st.floats(0, 0.9999))
def test_a_cut_answer_is_an_error(version: str, command: str, share: float) -> None:
    text = _text(command, version).rstrip()
    with pytest.raises(ProbeOutputError):
        (jobs if command == "squeue" else nodes)(text[: int(share * len(text))])


def test_notices_in_front_are_skipped() -> None:
    assert nodes("warning: old client\n" + _text("sinfo")) == nodes(_text("sinfo"))


NO_CLUSTER = (
    b"squeue: fatal: fetch_config: DNS SRV lookup failed\nsqueue: fatal: Could not establish a configuration source\n"
)


async def test_a_machine_without_slurm_has_none() -> None:
    remote = FakeRemote().when("squeue", answers=Output((), b"", b"squeue: not found\n", 127))

    assert await occupied(remote) is None


async def test_a_client_without_a_cluster_is_no_slurm() -> None:
    remote = FakeRemote().when("squeue", answers=Output((), b"", NO_CLUSTER, 1))

    assert await occupied(remote) is None


async def test_a_controller_that_does_not_answer_is_an_error() -> None:
    down = Output((), b"", b"slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n", 1)

    with pytest.raises(ProbeOutputError, match="Unable to contact slurm controller"):
        await occupied(FakeRemote().when("squeue", answers=down))


async def test_both_answers_are_put_together() -> None:
    jobs = b'{"jobs": [{"job_id": 1, "job_state": "RUNNING", "nodes": "n2", "user_name": "a"}]}'
    nodes = b'{"nodes": [{"name": "n1", "state": "idle", "state_flags": ["DRAIN"], "reason": "r"}]}'
    remote = FakeRemote().when("squeue", answers=Output((), jobs)).when("sinfo", answers=Output((), nodes))

    assert await occupied(remote) == {"n2": "job 1 of a, without a time limit", "n1": "drained: r"}
