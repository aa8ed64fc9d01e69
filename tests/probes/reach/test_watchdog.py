"""The wrapper's text alone, in every shell that this machine can offer as /bin/sh."""

import dataclasses
import os
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from benchconsole.probes import leftovers
from benchconsole.probes.reach.watchdog import (
    _SCRIPT,
    NOT_ENDED,
    UNHEARD,
    StartedProcess,
    parse_first_line,
    wrap_command,
)
from tests.probes.reach.ssh.conftest import marked, wait_until

SHELLS = [path for name in ("dash", "bash", "ksh", "mksh", "zsh", "yash", "busybox") if (path := shutil.which(name))]
SESSION = f"watchdog-{os.getpid()}"
NONCE = f"nonce{os.getpid()}"
"""Of this process alone: what carries it is ended by every wrapper that has it."""


LINKS = tempfile.TemporaryDirectory(prefix="benchconsole-shells-")


def link_as_sh(shell: str) -> str:
    """A link called ``sh``, as /bin/sh is one: zsh and others behave as POSIX says only under that name."""
    link = Path(LINKS.name, Path(shell).name, "sh")
    if not link.is_symlink():
        link.parent.mkdir(parents=True)
        link.symlink_to(Path(shell).resolve())
    return str(link)


def write_plain_timeout(directory: Path) -> None:
    """A ``timeout`` in ``directory`` that makes no group and leaves signals as they are, as busybox's does."""
    plain = directory / "timeout"
    plain.write_text('#!/bin/sh\n[ "$1" = --help ] && exit 0\nshift 3; exec "$@"\n')
    plain.chmod(0o755)


