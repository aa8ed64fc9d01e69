"""Leftovers on a node: found by their marker, ended by number and start time, removed by their recorded path."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchconsole.probes.leftovers import (
    _LIST,
    LeftoverDirectory,
    LeftoverProcess,
    Leftovers,
    end_processes,
    find_leftovers,
    find_processes,
    format_listener,
    remove_directories,
)
from benchconsole.probes.model.errors import ProbeOutputError
from benchconsole.probes.model.measuring import Output
from benchconsole.probes.testing import FakeRemote
from tests.probes.hygiene.local import Here, left_behind, made_by
from tests.probes.reach.ssh.conftest import Bench, Server, eventually, node

SESSION = f"sweep-{os.getpid()}"
LISTENING = """
import os, signal, socket
tcp, udp = socket.create_server(('127.0.0.1', 0)), socket.socket(type=socket.SOCK_DGRAM)
udp.bind(('127.0.0.1', 0))
connection = socket.create_connection(tcp.getsockname())
print(tcp.getsockname()[1], udp.getsockname()[1], file=open('ports', 'w'), flush=True)
signal.pause()
"""


async def test_leftovers_are_found_and_ended(bench: Bench, server: Server) -> None:
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    polite = left_behind(f"{bench.session}-old", "exec sleep 300")
    stubborn = left_behind(f"{bench.session}-old", "trap '' TERM; sleep 300; sleep 300")
    foreign = left_behind(f"{bench.session}-other", "exec sleep 300")
    try:
        await eventually(lambda: b"sleep" in _cmdline(polite.pid))
        found = await find_processes(remote, f"{bench.session}-old")
        by_pid = {entry.pid: entry for entry in found}
        assert {polite.pid, stubborn.pid} <= set(by_pid)
        assert by_pid[polite.pid].argv == ("sleep", "300")
        assert foreign.pid not in by_pid
        assert foreign.pid in {entry.pid for entry in await find_processes(remote)}
        assert await end_processes(remote, found) == ()
        assert polite.wait() == -signal.SIGTERM
        assert stubborn.wait() == -signal.SIGKILL
        assert foreign.poll() is None
        assert await find_processes(remote, f"{bench.session}-old") == ()
    finally:
        for process in (polite, stubborn, foreign):
            process.kill()
            process.wait()


async def test_a_number_that_was_given_to_another_is_left_alone(bench: Bench, server: Server) -> None:
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    process = left_behind("x", "exec sleep 300")
    try:
        assert await end_processes(remote, [LeftoverProcess(process.pid, 1, "x", ("sleep",))]) == ()
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


async def test_searches_of_one_machine_under_several_names_do_not_find_each_other() -> None:
    """Nor what they have started: here a search that stands still in one of its tools."""
    with other_search(), loud("left") as left:
        assert left.pid in {each.pid for each in await find_processes(Here("search"), SESSION)}
        assert {each.argv[-1] for each in await find_processes(Here("search"), SESSION)} == {"left", "300"}


@contextmanager
def other_search() -> Iterator[None]:
    """A search of the same session on this machine, with a child."""
    marked = {**os.environ, "BENCHCONSOLE_SESSION": SESSION, "BENCHCONSOLE_RUN": "other"}
    argv = ["sh", "-c", "sleep 400 & echo up; wait", _LIST]
    with subprocess.Popen(argv, env=marked, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        yield
        os.killpg(process.pid, signal.SIGKILL)


async def test_the_search_does_not_find_itself_but_finds_what_still_runs(bench: Bench, server: Server) -> None:
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    assert await find_processes(remote, bench.session) == ()
    async with remote.start(["sh", "-c", "echo up; exec sleep 300"], timeout=60) as running:
        await running.says("up", timeout=10)
        found = await find_processes(remote, bench.session)
    assert ("sleep", "300") in [entry.argv for entry in found]
    assert {entry.session for entry in found} == {bench.session}


def _cmdline(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


# -- whose a process is


@pytest.mark.parametrize(
    ("variable", "because"),
    [
        (("NOTE", "please set BENCHCONSOLE_SESSION=x before"), None),
        (("NOTE", "first\nBENCHCONSOLE_SESSION=x\nlast"), None),
        (("XBENCHCONSOLE_SESSION", "x"), None),
        (("BENCHCONSOLE_SESSION", ""), "without the id of a session"),
        (("BENCHCONSOLE_SESSION", "two words"), "without the id of a session"),
        (("BENCHCONSOLE_SESSION", "../x"), "without the id of a session"),
    ],
)
def test_a_marker_elsewhere_or_without_an_id_is_named_at_most(variable: tuple[str, str], because: str | None) -> None:
    environment = {"PATH": os.environ["PATH"], variable[0]: variable[1]}
    with subprocess.Popen(["sleep", "300"], env=environment) as process:
        try:
            told = asyncio.run(find_processes(Here("search")))
            found = [each for each in told if each.pid == process.pid]
            assert len(found) == (because is not None)
            assert all(str(because) in each.because for each in found)
            assert asyncio.run(end_processes(Here("search"), found)) == tuple(found)
            assert process.poll() is None
        finally:
            process.kill()


# -- sockets


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[list[str]]:
    """A process of ours that waits on a TCP and a UDP socket and has a connection besides; the ports."""
    ports = tmp_path / "ports"
    os.mkfifo(ports)
    process = left_behind(SESSION, f'exec "{sys.executable}" -c "{LISTENING}"', tmp_path)
    yield ports.read_text().split()
    process.kill()
    process.wait()


async def test_what_a_process_listens_on_is_named_and_its_connections_are_not(listener: list[str]) -> None:
    tcp, udp = listener
    (found,) = await find_processes(Here("search"), SESSION)
    assert sorted(found.listens) == [f"tcp 127.0.0.1:{tcp}", f"udp 127.0.0.1:{udp}"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("tcp 0100007F:1451", "tcp 127.0.0.1:5201"),
        ("udp 00000000:0035", "udp 0.0.0.0:53"),
        ("tcp6 00000000000000000000000001000000:0016", "tcp6 [::1]:22"),
        ("tcp nonsense", "tcp nonsense"),
        ("tcp 01:1", "tcp 01:1"),
        ("", ""),
    ],
)
def test_addresses_are_read(line: str, said: str) -> None:
    assert format_listener(line) == said


def test_this_machines_own_sockets_are_read_alike() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        lines = [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        assert f"tcp 127.0.0.1:{port}" in [format_listener(f"tcp {line}") for line in lines]


# -- directories


@pytest.mark.fault("F42", "I18")
async def test_directories_are_found_directly_below_their_root_and_removed(tmp_path: Path) -> None:
    ours, deeper = made_by(SESSION, tmp_path), tmp_path / "deeper"
    deeper.mkdir()
    other, below = made_by("another", tmp_path), made_by(SESSION, deeper)
    (tmp_path / "benchconsole-results").mkdir()
    remote = Here("search")
    found = await find_leftovers(remote, SESSION, [str(tmp_path)])
    assert found.directories == (LeftoverDirectory(str(ours), SESSION),)
    assert {each.path for each in (await find_leftovers(remote, None, [f"{tmp_path}/"])).directories} == {
        str(ours),
        str(other),
    }
    assert await remove_directories(remote, found.directories) == ()
    assert not ours.exists()
    assert other.exists()
    assert below.exists()
    assert await find_leftovers(remote, SESSION, [str(tmp_path), "/nowhere"]) == Leftovers()


def _without_mark(made: Path) -> None:
    (made / ".benchconsole").unlink()


def _moved(made: Path) -> None:
    away = made.with_name(made.name[:-1] + "g")
    made.rename(away)


def _mark_is_a_link(made: Path) -> None:
    (made / ".benchconsole").rename(made / "mark")
    (made / ".benchconsole").symlink_to("mark")


def _of_another_session(made: Path) -> None:
    mark = made / ".benchconsole"
    mark.write_text(mark.read_text().replace(SESSION, "another"))


def _is_a_link(made: Path) -> None:
    away = made.with_name("precious")
    made.rename(away)
    made.symlink_to(away)


def _is_a_file(made: Path) -> None:
    shutil.rmtree(made)
    made.write_text("data")


def _foreign(made: Path) -> None:
    os.chown(made, 4242, 4242)


def _foreign_mark(made: Path) -> None:
    os.chown(made / ".benchconsole", 4242, 4242)


def everything(below: Path) -> list[str]:
    return sorted(str(path) for path in below.rglob("*"))


@pytest.mark.fault("F42", "I18")
@pytest.mark.parametrize(
    ("spoil", "because"),
    [
        (_without_mark, "no file .benchconsole of ours"),
        (_moved, "the mark of another place or session"),
        (_mark_is_a_link, "no file .benchconsole of ours"),
        (_of_another_session, "the mark of another place or session"),
        (_is_a_link, "is a symbolic link"),
        (_is_a_file, "is no directory of ours"),
        (_foreign, "is no directory of ours"),
        (_foreign_mark, "no file .benchconsole of ours"),
    ],
)
async def test_what_is_not_ours_beyond_doubt_is_named_and_stays(
    tmp_path: Path, spoil: Callable[[Path], None], because: str
) -> None:
    if spoil in (_foreign, _foreign_mark) and os.geteuid() != 0:
        pytest.skip("NOT TESTED: owners want root")
    made = made_by(SESSION, tmp_path)
    spoil(made)
    before = everything(tmp_path)
    remote = Here("search")
    (found,) = (await find_leftovers(remote, SESSION, [str(tmp_path)])).directories
    assert because in found.because
    assert await remove_directories(remote, [found]) == (found,)
    assert len(remote.calls) == 1
    # nor does it help to lie to the node about it: it looks again by itself
    (stays,) = await remove_directories(remote, [LeftoverDirectory(found.path, SESSION)])
    assert stays.because
    assert everything(tmp_path) == before


@pytest.mark.fault("F42", "I18")
async def test_what_was_exchanged_between_the_search_and_the_removal_stays(tmp_path: Path) -> None:
    made, outside = made_by(SESSION, tmp_path), tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("kept")
    found = (await find_leftovers(Here("search"), SESSION, [str(tmp_path)])).directories
    shutil.rmtree(made)
    made.symlink_to(outside)
    (stays,) = await remove_directories(Here("search"), found)
    assert stays.because == "is a symbolic link"
    assert (outside / "precious").exists()


@pytest.mark.fault("F42", "I18")
@pytest.mark.skipif(os.geteuid() != 0 and not os.environ.get("CI"), reason="NOT TESTED: mounts and owners want root")
async def test_mounts_and_places_that_others_can_change_are_left_alone(tmp_path: Path) -> None:
    made = made_by(SESSION, tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (made / "m").mkdir()
    with bound(outside, made / "m"):
        (stays,) = await remove_directories(Here("search"), [LeftoverDirectory(str(made), SESSION)])
    assert "mounted in it" in stays.because
    assert (made / "data").exists()
    with writable(tmp_path):
        (stays,) = await remove_directories(Here("search"), [LeftoverDirectory(str(made), SESSION)])
    assert "others may write" in stays.because
    assert await remove_directories(Here("search"), [LeftoverDirectory(str(made), SESSION)]) == ()


@contextmanager
def bound(what: Path, where: Path) -> Iterator[None]:
    """A directory mounted in a second place."""
    subprocess.run(["mount", "--bind", str(what), str(where)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(where)], check=True)


@contextmanager
def writable(directory: Path) -> Iterator[None]:
    """A directory in which everybody may write."""
    directory.chmod(0o777)
    yield
    directory.chmod(0o700)


# -- what cannot be searched is never called clean


@pytest.mark.parametrize("lacking", ["grep", "tr", "awk", "ls"])
def test_a_node_without_the_tools_says_so(tmp_path: Path, lacking: str) -> None:
    for tool in ("sh", "grep", "tr", "head", "ls", "sed", "awk"):
        if tool != lacking:
            (tmp_path / tool).symlink_to(shutil.which(tool) or tool)
    done = subprocess.run(
        ["sh", "-c", _LIST, "list", SESSION, "own"],
        env={"PATH": str(tmp_path), "BENCHCONSOLE_RUN": "r"},
        capture_output=True,
        check=False,
    )
    assert done.stdout == f"\x1e?there is no {lacking}\x1e".encode()


def unmarked() -> Output:
    """The output of the search when it was started in some other way than ours."""
    argv = ["sh", "-c", _LIST, "list", "", "own"]
    done = subprocess.run(argv, env={"PATH": os.environ["PATH"]}, capture_output=True, check=False)
    return Output(tuple(argv), done.stdout)


async def test_a_search_that_could_not_know_itself_says_so() -> None:
    remote = FakeRemote().when("list", answers=unmarked())
    assert await find_leftovers(remote) == Leftovers(unseen=("the search was started without a marker of its own",))
    with pytest.raises(ProbeOutputError, match="without a marker"):
        await find_processes(remote)


@pytest.mark.skipif(os.geteuid() != 0 and not os.environ.get("CI"), reason="NOT TESTED: other users want root")
def test_a_root_that_may_not_be_listed_is_told(tmp_path: Path) -> None:
    done = subprocess.run(
        ["setpriv", "--reuid=65534", "--clear-groups", "sh", "-c", _LIST, "list", SESSION, "own", "/root"],
        env={"PATH": os.environ["PATH"], "BENCHCONSOLE_RUN": "r"},
        capture_output=True,
        check=False,
    )
    assert done.stdout == b"\x1e?may not list /root\x1e"


@pytest.mark.parametrize("said", [b"", b"sh: not found\n", b"\x1eP1 (x) S", b"\x1e\x1ehalf"])
async def test_an_answer_that_is_cut_is_an_error(said: bytes) -> None:
    with pytest.raises(ProbeOutputError):
        await find_leftovers(FakeRemote().when("list", answers=Output((), said)))
    if said:
        with pytest.raises(ProbeOutputError):
            await remove_directories(
                FakeRemote().when("remove", answers=Output((), said)), [LeftoverDirectory("/x/benchconsole.s.1", "s")]
            )


# -- names that others have chosen


async def test_no_name_can_forge_another_answer(tmp_path: Path) -> None:
    """The separators of the answer are taken out of command lines and file names."""
    forged = "\x1eP1 (init) S" + " 1" * 30 + "\x1f\x1f\x1f\x1eD/etc\x1fown\x1fbenchconsole scratch"
    (tmp_path / f"benchconsole.{SESSION}.{forged.replace('/', '')}").mkdir()
    with loud(forged) as process:
        found = await find_leftovers(Here("search"), SESSION, [str(tmp_path)])
    assert 1 not in {each.pid for each in found.processes}
    assert process.pid in {each.pid for each in found.processes}
    (directory,) = found.directories
    assert directory.path.startswith(str(tmp_path))
    assert directory.because


@contextmanager
def loud(word: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A process of ours with ``word`` in its command line."""
    argv = ["sh", "-c", "echo up; sleep 300; :", word]
    marked = {**os.environ, "BENCHCONSOLE_SESSION": SESSION}
    with subprocess.Popen(argv, env=marked, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        yield process
        os.killpg(process.pid, signal.SIGKILL)
