"""Commands on a real sshd: what they say, how they exit, how they share a connection."""

import asyncio
import tracemalloc
from pathlib import Path

import pytest

from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.reach.watched_command import KEPT_OF_FLOOD
from tests.probes.reach.ssh.conftest import Bench, Server, node


async def test_both_streams_and_the_exit_status_arrive(bench: Bench, server: Server) -> None:
    remote = await bench.reach(bench.access(server)).remote(node(server.address, "n1"))
    output = await remote.run(["sh", "-c", "echo out; echo err >&2; exit 7"], timeout=10)
    assert (output.stdout, output.stderr, output.exit_status) == (b"out\n", b"err\n", 7)
    assert (output.node, output.signal, output.truncated) == ("n1", None, False)
    assert output.argv == ("sh", "-c", "echo out; echo err >&2; exit 7")


@pytest.mark.fault("I03")
async def test_arguments_reach_the_command_as_they_are(bench: Bench, server: Server) -> None:
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    hostile = ["$(touch x)", "`id`", "a b", "'", '"', "\\n", "-n", "", "é", "*", "!x", "a\nb"]
    output = await remote.run(["printf", "%s\\037", *hostile], timeout=10)
    assert output.stdout.decode().split("\x1f")[:-1] == hostile


async def test_every_byte_passes(bench: Bench, server: Server) -> None:
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    data = bytes(range(256)) * 64
    output = await remote.run(["cat"], timeout=10, stdin=data)
    assert output.stdout == data
    assert "\ufffd" in output.text


async def test_stdin_ends_and_stays_out_of_the_argument_lists(bench: Bench, server: Server) -> None:
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    script = "read -r secret; cat; grep -lsa canary-47[1]1 /proc/[0-9]*/cmdline /proc/[0-9]*/environ; echo ${#secret}"
    output = await remote.run(["sh", "-c", script], timeout=10, stdin=b"canary-" + b"4711\nrest\n")
    assert output.stdout.splitlines() == [b"rest", b"11"]


async def test_stdin_that_cannot_be_passed_is_refused(bench: Bench, server: Server) -> None:
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    with pytest.raises(ValueError, match="stdin"):
        await remote.run(["cat"], timeout=10, stdin=bytes(1024 * 1024))


async def test_without_stdin_there_is_nothing_to_read(bench: Bench, server: Server) -> None:
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    assert (await remote.run(["cat"], timeout=10)).stdout == b""


async def test_a_death_by_signal_has_a_name(bench: Bench, server: Server) -> None:
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    output = await remote.run(["sh", "-c", "kill -SEGV $$"], timeout=10)
    assert (output.exit_status, output.signal) == (139, "SEGV")


@pytest.mark.fault("F15")
async def test_a_missing_tool_is_an_output(bench: Bench, server: Server) -> None:
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    output = await remote.run(["no-such-tool"], timeout=10)
    assert output.exit_status == 127
    assert "no-such-tool" in output.error_text


@pytest.mark.fault("F15")
async def test_the_environment_is_ours(bench: Bench, server: Server) -> None:
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    variables = dict(line.split("=", 1) for line in (await remote.run(["env"], timeout=10)).text.splitlines())
    assert variables["LC_ALL"] == "C"
    assert variables["BENCHCONSOLE_SESSION"] == bench.session
    assert "/usr/sbin" in variables["PATH"].split(":")


@pytest.mark.fault("F15")
async def test_login_scripts_do_not_mix_with_the_output(bench: Bench) -> None:
    bench.file(".bashrc", "echo welcome; echo watch out >&2; printf 'no newline'\n")
    server = bench.sshd()
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    output = await remote.run(["sh", "-c", "echo a; echo b >&2"], timeout=10)
    assert (output.stdout, output.stderr) == (b"a\n", b"b\n")


async def test_a_login_that_runs_nothing_is_no_output(bench: Bench) -> None:
    server = bench.sshd("ForceCommand echo This account is currently not available.; exit 1")
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    with pytest.raises(RemoteError) as raised:
        await remote.run(["true"], timeout=10)
    assert raised.value.failure.stage is FailedAt.LOGIN
    assert "currently not available" in raised.value.failure.detail


async def test_one_login_serves_many_commands_and_callers(bench: Bench, server: Server) -> None:
    reach = bench.reach(bench.access(server))
    remotes = await asyncio.gather(*(reach.remote(node(server.address)) for _ in range(5)))
    for remote in remotes:
        await remote.run(["true"], timeout=10)
    assert server.logged("Accepted publickey") == 1


