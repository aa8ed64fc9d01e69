"""A login that is not root: sshd treats it differently, and it may not look into others' processes."""

import asyncio
from pathlib import Path

import pytest

from benchconsole.probes.leftovers import find_processes
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.model.remote import RemoteError
from benchconsole.topology.copying import replace
from tests.probes.reach.ssh.conftest import UID, USER, Bench, eventually, node, ordinary, own_mounts


@own_mounts
@pytest.mark.parametrize("script", ["sleep 300", "trap '' TERM; setsid sleep 301 & sleep 300; sleep 302"])
async def test_an_ordinary_users_commands_end_as_roots_do(bench: Bench, tables: Path, script: str) -> None:
    server = ordinary(bench, tables)
    remote = await bench.reach(replace(bench.access(server), user=USER)).remote(node(server.address))
    assert (await remote.run(["id", "-u"], timeout=10)).text == f"{UID}\n"
    with pytest.raises(RemoteError) as raised:
        await remote.run(["sh", "-c", script], timeout=0.4)
    assert raised.value.failure.stage is FailedAt.TIMEOUT
    assert "did not confirm" not in raised.value.failure.detail
    assert bench.marked() == []

    task = asyncio.create_task(remote.run(["sh", "-c", script], timeout=60))
    await eventually(lambda: len(bench.marked()) >= 2)
    assert {entry.session for entry in await find_processes(remote)} == {bench.session}
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert bench.marked() == []
