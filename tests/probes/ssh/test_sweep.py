"""Leftovers on a node: found by their marker, ended by number and start time."""

import os
import signal
import subprocess
from pathlib import Path

from probes.sweep import Leftover, end, leftovers
from tests.probes.ssh.conftest import Bench, Server, eventually, node


def _left_behind(session: str, script: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(["sh", "-c", script], env={**os.environ, "BENCHCONSOLE_SESSION": session})


async def test_leftovers_are_found_and_ended(bench: Bench, server: Server) -> None:
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    polite = _left_behind(f"{bench.session}-old", "exec sleep 300")
    stubborn = _left_behind(f"{bench.session}-old", "trap '' TERM; sleep 300; sleep 300")
    foreign = _left_behind(f"{bench.session}-other", "exec sleep 300")
    try:
        await eventually(lambda: b"sleep" in _cmdline(polite.pid))
        found = await leftovers(remote, f"{bench.session}-old")
        by_pid = {entry.pid: entry for entry in found}
        assert {polite.pid, stubborn.pid} <= set(by_pid)
        assert by_pid[polite.pid].argv == ("sleep", "300")
        assert foreign.pid not in by_pid
        assert foreign.pid in {entry.pid for entry in await leftovers(remote)}
        assert await end(remote, found) == ()
        assert polite.wait() == -signal.SIGTERM
        assert stubborn.wait() == -signal.SIGKILL
        assert foreign.poll() is None
        assert await leftovers(remote, f"{bench.session}-old") == ()
    finally:
        for process in (polite, stubborn, foreign):
            process.kill()
            process.wait()


async def test_a_number_that_was_given_to_another_is_left_alone(bench: Bench, server: Server) -> None:
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    process = _left_behind("x", "exec sleep 300")
    try:
        assert await end(remote, [Leftover(process.pid, 1, "x", ("sleep",))]) == ()
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


async def test_the_search_does_not_find_itself_but_finds_what_still_runs(bench: Bench, server: Server) -> None:
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    assert await leftovers(remote, bench.session) == ()
    async with remote.start(["sh", "-c", "echo up; exec sleep 300"], timeout=60) as running:
        await running.says("up", timeout=10)
        found = await leftovers(remote, bench.session)
    assert ("sleep", "300") in [entry.argv for entry in found]
    assert {entry.session for entry in found} == {bench.session}


def _cmdline(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()