def _start(
    shell: str, argv: list[str], stdin: bytes = b"", timeout: float = 60, silence: float = 60
) -> "subprocess.Popen[bytes]":
    """Start the wrapper in ``shell`` as the node's /bin/sh; the same shell is the user's login shell."""
    wrapped = wrap_command(argv, session=SESSION, nonce=NONCE, timeout=timeout, stdin=stdin, silence=silence)
    text = wrapped.write_text().replace("/bin/sh", link_as_sh(shell), 1)
    process = subprocess.Popen(
        [shell, *(("sh",) if shell.endswith("busybox") else ()), "-c", text],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin is not None
    process.stdin.write(wrapped.feed)
    process.stdin.flush()
    return process


def _finish(process: "subprocess.Popen[bytes]") -> tuple[int, bytes, bytes]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdin, process.stdout, process.stderr:
        out, err = process.stdout.read(), process.stderr.read()
        return process.wait(20), out.partition(b"\n")[2], err.partition(b"\n")[2]


@pytest.mark.parametrize("shell", SHELLS)
def test_it_passes_everything_through(shell: str) -> None:
    data = bytes(range(256)) + b"-%d\\n\n\n"
    assert _finish(_start(shell, ["sh", "-c", "cat; echo e >&2; exit 3"], data)) == (3, data, b"e\n")
    assert _finish(_start(shell, ["sh", "-c", "kill -KILL $$"])) == (137, b"", b"")
    assert marked(SESSION) == []


@pytest.mark.parametrize("stdin", [b"", b"input"])
@pytest.mark.parametrize("shell", SHELLS)
def test_a_command_ignores_no_signal(shell: str, stdin: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_plain_timeout(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for sent, status in (("TERM", 143), ("HUP", 129), ("USR1", 138)):
        assert _finish(_start(shell, ["sh", "-c", f"kill -{sent} $$; echo alive"], stdin)) == (status, b"", b"")


@pytest.mark.parametrize("shell", SHELLS)
def test_the_end_of_its_stdin_ends_the_command(shell: str) -> None:
    process = _start(shell, ["sh", "-c", "trap '' TERM; setsid sleep 300 & sleep 301 & sleep 302; sleep 303"])
    wait_until(lambda: len(marked(SESSION)) >= 5)
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(60) != NOT_ENDED
    assert marked(SESSION) == []
    _close(process)


@pytest.mark.parametrize("shell", SHELLS)
def test_an_end_that_comes_at_once_is_not_missed(shell: str) -> None:
    for _ in range(20):
        process = _start(shell, ["sleep", "300"])
        assert process.stdin is not None
        process.stdin.close()
        process.wait(60)
        assert marked(SESSION) == []
        _close(process)


@pytest.mark.fault("F21c")
@pytest.mark.parametrize("shell", SHELLS)
def test_a_client_that_falls_silent_ends_the_command(shell: str) -> None:
    process = _start(shell, ["sh", "-c", "trap '' TERM; setsid sleep 300 & sleep 301"], silence=1)
    assert process.wait(20) == UNHEARD  # its stdin is open still, as it is behind a cable that was cut
    assert marked(SESSION) == []
    assert process.stdin is not None
    process.stdin.close()
    _close(process)


@pytest.mark.fault("F21c")
@pytest.mark.parametrize("shell", SHELLS)
def test_a_client_that_is_heard_lets_the_command_go_on(shell: str) -> None:
    """Each line makes room for the next second; the command takes as long as four of them."""
    process = _start(
        shell, ["sh", "-c", "for i in 1 2 3 4; do sleep 0.9; echo $i; done; cat; exit 3"], b"fed\n", silence=3
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for line in iter(process.stdout.readline, b"4\n"):
        assert line.split()[0] in {NONCE.encode(), b"1", b"2", b"3"}
        process.stdin.write(b"\n")
        process.stdin.flush()
    assert process.stdout.read() == b"fed\n"
    assert process.wait(60) == 3
    children = _reading_stdin_of(process)
    process.stdin.close()
    wait_until(lambda: not any(Path("/proc", pid).exists() for pid in children))
    _close(process)


def _reading_stdin_of(process: "subprocess.Popen[bytes]") -> list[str]:
    """The processes that hold the other end of the pipe that we write to."""
    assert process.stdin is not None
    pipe = Path(f"/proc/self/fd/{process.stdin.fileno()}").readlink()
    return [
        path.name
        for path in Path("/proc").glob("[0-9]*")
        if path.name != str(os.getpid()) and any(_is_link_to(link, pipe) for link in path.glob("fd/*"))
    ]


def _is_link_to(link: Path, target: Path) -> bool:
    try:
        return link.readlink() == target
    except OSError:
        return False


@pytest.mark.parametrize("shell", SHELLS)
def test_a_stopped_command_ends(shell: str) -> None:
    process = _start(shell, ["sleep", "300"])
    wait_until(lambda: len(marked(SESSION)) >= 2)
    for pid in marked(SESSION):
        os.kill(pid, signal.SIGSTOP)
    assert process.stdin is not None
    process.stdin.close()
    process.wait(60)
    assert marked(SESSION) == []
    _close(process)


def test_the_first_line_names_the_leader() -> None:
    process = _start("/bin/sh", ["sh", "-c", "ps -o sid= -p $$; ps -o pgid= -p $$"])
    assert process.stdout is not None
    line = process.stdout.readline().removeprefix(f"{NONCE} ".encode())
    leader = parse_first_line(line)
    _, out, _ = _finish_rest(process)
    assert leader is not None
    assert [int(word) for word in out.split()] == [leader.pid, leader.pid]


@pytest.mark.parametrize("line", [b"", b" ", b"12 (sh", b"12 (sh) R 1 2", b"x (sh) R" + b" 1" * 30])
def test_a_first_line_that_says_nothing(line: bytes) -> None:
    assert parse_first_line(line) is None


def test_a_program_name_cannot_shift_the_fields() -> None:
    fields = " ".join(str(number) for number in range(4, 40))
    assert parse_first_line(f" 7 (a) b (c) R {fields}".encode()) == StartedProcess(7, 22)


def test_the_text_survives_other_login_shells() -> None:
    assert not set("'\n\\") & set(_SCRIPT)
    assert not re.search("![^ ]", _SCRIPT)


def test_sweep_and_watchdog_mean_the_same_marker() -> None:
    assert f"{leftovers.MARKER}=" in _SCRIPT


@pytest.mark.parametrize(("timeout", "silence"), [(9, 0), (109, 0), (110, 60), (3600, 60)])
def test_only_a_long_command_has_a_heartbeat(timeout: float, silence: float) -> None:
    assert wrap_command(["x"], session="s", nonce="n", timeout=timeout).silence == silence


def test_the_node_allows_more_time_than_we_do() -> None:
    wrapped = wrap_command(["x"], session="s", nonce="n", timeout=0.2)
    assert wrapped.limit > 5
    assert dataclasses.asdict(wrapped)["nonce"] == b"n"


def _finish_rest(process: "subprocess.Popen[bytes]") -> tuple[int, bytes, bytes]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdin, process.stdout, process.stderr:
        return process.wait(20), process.stdout.read(), process.stderr.read()


def _close(process: "subprocess.Popen[bytes]") -> None:
    for stream in (process.stdout, process.stderr):
        assert stream is not None
        stream.close()


def test_nothing_is_left_on_disk(tmp_path: Path) -> None:
    before = set(tmp_path.parent.iterdir())
    _finish(_start("sh", ["cat"], b"x"))
    assert set(tmp_path.parent.iterdir()) == before
