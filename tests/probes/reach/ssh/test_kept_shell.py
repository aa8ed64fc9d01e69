"""The shell that is kept open on a connection: when it is told a command, and when it is let go."""

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.model.remote import Remote, RemoteError
from benchconsole.probes.reach.ssh import SshLimits
from benchconsole.probes.reach.ssh.ssh_remote import SshRemote
from tests.probes.reach.ssh.conftest import Bench, Server, eventually, node

STARTED = "Starting session"


async def _remote(bench: Bench, server: Server, limits: SshLimits | None = None) -> SshRemote:
    remote = await bench.reach(bench.access(server), limits or SshLimits()).remote(node(server.address))
    assert isinstance(remote, SshRemote)
    return remote


async def _say(remote: Remote, word: str) -> None:
    output = await remote.run(["sh", "-c", f"echo {word}; echo {word}-error >&2; exit 3"], timeout=10)
    assert (output.text, output.error_text, output.exit_status) == (f"{word}\n", f"{word}-error\n", 3)


async def test_short_commands_share_one_shell(bench: Bench, server: Server) -> None:
    remote = await _remote(bench, server)
    for number in range(5):
        await _say(remote, f"word{number}")
    assert server.logged(STARTED) == 1


async def test_stdin_reaches_a_command_on_a_kept_shell(bench: Bench, server: Server) -> None:
    remote = await _remote(bench, server)
    data = bytes(range(256)) * 40
    for _ in range(2):
        assert (await remote.run(["cat"], timeout=10, stdin=data)).stdout == data
    assert server.logged(STARTED) == 1


@pytest.mark.parametrize(("words", "timeout"), [(["echo", "\N{LATIN SMALL LETTER E WITH ACUTE}"], 10), (["echo"], 600)])
async def test_others_have_a_channel_of_their_own(
    bench: Bench, server: Server, words: list[str], timeout: float
) -> None:
    remote = await _remote(bench, server)
    await _say(remote, "first")
    for _ in range(2):
        await remote.run(words, timeout=timeout)
    assert server.logged(STARTED) == 3
    await _say(remote, "last")
    assert server.logged(STARTED) == 3


async def test_commands_at_once_have_a_shell_each_and_one_is_kept(bench: Bench, server: Server) -> None:
    remote = await _remote(bench, server)
    await asyncio.gather(*(_say(remote, f"word{number}") for number in range(6)))
    await _say(remote, "last")
    assert server.logged(STARTED) == 6


async def test_a_command_that_is_ended_ends_its_shell(bench: Bench, server: Server) -> None:
    remote = await _remote(bench, server)
    await _say(remote, "first")
    with pytest.raises(RemoteError) as raised:
        await remote.run(["sh", "-c", "echo begun; exec sleep 300"], timeout=0.5)
    assert raised.value.failure.detail == "no end within 0.5 s"
    assert raised.value.output is not None
    assert raised.value.output.text == "begun\n"
    assert bench.marked() == []
    await _say(remote, "last")
    assert server.logged(STARTED) == 2


async def test_words_of_a_process_that_escaped_reach_no_other_command(bench: Bench, server: Server) -> None:
    """It has left its group and put off its marker, and goes on to print: its shell is not told a command again."""
    remote = await _remote(bench, server)
    escapes = "setsid env -i sh -c 'echo $$; for i in 1 2 3 4 5 6 7 8 9; do sleep 0.1; echo stray; done' & sleep 0.05"
    output = await remote.run(["sh", "-c", escapes], timeout=10)
    await eventually(lambda: not remote.link.has_shell or remote.link.take_shell() is None)
    await _say(remote, "clean")
    assert server.logged(STARTED) == 2
    os.kill(int(output.text), signal.SIGKILL)


async def test_words_right_after_the_last_line_end_the_shell(bench: Bench, server: Server) -> None:
    remote = await _remote(bench, server)
    await _say(remote, "first")
    shell = remote.link.take_shell()
    assert shell is not None
    shell.data_received(b"stray", None)
    assert not shell.is_young


async def test_a_shell_that_is_old_is_not_told_more(
    bench: Bench, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchconsole.probes.reach.ssh.kept_shell.REUSED_FOR", -1.0)
    remote = await _remote(bench, server)
    for number in range(3):
        await _say(remote, f"word{number}")
    assert server.logged(STARTED) == 3


async def test_a_shell_that_somebody_killed_is_replaced(bench: Bench, server: Server) -> None:
    remote = await _remote(bench, server)
    await _say(remote, "first")
    kept = remote.link.take_shell()
    assert kept is not None
    remote.link.leave_shell(kept)
    for pid in _find_shells(bench.session):
        with suppress(ProcessLookupError):  # it went with the one before
            os.kill(pid, signal.SIGKILL)
    await eventually(lambda: not kept.is_young)
    await _say(remote, "next")
    assert server.logged(STARTED) == 2


def _find_shells(session: str) -> list[int]:
    """The processes that run a kept shell of ``session``, its ``timeout`` too."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        words = entry.read_bytes().split(b"\0")
        if b"benchconsole" in words and session.encode() in words:
            found.append(int(entry.parent.name))
    return found


async def test_a_closed_session_leaves_no_shell(bench: Bench, server: Server) -> None:
    reach = bench.reach(bench.access(server))
    remote = await reach.remote(node(server.address))
    await _say(remote, "first")
    assert _find_shells(bench.session)
    await reach.close()
    await eventually(lambda: not _find_shells(bench.session))


@pytest.mark.parametrize("most", [1, 2])
async def test_a_waiting_shell_gives_its_place_to_a_command(bench: Bench, most: int) -> None:
    server = bench.sshd(f"MaxSessions {most}")
    remote = await _remote(bench, server)
    for _ in range(3):
        await _say(remote, "short")
        async with remote.start(["sh", "-c", "echo ready; sleep 60"], timeout=600) as running:
            await running.says("ready", timeout=10)
            if most > 1:
                await _say(remote, "beside")
    assert bench.marked() == []


async def test_where_no_shell_can_be_kept_each_command_has_its_channel(bench: Bench, server: Server) -> None:
    """As on a node without ``timeout`` in its path: its own words for that come from the command itself."""
    bench.file(".bashrc", "PATH=/nowhere\n")
    remote = await _remote(bench, server)
    output = await remote.run(["/bin/true"], timeout=10)
    assert output.exit_status == 127
    assert not remote.link.can_keep_shell


async def test_a_login_shell_that_refuses_is_told_in_its_words(bench: Bench, server: Server) -> None:
    bench.file(".bashrc", "echo not today; exit 1\n")
    remote = await _remote(bench, server)
    with pytest.raises(RemoteError) as raised:
        await remote.run(["true"], timeout=10)
    assert raised.value.failure.stage is FailedAt.LOGIN
    assert raised.value.failure.detail == "the login shell did not run the command (exit status 1): not today"


async def test_noise_of_login_scripts_is_not_output(bench: Bench, server: Server) -> None:
    bench.file(".bashrc", "echo welcome; echo maintenance tonight >&2\n")
    remote = await _remote(bench, server)
    for number in range(3):
        await _say(remote, f"word{number}")
    assert server.logged(STARTED) == 1
