"""Commands as the administrator, over a login that is not: sudo in all its moods, and one question at most.

The sudo is played, with the words of the real one; where the real one is installed it is asked too.
"""

import asyncio
import logging
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.remote import Remote, RemoteError
from benchconsole.probes.model.secret import Secret
from benchconsole.probes.reach.ssh import SshLimits, SshReach
from benchconsole.probes.reach.ssh.sudo import AskPassword
from benchconsole.probes.reach.watchdog import SILENCE
from benchconsole.topology.copying import replace
from tests.probes.reach.ssh.conftest import (
    UID,
    USER,
    Bench,
    Server,
    eventually,
    marked,
    node,
    ordinary,
    own_mounts,
    unshared,
)

pytestmark = own_mounts

CANARY = "canary-Pa55 w0rd$(x)'\"\\"
PLAYED = r"""#!/bin/sh
here=${0%/*}
mood=$(cat "$here/mood")
say() { printf '%s\n' "$*" >&2; }
echo "asked $*" >>"$here/asked"
mode= prompt=
while :; do case $1 in -n) mode=n; shift;; -S) mode=S; shift;; -p) prompt=$2; shift 2;; --) shift; break;; *) break;; esac; done
case $mood in
requiretty) say "sudo: sorry, you must have a tty to run sudo"; exit 1;;
stranger) say "benchuser is not in the sudoers file."; exit 1;;
free) ;;
*)
  [ "$mode" = n ] && { say "sudo: a password is required"; exit 1; }
  [ "$mood" = lecture ] && say "" "We trust you have received the usual lecture from the local System" "SudoRunner."
  for try in 1 2 3; do
    printf '%s' "$prompt" >&2
    IFS= read -r word || { say ""; say "sudo: no password was provided"; exit 1; }
    [ "$word" = "$(cat "$here/password")" ] && break
    say "Sorry, try again."
    [ "$mood" = parrot ] && { say "sudo: $word: what is that?"; exit 1; }
    [ $try = 3 ] && { say "sudo: 3 incorrect password attempts"; exit 1; }
  done;;
esac
exec "$here/elevate" --reuid 0 --regid 0 --clear-groups env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
"""


class Asked:
    """Answers the question for the password, and counts."""

    def __init__(self, answer: str | None) -> None:
        self.answer = answer
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str | None:
        self.prompts.append(prompt)
        return self.answer


class Node:
    """An sshd for the ordinary user, with a sudo of the test's own."""

    def __init__(self, bench: Bench, tables: Path) -> None:
        self.bench = bench
        self.bin = tables / "bin"
        self.bin.mkdir()
        sudo = self.bin / "sudo"
        sudo.write_text(PLAYED)
        sudo.chmod(0o755)
        elevate = self.bin / "elevate"
        shutil.copy("/usr/bin/setpriv", elevate)
        os.chown(elevate, 0, UID)  # nobody else's group: nobody else may run it
        elevate.chmod(0o4750)
        for name in ("mood", "asked", "password"):
            (self.bin / name).touch()
            (self.bin / name).chmod(0o666)
        (self.bin / "password").write_text(CANARY)
        self.mood("free")
        self.server = ordinary(bench, tables, f"SetEnv HOME={bench.directory} PATH={self.bin}:/usr/bin:/bin")

    def mood(self, mood: str) -> None:
        (self.bin / "mood").write_text(mood)

    @property
    def asked(self) -> list[str]:
        return (self.bin / "asked").read_text().splitlines()

    def reach(self, ask: AskPassword | None = None, heartbeat: float = SILENCE) -> SshReach:
        access = replace(self.bench.access(self.server), user=USER)
        return self.bench.reach(access, SshLimits(heartbeat=heartbeat), ask)

    async def remote(self, ask: AskPassword | None = None, heartbeat: float = SILENCE) -> Remote:
        return await self.reach(ask, heartbeat).remote(node(self.server.address, "n1"))


@pytest.fixture
def played(bench: Bench, tables: Path) -> Node:
    return Node(bench, tables)


