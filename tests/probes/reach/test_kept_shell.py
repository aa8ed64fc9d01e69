"""The text of the kept shell alone, in every shell that this machine can offer as /bin/sh."""

import os
import re
import select
import signal
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from benchconsole.probes.reach import kept_shell
from benchconsole.probes.reach.kept_shell import LIFE, LONGEST_TIME, REUSED_FOR, open_shell, write_request
from benchconsole.probes.reach.watchdog import parse_first_line
from tests.probes.reach.ssh.conftest import children, marked, wait_until
from tests.probes.reach.test_watchdog import SHELLS, link_as_sh, write_plain_timeout

SESSION = f"kept-{os.getpid()}"
QUIET = 60.0
"""Seconds within which a shell must have said something, on a machine that has much else to do."""


@dataclass
class Said:
    """One command's output between its first and its last line; ``noise`` came before the first on stderr."""

    status: int
    out: bytes
    err: bytes
    first: bytes = b""
    noise: bytes = b""


@dataclass
class Shell:
    """A kept shell, driven through pipes as sshd would."""

    process: "subprocess.Popen[bytes]"
    held: dict[int, bytes] = field(default_factory=dict)

    def tell(self, argv: Sequence[str], stdin: bytes = b"", timeout: float = 20) -> tuple[bytes, bytes]:
        """Give it a command; the words that begin and end its output."""
        request = write_request(argv, timeout=timeout, stdin=stdin)
        assert request is not None
        assert self.process.stdin is not None
        self.process.stdin.write(request.write_text().encode() + request.feed)
        self.process.stdin.flush()
        return request.nonce, request.last

    def run(self, argv: Sequence[str], stdin: bytes = b"") -> Said:
        nonce, last = self.tell(argv, stdin)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        out, end = self._read_to(self.process.stdout.fileno(), last)
        err, _ = self._read_to(self.process.stderr.fileno(), last)
        first, _, rest = out.partition(b"\n")
        noise, begun, errors = err.rpartition(nonce + b"\n")
        return Said(int(end), rest, errors if begun else err, first.removeprefix(nonce), noise)

    def _read_to(self, number: int, last: bytes) -> tuple[bytes, bytes]:
        said = self.held.pop(number, b"")
        while (found := re.search(re.escape(last) + rb"([^\n]*)\n", said)) is None:
            assert select.select([number], [], [], QUIET)[0], f"the shell is silent after {said!r}"
            data = os.read(number, 65536)
            assert data, f"the shell has ended after {said!r}"
            said += data
        self.held[number] = said[found.end() :]
        return said[: found.start()], found[1] or b"0"

    def hang_up(self) -> int:
        """End its stdin; its exit status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(QUIET)

    def close(self) -> None:
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        self.process.wait(QUIET)


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> Iterator[Shell]:
    opened = _open(request.param)
    yield opened
    opened.close()
    assert marked(SESSION) == []


def _open(shell: str, path: str = "") -> Shell:
    text = open_shell(SESSION).replace("/bin/sh", link_as_sh(shell), 1)
    login = [shell, *(("sh",) if shell.endswith("busybox") else ()), "-c", text]
    environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}"} if path else None
    pipe = subprocess.PIPE
    return Shell(subprocess.Popen(login, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, env=environment))


def test_one_command_after_the_other_passes_through(shell: Shell) -> None:
    data = bytes(range(256)) + b"-%d\\n\n\n"
    first = shell.run(["sh", "-c", "cat; echo e >&2; exit 3"], data)
    assert (first.status, first.out, first.err) == (3, data, b"e\n")
    for number in range(4):
        said = shell.run(["sh", "-c", f"printf 'no newline {number}'; printf error >&2; exit {number}"])
        assert (said.status, said.out, said.err) == (number, f"no newline {number}".encode(), b"error")
    assert shell.run(["sh", "-c", "kill -KILL $$"]).status == 137
    assert shell.hang_up() in (0, 143)


def test_words_stay_words(shell: Shell) -> None:
    words = ["a  b", "it's", "$HOME", "`id`", "*", "", "two\nlines\n", "\\n", "!x", "-n", '"$N"', "#"]
    said = shell.run(["sh", "-c", 'for w; do printf "<%s>" "$w"; done', "sh", *words])
    assert said.out == "".join(f"<{word}>" for word in words).encode()


def test_a_command_finds_nothing_that_could_end_its_output(shell: Shell) -> None:
    nonce, last = shell.tell(["sh", "-c", "env; cat /proc/self/cmdline /proc/$PPID/cmdline; ps -eo args"])
    assert shell.process.stdout is not None
    out, _ = shell._read_to(shell.process.stdout.fileno(), last)
    assert out.count(nonce) > 1
    assert last not in out


@pytest.mark.parametrize("name", SHELLS)
def test_a_variable_of_the_login_does_not_show_what_ends_the_output(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in "abcdefghijklmnopqrstuvwxyz":
        monkeypatch.setenv(variable, "exported by the login")
    shell = _open(name)
    nonce, last = shell.tell(["env"])
    assert shell.process.stdout is not None
    out, _ = shell._read_to(shell.process.stdout.fileno(), last)
    assert f"BENCHCONSOLE_RUN={nonce.decode()}\n".encode() in out
    assert b"\nPATH=" in out
    shell.close()


def test_each_command_leads_a_group_of_its_own(shell: Shell) -> None:
    for _ in range(3):  # with setsid, and by timeout alone
        said = shell.run(["sh", "-c", "ps -o pgid= -p $$"])
        leader = parse_first_line(said.first)
        assert leader is not None
        assert int(said.out) == leader.pid


def test_commands_run_in_the_directory_of_the_login_and_a_shell_that_waits_holds_none(shell: Shell) -> None:
    assert shell.run(["pwd"]).out.decode() == f"{Path.cwd()}\n"
    children = Path(f"/proc/{shell.process.pid}/task/{shell.process.pid}/children").read_text().split()
    assert [Path(f"/proc/{pid}/cwd").readlink() for pid in children] == [Path("/")]


def test_a_timeout_that_makes_no_group_has_setsid_before_it(tmp_path: Path) -> None:
    """As busybox's: it is asked for the option that only the other has."""
    write_plain_timeout(tmp_path)
    shell = _open(SHELLS[0], str(tmp_path))
    for _ in range(3):
        said = shell.run(["sh", "-c", "ps -o pgid= -p $$; setsid true; sleep 300 & echo $$"])
        assert len(set(said.out.split())) == 1
    shell.close()
    assert marked(SESSION) == []


