"""The one way to a file: whole or not at all, never through a link, never over what is there."""

import os
import stat
from pathlib import Path
from typing import TextIO

import pytest

from benchconsole.console.text.atomic_write import FileError, replace_content, write_whole


def _text(out: TextIO) -> None:
    out.write("one\ntwo\r\n\ud800")


def test_it_writes_what_it_was_given_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "new.txt"
    write_whole(path, _text)
    assert path.read_bytes() == b"one\ntwo\r\n\\ud800"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.fault("F37")
def test_what_is_there_stays_unless_force_is_used(tmp_path: Path) -> None:
    path = tmp_path / "there.txt"
    path.write_text("old")
    with pytest.raises(FileError, match=r"there\.txt: it is there already\. Choose .* --force\."):
        write_whole(path, _text)
    assert path.read_text() == "old"
    write_whole(path, lambda out: out.write("new"), force=True)
    assert path.read_text() == "new"


@pytest.mark.fault("F37", "I07")
def test_a_link_is_replaced_never_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    with pytest.raises(FileError):
        write_whole(link, _text)
    write_whole(link, lambda out: out.write("new"), force=True)
    assert (target.read_text(), link.read_text(), link.is_symlink()) == ("old", "new", False)


@pytest.mark.fault("F37")
def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "race"

    def write(out: TextIO) -> None:
        out.write("mine")
        path.write_text("theirs")

    with pytest.raises(FileError, match="it is there already"):
        write_whole(path, write)
    assert path.read_text() == "theirs"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.fault("F37")
def test_devices_directories_and_missing_places_are_refused(tmp_path: Path) -> None:
    for path in (Path(os.devnull), tmp_path):
        with pytest.raises(FileError, match="it is no plain file"):
            write_whole(path, _text, force=True)
    with pytest.raises(FileError, match="No such file or directory"):
        write_whole(tmp_path / "no" / "where", _text)
    with pytest.raises(FileError, match="Not a directory"):
        write_whole(Path(os.devnull) / "x", _text)


def test_nothing_is_left_of_a_text_that_failed_on_the_way(tmp_path: Path) -> None:
    def fail(out: TextIO) -> None:
        out.write("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(FileError, match=r"No space left on device\. Nothing was written"):
        write_whole(tmp_path / "half.txt", fail)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.fault("I07")
@pytest.mark.parametrize(("private", "mode"), [(True, 0o600), (False, 0o640)])
def test_a_private_file_is_for_its_owner_and_others_are_as_the_umask_says(
    tmp_path: Path, private: bool, mode: int
) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "file", lambda out: out.write("text"), private=private)
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode


def _edited(tmp_path: Path) -> Path:
    path = tmp_path / "cluster.yaml"
    path.write_bytes(b"old\r\n")
    path.chmod(0o640)
    return path


def test_a_file_that_is_edited_keeps_mode_and_owner_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = _edited(tmp_path)
    if os.geteuid() == 0:
        os.chown(path, 1234, 2345)
    before = path.stat()
    replace_content(path, b"old\r\n", b"new\r\n")
    after = path.stat()
    assert path.read_bytes() == b"new\r\n"
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert after.st_mtime >= before.st_mtime
    assert list(tmp_path.iterdir()) == [path]


def test_the_link_to_a_file_that_is_edited_stays_a_link(tmp_path: Path) -> None:
    path = _edited(tmp_path)
    folder = tmp_path / "links"
    folder.mkdir()
    link = folder / "link.yaml"
    link.symlink_to("../cluster.yaml")
    replace_content(link, b"old\r\n", b"new")
    assert link.is_symlink()
    assert (path.read_bytes(), str(link.readlink())) == (b"new", "../cluster.yaml")
    assert list(folder.iterdir()) == [link]


def test_a_file_that_was_changed_meanwhile_is_not_edited(tmp_path: Path) -> None:
    path = _edited(tmp_path)
    with pytest.raises(FileError, match="it was changed meanwhile"):
        replace_content(path, b"older", b"new")
    assert path.read_bytes() == b"old\r\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_saved_while_the_new_one_is_written_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _edited(tmp_path)
    sync = os.fsync

    def save(handle: int) -> None:
        path.write_bytes(b"theirs")
        sync(handle)

    monkeypatch.setattr(os, "fsync", save)
    with pytest.raises(FileError, match="it was changed meanwhile"):
        replace_content(path, b"old\r\n", b"new")
    assert path.read_bytes() == b"theirs"
    assert list(tmp_path.iterdir()) == [path]


def test_a_disk_that_is_full_leaves_the_file_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _edited(tmp_path)

    def fill(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fill)
    with pytest.raises(FileError, match="No space left on device"):
        replace_content(path, b"old\r\n", b"new")
    assert path.read_bytes() == b"old\r\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_of_several_names_and_what_is_no_file_are_not_edited(tmp_path: Path) -> None:
    path = _edited(tmp_path)
    os.link(path, tmp_path / "other.yaml")
    with pytest.raises(FileError, match="several names"):
        replace_content(path, b"old\r\n", b"new")
    with pytest.raises(FileError, match="no plain file"):
        replace_content(tmp_path, b"", b"new")
    with pytest.raises(FileError, match="No such file"):
        replace_content(tmp_path / "none", b"", b"new")
    assert path.read_bytes() == (tmp_path / "other.yaml").read_bytes() == b"old\r\n"