async def _refused(remote: Remote, argv: tuple[str, ...] = ("id", "-u")) -> Failure:
    with pytest.raises(RemoteError) as raised:
        await remote.run(argv, timeout=10, privileged=True)
    return raised.value.failure


async def test_a_root_login_needs_no_sudo(bench: Bench, server: Server) -> None:
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    output = await remote.run(["sh", "-c", "id -u; echo ${SUDO_USER:-none}"], timeout=10, privileged=True)
    assert output.text == "0\nnone\n"


async def test_sudo_without_a_password_is_not_asked_for_one(played: Node) -> None:
    asked = Asked(CANARY)
    remote = await played.remote(asked)
    output = await remote.run(["sh", "-c", "id -u; cat"], timeout=10, stdin=b"in\0put\n", privileged=True)
    assert output.stdout == b"0\nin\0put\n"
    assert (await remote.run(["id", "-u"], timeout=10)).text == f"{UID}\n"
    assert asked.prompts == []
    assert [line.split()[1] for line in played.asked] == ["-n"]


@pytest.mark.fault("F43")
@pytest.mark.parametrize("mood", ["password", "lecture"])
async def test_the_password_is_asked_for_once_and_fed_to_sudo_alone(
    played: Node, monkeypatch: pytest.MonkeyPatch, mood: str
) -> None:
    kept: list[int] = []
    asked = Asked(CANARY)
    monkeypatch.setattr("benchconsole.probes.reach.ssh.sudo.keep_out_of_dumps", lambda: kept.append(len(asked.prompts)))
    played.mood(mood)
    remote = await played.remote(asked)
    for _ in range(2):
        output = await remote.run(["sh", "-c", "id -u; cat"], timeout=10, stdin=b"its own\n", privileged=True)
        assert (output.stdout, output.stderr) == (b"0\nits own\n", b"")
    assert len(asked.prompts) == 1
    assert kept == [0]  # before anybody was asked
    assert "n1" in asked.prompts[0]
    assert [line.split()[1] for line in played.asked] == ["-n", "-S", "-S"]


async def test_a_long_command_of_the_administrator_goes_on_while_we_are_heard(played: Node) -> None:
    played.mood("password")
    remote = await played.remote(Asked(CANARY), heartbeat=1)
    argv = ["sh", "-c", "id -u; cat; sleep 2.5; echo done"]
    output = await remote.run(argv, timeout=3600, stdin=b"its own\n", privileged=True)
    assert (output.exit_status, output.text) == (0, "0\nits own\ndone\n")


async def test_a_coroutine_may_ask(played: Node) -> None:
    async def ask(prompt: str) -> str:
        await asyncio.sleep(0)
        return CANARY

    played.mood("password")
    remote = await played.remote(ask)
    assert (await remote.run(["id", "-u"], timeout=10, privileged=True)).text == "0\n"


@pytest.mark.fault("F43")
async def test_a_wrong_password_is_tried_once_for_all_nodes(played: Node) -> None:
    played.mood("password")
    asked = Asked("wrong")
    reach = played.reach(asked)
    remotes = [await reach.remote(node(played.server.address, f"n{number}")) for number in range(6)]
    failures = await asyncio.gather(*(_refused(remote) for remote in remotes))
    assert len(asked.prompts) == 1
    assert sorted(failure.stage for failure in failures) == [FailedAt.NO_PASSWORD] * 5 + [FailedAt.TOOL]
    assert sum(" -S " in line for line in played.asked) == 1
    assert all("refused the password" in failure.detail for failure in failures)
    assert (await _refused(remotes[0])).stage is FailedAt.NO_PASSWORD
    assert sum(" -S " in line for line in played.asked) == 1


async def test_a_node_with_another_password_does_not_stop_the_others(played: Node) -> None:
    played.mood("password")
    reach = played.reach(Asked(CANARY))
    first = await reach.remote(node(played.server.address, "n1"))
    other = await reach.remote(node(played.server.address, "n2"))
    assert (await first.run(["id", "-u"], timeout=10, privileged=True)).text == "0\n"
    (played.bin / "password").write_text("another")
    assert (await _refused(other)).stage is FailedAt.TOOL
    (played.bin / "password").write_text(CANARY)
    assert (await _refused(other)).stage is FailedAt.NO_PASSWORD
    assert (await first.run(["id", "-u"], timeout=10, privileged=True)).text == "0\n"


