"""The messages of srun and salloc, taken down from Slurm 22.05.8; real ones are in the scenarios."""

import json
from collections.abc import Sequence
from contextlib import nullcontext

import pytest

from benchconsole.probes.model.measuring import FailedAt, Failure, Output
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.reach.slurm.slurm_reach import Allocation, SlurmReach, SlurmRemote, Wish, _Step, through_slurm
from benchconsole.probes.testing import FakeReach, FakeRemote, a_node
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId

NODES = [a_node(f"n{index}", f"10.0.0.{index}") for index in (1, 2, 3)]
NAMES = [node.id for node in NODES]


def _sinfo(**states: str) -> Output:
    entries = [{"name": name, "state": state, "state_flags": [], "reason": "why"} for name, state in states.items()]
    return Output((), json.dumps({"nodes": entries}).encode())


UP = _sinfo(n1="idle", n2="allocated", n3="idle")


def _said(step: _Step, out: bytes, err: bytes = b"", status: int = 0, seconds: float = 0.1) -> Output:
    mark = step.nonce.encode() + b"\n"
    return Output(("srun",), b"prolog says hi\n" + mark + out, b"srun: noise\n" + mark + err, status, None, seconds)


def _step() -> _Step:
    return _Step(NodeId("n2"), 7, ("fio", "x"), 30.0)


def test_a_steps_output_is_the_commands_own() -> None:
    step = _step()
    added = b"mine\nsrun: error: n2: task 0: Exited with exit code 3\nsrun: launch/slurm: _step_signal: Terminating\nslurmstepd-n2: x\n"
    found = step.result(_said(step, b"rates\n", added, 3))

    assert (found.stdout, found.stderr, found.exit_status) == (b"rates\n", b"mine\n", 3)
    assert (found.argv, found.node) == (("fio", "x"), "n2")


@pytest.mark.parametrize(
    ("status", "said", "stage", "words"),
    [
        (1, "srun: error: Slurm job 7 has expired\n", FailedAt.LOST, "allocation 7 has ended"),
        (1, "srun: error: Unable to create step for job 7: Job/step already completing or completed\n", FailedAt.LOST, "has ended"),
        (1, "srun: error: Unable to create step for job 7: Requested node configuration is not available\n", FailedAt.UNREACHABLE, "starts nothing on it"),
        (1, "srun: error: Task launch for StepId=7.0 failed on node n2: Communication connection failure\n", FailedAt.UNREACHABLE, "starts nothing"),
        (127, "sh: srun: not found\n", FailedAt.MISSING_TOOL, "srun is not installed"),
        (1, "srun: cluster configuration lacks support for cpu binding\nsrun: error: odd\n", FailedAt.TOOL, "srun: error: odd"),
        (137, "srun: error: n2: task 0: Killed\nsrun: Force Terminated StepId=7.1\n", FailedAt.KILLED, "fio was killed (Killed)"),
        (0, "", FailedAt.TOOL, "no message"),
    ],
)  # fmt: skip
def test_a_step_that_never_began_says_why(status: int, said: str, stage: FailedAt, words: str) -> None:
    with pytest.raises(RemoteError) as raised:
        _step().result(Output(("srun",), b"", said.encode(), status))

    assert (raised.value.failure.stage, raised.value.failure.node) == (stage, "n2")
    assert words in raised.value.failure.detail


@pytest.mark.fault("X13")
@pytest.mark.parametrize(
    ("status", "said", "stage"),
    [
        (1, b"srun: error: Node failure on n2\n", FailedAt.LOST),
        (143, b"slurmstepd-n2: error: *** STEP 7.1 ON n2 CANCELLED AT 2026-11-21T20:58:10 ***\n", FailedAt.LOST),
        (
            1,
            b"slurmstepd: error: *** STEP 7.1 ON n2 CANCELLED AT 2026-11-21T20:58:10 DUE TO TIME LIMIT ***\n",
            FailedAt.LOST,
        ),
    ],
)
def test_a_step_that_was_ended_with_its_node_or_allocation_gives_no_output(
    status: int, said: bytes, stage: FailedAt
) -> None:
    step = _step()
    with pytest.raises(RemoteError) as raised:
        step.result(_said(step, b"half a rate", said, status))

    assert raised.value.failure.stage is stage
    assert raised.value.output is not None
    assert raised.value.output.stdout == b"half a rate"


def test_a_command_that_the_node_ended_for_its_time_has_timed_out() -> None:
    step = _step()
    with pytest.raises(RemoteError) as raised:
        step.result(_said(step, b"", b"", 124, seconds=30.2))

    assert raised.value.failure.detail == "no end within 30 s"
    assert step.result(_said(step, b"", b"", 124, seconds=2.0)).exit_status == 124


