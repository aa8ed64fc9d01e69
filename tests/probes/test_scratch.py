"""The rules of scratch directories, by running their shell text here: what is refused, and what is left (nothing)."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchconsole.probes import blank_devices, leftovers, scratch
from benchconsole.probes.model.measuring import FailedAt, Output, TestOutcome
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.tools.fio import device_probe, probe
from benchconsole.topology.model.fabric import NodeId

SHELLS = [path for name in ("dash", "bash", "ksh", "mksh", "yash") if (path := shutil.which(name))]
SCRIPT = scratch.script(r'scratch "$1" "${2:-1024}" $3; ls -A "$made"; printf "%s\n" "$made"; eval "$4";')
MOUNTS = os.geteuid() == 0 and subprocess.run(["unshare", "--mount", "true"], check=False).returncode == 0

needs_root = pytest.mark.skipif(  # in CI it runs, and fails where it cannot
    not MOUNTS and not os.environ.get("CI"), reason="NOT TESTED: owners and mounts want root"
)


def run(
    root: Path | str, *more: str, shell: str = "sh", first: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "BENCHCONSOLE_SESSION": "s-17"}
    if first is not None:
        environment["PATH"] = f"{first}:{environment['PATH']}"
    argv = [shell, "-c", SCRIPT, "test", str(root), *more]
    return subprocess.run(argv, env=environment, capture_output=True, text=True, check=False, timeout=30)


def refused(done: "subprocess.CompletedProcess[str]") -> str:
    """The reason; the script must have ended with the agreed status and one line."""
    output = Output((), done.stdout.encode(), done.stderr.encode(), done.returncode)
    why = scratch.reason(output)
    assert why, (done.returncode, done.stdout, done.stderr)
    assert done.stdout == ""
    with pytest.raises(RemoteError) as raised:
        scratch.heed(output, NodeId("n1"))
    assert (raised.value.failure.stage, raised.value.failure.detail) == (FailedAt.REFUSED, why)
    assert raised.value.failure.stage.outcome is TestOutcome.SKIPPED
    return why


@contextmanager
def tmpfs(where: Path, options: str) -> Iterator[Path]:
    """A small file system in memory."""
    where.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(where)], check=True)
    try:
        yield where
    finally:
        subprocess.run(["umount", str(where)], check=True)


@pytest.mark.fault("I07")
@pytest.mark.parametrize("shell", SHELLS)
def test_a_directory_of_our_own_is_made_marked_and_removed(tmp_path: Path, shell: str) -> None:
    root = tmp_path / "a b; 'c'"
    root.mkdir()
    (root / "foreign").write_text("stays")
    done = run(f"{root}//", "1024", "", 'cat "$made/.benchconsole"; touch "$made/more"; mkdir "$made/d"', shell=shell)
    mark, made, *told = done.stdout.splitlines()
    assert (done.returncode, done.stderr, mark) == (0, "", scratch.MARK)
    assert re.fullmatch(rf"{re.escape(str(root))}/benchconsole\.s-17\.\w{{6}}", made)
    assert told == ["benchconsole scratch", "s-17", made]
    assert [path.name for path in root.iterdir()] == ["foreign"]


@pytest.mark.fault("I18")
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("ending", "status"),
    [("exit 3", 3), ("kill -TERM $$", 143), ("kill -HUP $$", 129), ("run sh -c 'exit 5'; exit $?", 5)],
)
def test_it_is_gone_however_the_script_ends(tmp_path: Path, shell: str, ending: str, status: int) -> None:
    assert run(tmp_path, "1024", "", f'touch "$made/x"; {ending}; sleep 60', shell=shell).returncode == status
    assert list(tmp_path.iterdir()) == []


def test_a_signal_ends_what_it_runs_and_removes_the_directory(tmp_path: Path) -> None:
    ready, root = tmp_path / "ready", tmp_path / "root"
    root.mkdir()
    os.mkfifo(ready)
    body = f'touch "$made/x"; run sh -c "echo \\$\\$ > {ready}; exec sleep 300"'
    with subprocess.Popen(
        ["sh", "-c", SCRIPT, "test", str(root), "1024", "", body], stdout=subprocess.DEVNULL
    ) as going:
        child = int(ready.read_text())
        going.send_signal(signal.SIGTERM)
        assert going.wait(10) == 143
    assert list(root.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


@pytest.mark.parametrize("root", ["", ".", "tmp", "/nowhere/at/all", "/etc/passwd"])
def test_what_is_no_directory_is_refused(root: str) -> None:
    assert "directory" in refused(run(root))


@pytest.mark.fault("F42", "I07")
def test_a_link_is_refused_even_to_a_good_place(tmp_path: Path) -> None:
    good, link = tmp_path / "good", tmp_path / "link"
    good.mkdir()
    link.symlink_to(good)
    for name in (link, f"{link}/"):
        assert "is a symbolic link" in refused(run(name))
    assert list(good.iterdir()) == []


@pytest.mark.fault("F42")
@needs_root
@pytest.mark.parametrize(
    ("mode", "fine"), [(0o1777, True), (0o1775, True), (0o755, True), (0o777, False), (0o775, False)]
)
def test_where_others_could_exchange_it_is_refused(tmp_path: Path, mode: int, fine: bool) -> None:
    above, root = tmp_path / "above", tmp_path / "above" / "root"
    root.mkdir(parents=True)
    for changed in (root, above):
        changed.chmod(mode)
        done = run(root)
        assert done.returncode == 0 if fine else f"others may write in {changed}" in refused(done)
        changed.chmod(0o755)
    assert list(root.iterdir()) == []


@pytest.mark.fault("F42")
@needs_root
def test_a_place_that_belongs_to_somebody_else_is_refused(tmp_path: Path) -> None:
    above, root = tmp_path / "above", tmp_path / "above" / "root"
    root.mkdir(parents=True)
    for changed in (root, above):
        os.chown(changed, 4242, 4242)
        changed.chmod(0o1777)  # the owner of a sticky directory may rename what is in it
        assert f"{changed} belongs to user 4242" in refused(run(root))
        os.chown(changed, 0, 0)
        changed.chmod(0o755)
    assert list(root.iterdir()) == []


def tool(directory: Path, name: str, text: str) -> Path:
    """A directory in which ``name`` is played."""
    directory.mkdir(exist_ok=True)
    (directory / name).write_text(f"#!/bin/sh\n{text}\n")
    (directory / name).chmod(0o755)
    return directory


@pytest.mark.fault("F42")
@needs_root
def test_a_squashed_root_is_told_as_what_it_is(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    denied = "echo \"mktemp: failed to create directory via template 'x: y': Permission denied\" >&2; exit 1"
    why = refused(run(root, first=tool(tmp_path / "bin", "mktemp", denied)))
    assert why == f"cannot write in {root}: Permission denied (is root squashed there, as NFS does?)"
    mapped = 'd=$(/usr/bin/mktemp "$@") && chown 65534 "$d" && echo "$d"'
    assert "is not ours" in refused(run(root, first=tool(tmp_path / "bin", "mktemp", mapped)))
    assert list(root.iterdir()) == []


@pytest.mark.fault("F42")
def test_an_rm_that_could_leave_the_file_system_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    simple = 'case $* in *one-file*) echo "rm: unrecognized option" >&2; exit 1;; esac; exec /bin/rm "$@"'
    assert "within one file system" in refused(run(root, first=tool(tmp_path / "bin", "rm", simple)))
    assert list(root.iterdir()) == []


@pytest.mark.fault("I18")
@needs_root
def test_a_file_system_without_room_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "small", "size=64m,mode=755") as root:
        assert "102400 KiB are to be written" in refused(run(root, str(100 * 2**20)))
        assert "free of 65536 KiB" in refused(run(root, str(33 * 2**20)))  # twice as much must be free
        assert run(root, str(20 * 2**20)).returncode == 0
        (root / "full").write_bytes(b"x" * 50 * 2**20)
        assert "free of 65536 KiB" in refused(run(root, str(8 * 2**20)))  # a tenth must be left
        assert [path.name for path in root.iterdir()] == ["full"]


@pytest.mark.fault("I18")
@needs_root
def test_a_file_system_without_inodes_is_refused(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "few", "size=64m,nr_inodes=40,mode=755") as root:
        assert run(root, "1024", "16").returncode == 0
        assert "inodes free of 40, 30 are to be used" in refused(run(root, "1024", "30"))
        assert list(root.iterdir()) == []


@pytest.mark.fault("F42", "I18")
@needs_root
def test_a_full_file_system_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "full", "size=64k,mode=755") as root:
        with pytest.raises(OSError, match="No space left"):
            (root / "data").write_bytes(b"x" * 2**20)
        assert "is it full?" in refused(run(root, "1"))
        assert [path.name for path in root.iterdir()] == ["data"]


@pytest.mark.fault("F42")
@needs_root
def test_removal_stays_within_what_was_made(tmp_path: Path) -> None:
    """Neither links nor mounts lead out of it."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "precious").write_text("kept")
    assert (
        run(
            root, "1024", "", f'ln -s {outside} "$made/link"; mkdir "$made/d"; ln {outside}/precious "$made/d"'
        ).returncode
        == 0
    )
    assert list(root.iterdir()) == []
    assert (outside / "precious").read_text() == "kept"
    done = run(root, "1024", "", 'mkdir "$made/m"; mount -t tmpfs tmpfs "$made/m"; touch "$made/m/precious"')
    (made,) = root.iterdir()
    try:
        assert "could not remove" in done.stderr
        assert (made / "m" / "precious").exists()
    finally:
        subprocess.run(["umount", str(made / "m")], check=True)