@pytest.mark.fault("F43")
async def test_a_time_stamp_that_expires_leads_to_the_question(played: Node) -> None:
    asked = Asked(CANARY)
    remote = await played.remote(asked)
    await remote.run(["true"], timeout=10, privileged=True)
    played.mood("password")
    assert (await remote.run(["id", "-u"], timeout=10, privileged=True)).text == "0\n"
    played.mood("free")  # and one that was renewed to no question: nothing is sent that a command could read
    assert (await remote.run(["cat"], timeout=10, stdin=b"mine\n", privileged=True)).stdout == b"mine\n"
    assert (await remote.run(["cat"], timeout=10, privileged=True)).stdout == b""
    assert len(asked.prompts) == 1


@pytest.mark.fault("F43")
@pytest.mark.parametrize(
    ("mood", "stage", "words"),
    [
        ("password", FailedAt.NO_PASSWORD, "none was given"),
        ("requiretty", FailedAt.TOOL, "requiretty"),
        ("stranger", FailedAt.TOOL, "may not use it"),
    ],
)
async def test_what_sudo_says_is_understood(played: Node, mood: str, stage: FailedAt, words: str) -> None:
    played.mood(mood)
    failure = await _refused(await played.remote())
    assert failure.stage is stage
    assert words in failure.detail
    assert "sudo" in failure.detail


@pytest.mark.fault("F43")
async def test_a_node_without_sudo(played: Node) -> None:
    if shutil.which("sudo", path="/usr/bin:/bin"):
        (played.bin / "sudo").write_text("#!/bin/sh\necho \"env: 'sudo': No such file or directory\" >&2; exit 127\n")
    else:
        (played.bin / "sudo").unlink()
    failure = await _refused(await played.remote())
    assert failure.stage is FailedAt.MISSING_TOOL
    assert "sudo is not installed" in failure.detail


async def test_a_failing_command_is_not_taken_for_sudo(played: Node) -> None:
    remote = await played.remote()
    output = await remote.run(
        ["sh", "-c", "echo sudo: a password is required >&2; exit 1"], timeout=10, privileged=True
    )
    assert (output.exit_status, output.error_text) == (1, "sudo: a password is required\n")
    assert (await remote.run(["no-such-tool"], timeout=10, privileged=True)).exit_status == 127


@pytest.mark.parametrize("mood", ["free", "password"])
async def test_what_runs_as_root_is_ended_like_everything(played: Node, mood: str) -> None:
    """An ordinary user may not signal it: the watchdog that does is root too."""
    played.mood(mood)
    remote = await played.remote(Asked(CANARY))
    with pytest.raises(RemoteError) as raised:
        await remote.run(["sh", "-c", "trap '' TERM; sleep 300; sleep 301"], timeout=0.5, privileged=True)
    assert raised.value.failure.stage is FailedAt.TIMEOUT
    assert "did not confirm" not in raised.value.failure.detail
    assert marked(played.bench.session) == []
    task = asyncio.create_task(remote.run(["sleep", "300"], timeout=60, privileged=True))
    await eventually(lambda: len(marked(played.bench.session)) >= 2)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert marked(played.bench.session) == []


async def test_a_lost_connection_ends_what_runs_as_root(played: Node) -> None:
    reach = played.reach()
    remote = await reach.remote(node(played.server.address, "n1"))
    task = asyncio.create_task(remote.run(["sleep", "300"], timeout=60, privileged=True))
    await eventually(lambda: len(marked(played.bench.session)) >= 2)
    played.server.kill()
    await asyncio.gather(task, return_exceptions=True)
    await eventually(lambda: marked(played.bench.session) == [])