@pytest.mark.parametrize("stdin", [b"", b"input"])
@pytest.mark.parametrize("name", SHELLS)
def test_a_command_ignores_no_signal(name: str, stdin: bytes, tmp_path: Path) -> None:
    write_plain_timeout(tmp_path)
    shell = _open(name, str(tmp_path))
    for sent, status in (("TERM", 143), ("HUP", 129)):
        said = shell.run(["sh", "-c", f"kill -{sent} $$; echo alive"], stdin)
        assert (said.status, said.out) == (status, b"")
    assert shell.hang_up() in (0, 143)  # the runner may have its last word left to say
    shell.close()


def test_what_is_left_behind_ends_with_its_command(shell: Shell) -> None:
    said = shell.run(["sh", "-c", "sleep 300 & setsid sh -c 'setsid sleep 301 & ' & sleep 0.1; echo done"])
    assert (said.status, said.out) == (0, b"done\n")
    assert marked(SESSION) == []
    assert shell.run(["echo", "next"]).out == b"next\n"


def test_the_end_of_its_stdin_ends_the_command(shell: Shell) -> None:
    shell.run(["true"])
    shell.tell(["sh", "-c", "trap '' TERM; setsid sleep 300 & sleep 301 & sleep 302; sleep 303"])
    wait_until(lambda: len(marked(SESSION)) >= 5)
    assert shell.hang_up() == 143
    assert marked(SESSION) == []


def test_an_end_that_comes_at_once_is_not_missed() -> None:
    for shell in SHELLS * 10:
        opened = _open(shell)
        opened.tell(["sleep", "300"])
        assert opened.hang_up() in (0, 143)
        assert marked(SESSION) == []
        opened.close()


def test_an_end_at_any_moment_is_not_missed(shell: Shell) -> None:
    """The second command: its runner is young when the end comes."""
    shell.run(["true"])
    shell.tell(["sleep", "300"])
    assert shell.hang_up() == 143
    assert marked(SESSION) == []


