"""Files of the user's configuration folder: hostile ones are refused in words, and none is lost."""

import os
from pathlib import Path

import pytest

from benchconsole.console.session import user_files
from benchconsole.console.session.user_files import (
    MOST_BYTES,
    find_config_path,
    hold_user_file,
    read_user_file,
    write_user_file,
)
from benchconsole.console.text.atomic_write import FileError
from benchconsole.topology.errors import TopologyError


def write(path: Path, content: bytes, mode: int = 0o600) -> Path:
    path.write_bytes(content)
    path.chmod(mode)
    return path


def refuse(path: Path) -> str:
    with pytest.raises(TopologyError) as caught:
        read_user_file(path)
    return str(caught.value)


def test_it_stands_below_the_configuration_folder(tmp_path: Path) -> None:
    assert find_config_path("keymap.yaml") == tmp_path / "config/benchconsole/keymap.yaml"
    assert not (tmp_path / "config").exists()


@pytest.mark.parametrize("content", [b"", b"\n\n", b"# nothing yet\n  # more\n"])
def test_a_file_without_content_says_nothing(tmp_path: Path, content: bytes) -> None:
    assert read_user_file(tmp_path / "away.yaml") is None
    assert read_user_file(write(tmp_path / "a.yaml", content)) is None


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666, 0o664])
def test_a_file_that_others_can_write_is_refused(tmp_path: Path, mode: int) -> None:
    path = write(tmp_path / "a.yaml", b"a: 1\n", mode)
    assert f"{path}:1:1: a file that others can write (mode {mode:04o})" in refuse(path)
    assert f"chmod go-w {path}" in refuse(path)
    path.chmod(0o644)
    assert read_user_file(path) is not None


def test_so_is_one_in_a_folder_that_everybody_can_write(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    path = write(folder / "a.yaml", b"a: 1\n")
    folder.chmod(0o777)
    assert f"everybody can replace it, expected one of yours: chmod o-w {folder}" in refuse(path)
    folder.chmod(0o1777)
    assert read_user_file(path) is not None


def test_a_link_leads_to_a_file_that_is_looked_at_itself(tmp_path: Path) -> None:
    path = write(tmp_path / "kept.yaml", b"a: 1\n", 0o666)
    (tmp_path / "a.yaml").symlink_to(path)
    assert "others can write" in refuse(tmp_path / "a.yaml")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a: [", "a.yaml:2:1: broken YAML"),
        (b"a: 1\nb: \x1b[31m\n", "a.yaml:2:4: the control character 0x1b"),
        (b"a: 1\n\xff\n", "a.yaml:2:1: the byte 0xff"),
        (b"\x00", "the control character 0x00"),
        (b"a: &x [*x]\n", "a.yaml:1:8"),
        (b"[" * 100, "without end"),
        (b"---\na: 1\n---\nb: 1\n", "a second document"),
        (b"a" * (MOST_BYTES + 1), "a file of more than 256 KiB"),
    ],
)
def test_what_is_broken_is_told_with_its_place(tmp_path: Path, content: bytes, said: str) -> None:
    assert said in refuse(write(tmp_path / "a.yaml", content))


def test_an_alias_that_unfolds_without_end_is_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert "unfolds without end" in refuse(write(tmp_path / "a.yaml", "\n".join(lines).encode()))


def test_what_is_no_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    assert "no plain file" in refuse(tmp_path / "pipe.yaml")
    (tmp_path / "folder.yaml").mkdir()
    assert "no plain file" in refuse(tmp_path / "folder.yaml")


def test_it_is_written_for_its_owner_alone_and_through_a_link(tmp_path: Path) -> None:
    kept = write(tmp_path / "kept.yaml", b"old\n", 0o644)
    link = tmp_path / "a.yaml"
    link.symlink_to(kept)
    write_user_file(link, "a: 1\n")
    assert link.is_symlink()
    assert kept.read_text() == "a: 1\n"
    assert kept.stat().st_mode & 0o777 == 0o600


def test_the_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "config/benchconsole/a.yaml"
    with hold_user_file(path):
        write_user_file(path, "a: 1\n")
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_another_console_holds_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_files, "PATIENCE_SECONDS", 0.0)
    path = tmp_path / "a.yaml"
    with hold_user_file(path), pytest.raises(FileError, match="another console is writing it"), hold_user_file(path):
        pytest.fail("held twice")
    with hold_user_file(path):
        pass


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("a file")
    with pytest.raises(FileError, match="its folder cannot be written"), hold_user_file(tmp_path / "config/a/b.yaml"):
        pytest.fail("no folder")
