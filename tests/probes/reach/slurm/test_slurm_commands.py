import pytest

from benchconsole.probes.model.errors import ProbeOutputError
from benchconsole.probes.model.measuring import Output
from benchconsole.probes.reach.slurm import occupied
from benchconsole.probes.testing import FakeRemote

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
