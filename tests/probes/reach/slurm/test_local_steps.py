"""Commands on this machine, really: their end is sure, as over SSH."""

import asyncio
import os
import secrets
import signal
import subprocess
import sys

import pytest

from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.reach.slurm.local_steps import LocalReach, LocalRemote
from benchconsole.probes.testing import a_node
from tests.lab.host import wait_for
from tests.probes.reach.ssh.conftest import marked


@pytest.fixture
def session() -> str:
    return f"local-{secrets.token_hex(6)}"


async def test_a_command_runs_to_its_end(session: str) -> None:
    remote = LocalRemote(session, "head")
    output = await remote.run(
        ["sh", "-c", "cat; echo no >&2; echo $BENCHCONSOLE_SESSION; exit 3"], timeout=10, stdin=b"a\0b\n"
    )

    assert (output.stdout, output.stderr) == (b"a\0b\n" + f"{session}\n".encode(), b"no\n")
    assert (output.exit_status, output.signal, output.node) == (3, None, "head")
    assert output.argv[:2] == ("sh", "-c")


@pytest.mark.fault("I03")
async def test_words_reach_the_command_as_they_are(session: str) -> None:
    words = ["$(id)", "a b", "'", '"', "\\", "\n", "-n", "*"]
    output = await LocalRemote(session).run(["printf", "%s|", *words], timeout=10)

    assert output.text == "".join(f"{word}|" for word in words)


async def test_a_program_that_is_not_there_has_status_127(session: str) -> None:
    assert (await LocalRemote(session).run(["no-such-program"], timeout=10)).exit_status == 127


@pytest.mark.parametrize("script", ["sleep 300", "trap '' TERM; setsid sleep 301 & sleep 300; sleep 302"])
async def test_when_time_is_over_nothing_runs_on(session: str, script: str) -> None:
    with pytest.raises(RemoteError) as raised:
        await LocalRemote(session).run(["sh", "-c", f"echo begun; {script}"], timeout=0.4)

    assert raised.value.failure.stage is FailedAt.TIMEOUT
    assert raised.value.output is not None
    assert raised.value.output.text == "begun\n"
    assert marked(session) == []


async def test_a_flood_is_cut_and_ended(session: str) -> None:
    with pytest.raises(RemoteError) as raised:
        await LocalRemote(session, limit=100_000).run(["yes"], timeout=20)

    assert raised.value.failure.stage is FailedAt.FLOODED
    assert raised.value.output is not None
    assert len(raised.value.output.stdout) <= 100_000
    assert marked(session) == []


async def test_cancelling_ends_it(session: str) -> None:
    task = asyncio.create_task(LocalRemote(session).run(["sleep", "300"], timeout=60))
    await asyncio.to_thread(wait_for, lambda: bool(marked(session)), 10, "the command to run")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert marked(session) == []


async def test_a_command_that_goes_on_is_heard_and_ended(session: str) -> None:
    async with LocalRemote(session).start(["sh", "-c", "echo up; exec sleep 300"], timeout=60) as running:
        await running.says("up", timeout=10)
        assert marked(session)
    assert marked(session) == []


async def test_one_that_ends_by_itself_is_read(session: str) -> None:
    async with LocalRemote(session).start(["echo", "done"], timeout=60) as running:
        assert (await running.output()).text == "done\n"


@pytest.mark.parametrize(
    ("argv", "seconds", "stage"),
    [
        (["sh", "-c", "echo broken >&2; exit 2"], 60, FailedAt.TOOL),
        (["no-such-program"], 60, FailedAt.MISSING_TOOL),
        (["sleep", "300"], 60, FailedAt.TIMEOUT),
        (["sleep", "300"], 0.2, FailedAt.TIMEOUT),
    ],
)
async def test_what_is_not_said_has_its_reason(session: str, argv: list[str], seconds: float, stage: FailedAt) -> None:
    async with LocalRemote(session).start(argv, timeout=seconds) as running:
        with pytest.raises(RemoteError) as raised:
            await running.says("up", timeout=1 if argv[0] == "sleep" else 10)
    assert raised.value.failure.stage is stage
    assert marked(session) == []


def test_when_the_console_is_killed_its_commands_end(session: str) -> None:
    script = (
        "import asyncio, sys; from benchconsole.probes.reach.slurm.local_steps import LocalRemote\n"
        "asyncio.run(LocalRemote(sys.argv[1]).run(['sleep', '300'], timeout=290))\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, session]) as console:
        wait_for(lambda: bool(marked(session)), 20, "the command to run")
        console.send_signal(signal.SIGKILL)
    wait_for(lambda: marked(session) == [], 20, "the watchdog to end it")


async def test_the_reach_is_this_machine_whatever_is_asked_for(session: str) -> None:
    reach = LocalReach(session)
    remote = await reach.remote(a_node("login1"))

    assert remote.node == "login1"
    assert (await remote.run(["sh", "-c", "echo $PPID"], timeout=10)).exit_status == 0
    await reach.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT TESTED: only root is root already")
async def test_root_needs_no_sudo(session: str) -> None:
    assert (await LocalRemote(session).run(["id", "-u"], timeout=10, privileged=True)).text == "0\n"


@pytest.mark.parametrize("timeout", [60, 3600])
async def test_the_end_of_a_command_is_heard_at_once_also_of_one_with_a_heartbeat(session: str, timeout: float) -> None:
    """The process that waits for our next line still holds the pipe of our end, and must not be waited for."""
    began = asyncio.get_running_loop().time()
    output = await LocalRemote(session).run(["true"], timeout=timeout)
    async with LocalRemote(session).start(["sh", "-c", "echo no >&2; exit 127"], timeout=timeout) as running:
        with pytest.raises(RemoteError, match="no") as raised:
            await running.says("never", timeout=30)
    assert output.exit_status == 0
    assert raised.value.failure.stage is FailedAt.MISSING_TOOL
    assert asyncio.get_running_loop().time() - began < 20