@pytest.mark.parametrize("stage", [FailedAt.TIMEOUT, FailedAt.FLOODED, FailedAt.CANCELLED, FailedAt.LOST])
def test_our_own_end_of_a_step_is_not_blamed_on_slurm(stage: FailedAt) -> None:
    step = _step()
    output = _said(step, b"x", b"slurmstepd: error: *** STEP 7.1 ON n2 CANCELLED AT x ***\n", 143)
    error = RemoteError(Failure(stage, "words", NodeId("head")), output if stage is not FailedAt.LOST else None)

    found = step.translated(error).failure
    assert (found.stage, found.detail, found.node) == (stage, "words", "n2")


def test_a_killed_command_is_named_and_not_srun() -> None:
    step = _step()
    output = replace(_said(step, b"x", b"srun: error: n2: task 0: Killed\n", 137), signal="KILL")
    error = RemoteError(Failure(FailedAt.KILLED, "srun was killed", NodeId("head")), output)

    assert step.translated(error).failure.detail == "fio was killed by SIGKILL, not by us"


async def test_a_command_is_a_step_of_one_node_beside_the_others() -> None:
    door = FakeRemote("head", lenient=True)
    with pytest.raises(RemoteError):
        await SlurmRemote(door, 7, NodeId("n2"), "s1").run(["fio", "$(id)"], timeout=30, stdin=b"x")

    (call,) = door.calls
    assert call.argv[:6] == ("srun", "--jobid=7", "--overlap", "--nodelist=n2", "--nodes=1", "--ntasks=1")
    assert "--input=all" in call.argv
    assert call.argv[-5:] == ("s1", "0", "30", "fio", "$(id)")
    assert call.stdin == b"x"
    assert "$(id)" not in call.argv[call.argv.index("-c") + 1]


@pytest.mark.parametrize(
    ("queue", "stage", "words"),
    [
        (Output((), b"RUNNING\n"), FailedAt.KILLED, "fio was killed by SIGTERM, not by us"),
        (Output((), b"COMPLETING\n"), FailedAt.LOST, "allocation 7 has ended: completing"),
        (
            Output((), b"", b"slurm_load_jobs error: Invalid job id specified\n", 1),
            FailedAt.LOST,
            "it is not in the queue",
        ),
        (RemoteError(Failure(FailedAt.LOST, "gone", NodeId("head"))), FailedAt.KILLED, "not by us"),
    ],
)
async def test_a_command_that_somebody_killed_asks_whether_its_allocation_is_gone(
    queue: Output | RemoteError, stage: FailedAt, words: str
) -> None:
    step = _step()
    door = FakeRemote("head").when("squeue", answers=queue)

    async def ended() -> Output:
        return replace(_said(step, b"half", b"", 143), signal="TERM")

    with pytest.raises(RemoteError) as raised:
        await SlurmRemote(door, 7, NodeId("n2"), "s1").settled(step, ended())
    assert raised.value.failure.stage is stage
    assert words in raised.value.failure.detail
    assert raised.value.output is not None
    assert raised.value.output.stdout == b"half"


# -- the allocation


def _door(
    sinfo: Output = UP, squeue: Sequence[Output | RemoteError] = (), salloc: Output | RemoteError | None = None
) -> FakeRemote:
    door = FakeRemote("head")
    door.when("sinfo", answers=sinfo)
    door.when("salloc", answers=salloc or Output((), b"", b"salloc: Granted job allocation 7\n", None))
    door.when("squeue", answers=list(squeue) or Output((), b"7|benchconsole-s1|RUNNING\n"))
    door.when("scancel", answers=Output((), b""))
    return door


def _asked(door: FakeRemote, program: str) -> list[tuple[str, ...]]:
    return [call.argv for call in door.calls if call.argv[0] == program]


async def test_an_allocation_is_asked_for_by_name_and_held() -> None:
    door = _door()
    allocation = Allocation(door, "s1", Wish(partition="lab", account="hpc", seconds=90))
    await allocation.open(NAMES)

    (asked,) = _asked(door, "salloc")
    assert asked == (
        "salloc", "--no-kill", "--nodes=3", "--nodelist=n[1-3]", "--job-name=benchconsole-s1", "--comment=benchconsole s1",
        "--time=2", "--exclusive", "--partition=lab", "--account=hpc", "sleep", "90",
    )  # fmt: skip
    assert allocation.job == 7
    assert [call.argv[0] for call in door.running] == ["salloc"]


async def test_nodes_that_slurm_has_down_are_left_out_and_named() -> None:
    door = _door(_sinfo(n1="idle", n2="down"))
    allocation = Allocation(door, "s1", Wish())
    await allocation.open(NAMES)

    assert allocation.left_out == {"n2": "Slurm has it down: why", "n3": "Slurm knows no node of this name"}
    assert "--nodelist=n1" in _asked(door, "salloc")[0]