@pytest.mark.parametrize("column", ["- - - -", "", "0 0 0 0%", "a b c 1%"])
def test_a_room_that_cannot_be_told_is_refused(tmp_path: Path, column: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    played = tool(tmp_path / "bin", "df", f'echo head; echo "some device {column} /a b"')
    assert "cannot tell how much room" in refused(run(root, first=played))
    assert list(root.iterdir()) == []


def test_only_status_and_word_together_are_a_refusal() -> None:
    word = b"benchconsole: refused: because\n"
    assert scratch.reason(Output((), b"", b"noise\n" + word, 77)) == "because"
    for other in (
        Output((), b"", word, 1),
        Output((), b"", word, 0),
        Output((), word, b"", 77),
        Output((), b"", b"", 77),
    ):
        assert scratch.heed(other, NodeId("n1")) is other


@pytest.mark.parametrize(
    "text",
    [
        leftovers._LIST,
        leftovers._END,
        leftovers._REMOVE,
        scratch.one_line(blank_devices.BLANK),
        probe._SCRIPT,
        device_probe._SCRIPT,
    ],
    ids=["list", "end", "remove", "blank", "fio", "fio-device"],
)
def test_the_text_survives_other_login_shells(text: str) -> None:
    assert "\n" not in text
    assert not re.search("![^ =(]", text)
    for shell in SHELLS:
        read = subprocess.run([shell, "-n", "-c", text], capture_output=True, check=False)
        said = [line for line in read.stderr.splitlines() if b": warning: line " not in line]  # ksh93 advises on style
        assert (read.returncode, said) == (0, [])