def _seen(canary: bytes) -> Iterator[str]:
    """Where a word stands on this machine: argument lists and environments of all processes but this one."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            for name in ("cmdline", "environ"):
                try:
                    if canary in (entry / name).read_bytes():
                        yield f"{entry}/{name}"
                except OSError:
                    continue


@pytest.mark.fault("F43", "I08")
async def test_the_password_is_nowhere(played: Node, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    played.mood("password")
    secret = b"canary-Pa55 w0rd"
    remote = await played.remote(Asked(CANARY))
    task = asyncio.create_task(remote.run(["sh", "-c", "env; sleep 300"], timeout=60, privileged=True))
    await eventually(lambda: len(marked(played.bench.session)) >= 2)
    assert list(_seen(secret)) == []
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (played.bin / "password").write_text("changed")
    failure = await _refused(remote)
    assert secret.decode() not in f"{failure} {caplog.text} {remote.__dict__}"
    assert "env; sleep 300': cancelled after" in caplog.text
    files = [path for path in (*played.bench.directory.rglob("*"), *played.bin.iterdir()) if path.is_file()]
    assert [path for path in files if secret in path.read_bytes()] == []


@pytest.mark.fault("F43", "I08")
async def test_a_node_that_repeats_the_password_spreads_it_no_further(
    played: Node, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    played.mood("parrot")
    (played.bin / "password").write_text("another")
    failure = await _refused(await played.remote(Asked(CANARY)))
    assert "sudo: ***: what is that?" in failure.detail
    assert "id -u: tool failed after" in caplog.text
    assert CANARY not in caplog.text


@pytest.mark.fault("I08")
def test_a_secret_shows_itself_to_nobody() -> None:
    secret = Secret("x9")
    assert f"{secret} {secret!r} {secret!s:>5} {[secret]}".count("***") == 4
    assert "x9" not in f"{secret}{secret!r}"
    with pytest.raises(TypeError):
        secret.__reduce__()
    with pytest.raises(ValueError, match="one line"):
        Secret("a\nb").line()


_REAL = (
    'mount --bind "$0/passwd" /etc/passwd && mount --bind "$0/shadow" /etc/shadow &&'
    ' mount --bind "$0/sudoers" /etc/sudoers && exec "$@"'
)


def _set_password(shadow: Path, password: str) -> None:
    hashed = subprocess.run(["openssl", "passwd", "-6", password], check=True, capture_output=True, text=True).stdout
    shadow.write_text(shadow.read_text().replace(f"{USER}:*:", f"{USER}:{hashed.strip()}:"))


@pytest.mark.fault("F43")
@pytest.mark.skipif(not shutil.which("sudo"), reason="NOT TESTED: sudo is not installed here; it is played above")
@pytest.mark.parametrize("rule", ["NOPASSWD: ALL", "ALL"])
async def test_the_real_sudo(bench: Bench, tables: Path, rule: str) -> None:
    sudoers = tables / "sudoers"
    sudoers.write_text(f"Defaults use_pty\n{USER} ALL=(root) {rule}\n")
    sudoers.chmod(0o440)
    _set_password(tables / "shadow", "pass")
    shutil.copy(bench.keys.user.with_suffix(".pub"), tables / "authorized")
    server = bench.sshd(f"AuthorizedKeysFile {tables}/authorized", within=unshared(_REAL, tables))
    access, asked = replace(bench.access(server), user=USER), Asked("pass")
    remote = await bench.reach(access, ask_secret=asked).remote(node(server.address))
    output = await remote.run(["sh", "-c", "id -u; cat"], timeout=10, stdin=b"in\n", privileged=True)
    assert output.text == "0\nin\n"
    assert len(asked.prompts) == (rule == "ALL")
    with pytest.raises(RemoteError) as raised:
        await remote.run(["sh", "-c", "trap '' TERM; sleep 300; sleep 301"], timeout=0.5, privileged=True)
    assert raised.value.failure.stage is FailedAt.TIMEOUT
    assert "did not confirm" not in raised.value.failure.detail
    assert marked(bench.session) == []
    if rule == "ALL":
        wrong = await bench.reach(access, ask_secret=Asked("wrong")).remote(node(server.address))
        failure = await _refused(wrong)
        assert failure.detail == "sudo refused the password; it is not tried again"