async def test_twenty_commands_at_once_open_no_more_connections_than_hold_them(bench: Bench, server: Server) -> None:
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    outputs = await asyncio.gather(*(remote.run(["echo", str(n)], timeout=20) for n in range(20)))
    assert [output.text for output in outputs] == [f"{n}\n" for n in range(20)]
    assert server.logged("Accepted publickey") <= 3


async def test_sixteen_commands_run_at_the_same_time_on_one_node(bench: Bench, server: Server, tmp_path: Path) -> None:
    """A server that is read by eight and writes to eight others: none may wait for another to end."""
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    script = 'touch "$1/$2"; while [ "$(ls "$1" | wc -l)" -lt 16 ]; do :; done'
    outputs = await asyncio.gather(
        *(remote.run(["sh", "-c", script, "sh", str(tmp_path), f"n{n}"], timeout=30) for n in range(16))
    )
    assert [output.exit_status for output in outputs] == [0] * 16


@pytest.mark.fault("F11")
@pytest.mark.parametrize("allowed", [1, 3])
async def test_a_node_that_allows_fewer_sessions_is_waited_for(bench: Bench, allowed: int) -> None:
    server = bench.sshd(f"MaxSessions {allowed}")
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    outputs = await asyncio.gather(*(remote.run(["echo", str(n)], timeout=20) for n in range(12)))
    assert sorted(int(output.text) for output in outputs) == list(range(12))


@pytest.mark.fault("F13")
@pytest.mark.parametrize("stream", ["", ">&2"])
async def test_a_flood_is_cut_costs_no_memory_and_blocks_nobody(bench: Bench, server: Server, stream: str) -> None:
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    await remote.run(["true"], timeout=10)
    tracemalloc.start()
    try:
        with pytest.raises(RemoteError) as raised:
            await remote.run(["sh", "-c", f"yes | head -c 104857600 {stream}"], timeout=30)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    output = raised.value.output
    assert raised.value.failure.stage is FailedAt.FLOODED
    assert output is not None
    assert output.truncated
    assert len(output.stdout) + len(output.stderr) == KEPT_OF_FLOOD
    assert peak < 24 * 1024**2
    assert bench.marked() == []
    assert (await remote.run(["echo", "still here"], timeout=2)).text == "still here\n"
    assert server.logged("Accepted publickey") == 1


async def test_a_long_answer_within_the_bound_is_whole(bench: Bench, server: Server) -> None:
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    output = await remote.run(["head", "-c", "4000000", "/dev/zero"], timeout=20)
    assert output.stdout == bytes(4000000)


async def test_a_started_command_speaks_and_ends_with_its_context(bench: Bench, server: Server) -> None:
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    async with remote.start(["sh", "-c", "echo listening; sleep 300"], timeout=60) as running:
        await running.says("listening", timeout=10)
        assert bench.marked() != []
        assert (await remote.run(["echo", "meanwhile"], timeout=10)).text == "meanwhile\n"
    assert bench.marked() == []


async def test_a_started_command_is_heard_on_stderr_and_to_its_end(bench: Bench, server: Server) -> None:
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    async with remote.start(["sh", "-c", "echo up >&2; echo done"], timeout=60) as running:
        await running.says("up", timeout=10)
        output = await running.output()
    assert (output.stdout, output.stderr, output.exit_status) == (b"done\n", b"up\n", 0)


@pytest.mark.parametrize(
    ("argv", "stage", "detail"),
    [
        (["no-such-server"], FailedAt.MISSING_TOOL, "no-such-server"),
        (["sh", "-c", "echo bind: in use >&2; exit 1"], FailedAt.TOOL, "bind: in use"),
        (["sh", "-c", "sleep 300"], FailedAt.TIMEOUT, "within 0.3 s"),
    ],
)
async def test_a_started_command_that_does_not_come_up_says_why(
    bench: Bench, server: Server, argv: list[str], stage: FailedAt, detail: str
) -> None:
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    limit = 0.3 if stage is FailedAt.TIMEOUT else 10
    with pytest.raises(RemoteError) as raised:
        async with remote.start(argv, timeout=60) as running:
            await running.says("ready", timeout=limit)
    assert raised.value.failure.stage is stage
    assert detail in raised.value.failure.detail
    assert bench.marked() == []


async def test_a_started_command_ends_after_its_time(bench: Bench, server: Server) -> None:
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    async with remote.start(["sleep", "300"], timeout=0.3) as running:
        with pytest.raises(RemoteError) as raised:
            await running.output()
        assert bench.marked() == []
    assert raised.value.failure.stage is FailedAt.TIMEOUT