@pytest.mark.parametrize("name", SHELLS)
def test_an_end_that_comes_with_the_end_of_the_command_is_an_ordinary_one(name: str) -> None:
    for _ in range(10):
        shell = _open(name)
        shell.run(["true"])
        shell.tell(["true"])
        assert shell.hang_up() in (0, 143)
        shell.close()
    assert marked(SESSION) == []


def test_a_stopped_command_ends(shell: Shell) -> None:
    shell.tell(["sleep", "300"])
    wait_until(lambda: len(marked(SESSION)) >= 2)
    for pid in marked(SESSION):
        os.kill(pid, signal.SIGSTOP)
    assert shell.hang_up() == 143
    assert marked(SESSION) == []


@pytest.mark.fault("F14")
@pytest.mark.parametrize(("sent", "status"), [("KILL", 143), ("SEGV", 139), ("ABRT", 134), ("USR1", 138)])
def test_a_runner_that_somebody_kills_does_not_free_its_command(shell: Shell, sent: str, status: int) -> None:
    shell.tell(["sh", "-c", "setsid sleep 300 & sleep 301"])
    wait_until(lambda: len(marked(SESSION)) >= 4)
    runner = int(Path(f"/proc/{min(marked(SESSION))}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(runner, signal.Signals[f"SIG{sent}"])
    assert shell.hang_up() == status
    assert marked(SESSION) == []


def _find_runners(shell: Shell) -> list[int]:
    """The processes that wait for a command and then tell how it ended."""
    return [runner for kept in children(shell.process.pid) for runner in children(kept)]


def _is_writing(pid: int) -> bool:
    return "pipe_write" in Path(f"/proc/{pid}/wchan").read_text()


def test_words_that_nobody_reads_do_not_keep_the_shell(shell: Shell) -> None:
    """The command has filled the pipe to its brim, so the last line does not fit any more."""
    shell.tell(["timeout", "1", "head", "-c", "1000000", "/dev/zero"])
    wait_until(lambda: any(map(_is_writing, _find_runners(shell))))
    assert marked(SESSION) == []
    assert shell.hang_up() == 143


def test_the_node_itself_ends_a_command_in_its_time(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchconsole.probes.reach.watchdog._LIMIT_MARGIN", -18.0)
    assert shell.run(["sleep", "300"]).status == 124
    assert marked(SESSION) == []


@pytest.mark.parametrize("name", SHELLS)
def test_a_shell_that_lives_too_long_ends_with_its_command(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_shell, "LIFE", 1)
    shell = _open(name)
    shell.tell(["sh", "-c", "sleep 300"])
    assert shell.process.wait(2 * QUIET) != 0  # yash hears no signal while it reads, and is killed after 10 s
    assert marked(SESSION) == []
    shell.close()


def test_no_command_can_be_told_that_outlives_its_shell() -> None:
    assert REUSED_FOR + LONGEST_TIME + 10 + 10 < LIFE


@pytest.mark.parametrize(
    ("argv", "timeout", "is_told"),
    [
        (["x"], LONGEST_TIME, True),
        (["x"], LONGEST_TIME + 1, False),
        (["a\nb"], 9, True),
        (["a\tb"], 9, False),
        (["\N{LATIN SMALL LETTER E WITH ACUTE}"], 9, False),
        (["\x1b"], 9, False),
        (["x" * 8000], 9, True),
        (["x" * 8200], 9, False),
    ],
)
def test_only_short_and_plain_commands_are_told(argv: list[str], timeout: float, is_told: bool) -> None:
    request = write_request(argv, timeout=timeout)
    assert (request is not None) is is_told
    assert request is None or request.write_text().count("\n") == 1


@pytest.mark.parametrize("argv", [[], ["a\0b"]])
def test_no_command_is_refused(argv: list[str]) -> None:
    with pytest.raises(ValueError, match="at least one word"):
        write_request(argv, timeout=9)


def test_the_text_survives_other_login_shells() -> None:
    assert not set("'\n\\") & set(kept_shell._SCRIPT)
    assert not re.search("![^ ]", kept_shell._SCRIPT)