async def test_without_a_node_that_is_up_nothing_is_asked_for() -> None:
    door = _door(_sinfo(n1="down", n2="down", n3="down"))
    with pytest.raises(RemoteError, match="none of n\\[1-3\\] is up in Slurm"):
        await Allocation(door, "s1", Wish()).open(NAMES)

    assert _asked(door, "salloc") == []


async def test_a_refusal_is_told_in_slurms_words() -> None:
    refused = Output((), b"", b"salloc: error: Job submit/allocate failed: Invalid partition name specified\n", 1)
    door = _door(salloc=refused)
    with pytest.raises(RemoteError) as raised:
        await Allocation(door, "s1", Wish(partition="x")).open(NAMES)

    assert raised.value.failure.stage is FailedAt.UNREACHABLE
    assert door.running == []


async def test_nodes_that_others_keep_are_in_use_and_the_request_is_taken_back() -> None:
    pending = Output((), b"7|benchconsole-s1|Resources\n")
    door = _door(salloc=Output((), b"", b"salloc: Pending job allocation 7\n", None), squeue=[pending])
    with pytest.raises(RemoteError) as raised:
        await Allocation(door, "s1", Wish(patience=5)).open(NAMES)

    assert raised.value.failure.stage is FailedAt.IN_USE
    assert "n[1-3] still in use after 5 s: Resources" in raised.value.failure.detail
    assert door.running == []


async def test_closing_cancels_what_is_still_there_and_carries_our_name() -> None:
    door = _door(
        squeue=[Output((), b"7|benchconsole-s1|RUNNING\n8|benchconsole-s10|RUNNING\n6|benchconsole-s1|COMPLETING\n")]
    )
    allocation = Allocation(door, "s1", Wish())
    await allocation.open(NAMES)
    await allocation.close()

    assert _asked(door, "scancel") == [("scancel", "7")]
    assert door.running == []


@pytest.mark.parametrize("name", ["--wrap=x", "a b", "$(id)", "x\ny"])
def test_a_partition_is_a_word(name: str) -> None:
    with pytest.raises(ValueError, match="expected a name of Slurm"):
        Wish(partition=name)


# -- the reach


async def test_one_allocation_serves_all_nodes_and_is_given_back() -> None:
    door = _door(_sinfo(n1="idle", n2="down", n3="idle"))
    inner = FakeReach({"head": door})
    reach = SlurmReach(inner, a_node("head"), "s1", NODES)

    assert [(await reach.remote(node)).node for node in (NODES[0], NODES[2])] == ["n1", "n3"]
    with pytest.raises(RemoteError, match="n2: unreachable: Slurm has it down: why"):
        await reach.remote(NODES[1])
    with pytest.raises(RemoteError, match="not among the nodes of the allocation"):
        await reach.remote(a_node("n9"))
    assert len(_asked(door, "salloc")) == 1
    await reach.close()
    assert door.running == []
    assert inner.closed


async def test_an_allocation_that_failed_fails_every_node_once() -> None:
    door = _door(salloc=Output((), b"", b"salloc: error: no\n", 1))
    reach = SlurmReach(FakeReach({"head": door}), a_node("head"), "s1", NODES)
    for node in NODES:
        with pytest.raises(RemoteError) as raised:
            await reach.remote(node)
        assert raised.value.failure.node == node.id
    assert len(_asked(door, "salloc")) == 1
    await reach.close()


@pytest.mark.parametrize(("stage", "is_told"), [(FailedAt.TIMEOUT, True), (FailedAt.LOST, False)])
async def test_the_way_to_the_head_is_closed_whatever_slurm_says_at_the_end(stage: FailedAt, is_told: bool) -> None:
    silent = RemoteError(Failure(stage, "no answer", NodeId("head")))
    inner = FakeReach({"head": _door(squeue=[Output((), b"7|benchconsole-s1|RUNNING\n"), silent])})
    reach = SlurmReach(inner, a_node("head"), "s1", NODES)
    await reach.remote(NODES[0])
    with pytest.raises(RemoteError, match="no answer") if is_told else nullcontext():
        await reach.close()
    assert inner.closed


async def test_a_reach_that_was_never_used_asks_nobody() -> None:
    inner = FakeReach({})
    await SlurmReach(inner, a_node("head"), "s1", NODES).close()

    assert inner.opened == []
    assert inner.closed


async def test_without_a_head_node_this_machine_is_asked() -> None:
    reach = through_slurm("s1", NODES, Wish())
    with pytest.raises(RemoteError) as raised:
        await reach.remote(NODES[0])
    await reach.close()

    assert raised.value.failure.stage in (FailedAt.MISSING_TOOL, FailedAt.OUTPUT, FailedAt.UNREACHABLE)
    assert raised.value.failure.node == "n1"
