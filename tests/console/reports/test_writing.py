"""How a report reaches a file: whole or not at all, never over something else."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from benchconsole.console.reports import FORMATS, ReportError, render, write
from tests.console.reports import fixture
from tests.console.reports.golden import OPTIONS, rendered


@pytest.mark.parametrize("kind", FORMATS)
def test_the_file_holds_what_the_stream_would(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"report{FORMATS[kind].suffix}"
    write(kind, fixture.hard(), path, OPTIONS)
    assert path.read_bytes().decode("utf-8") == rendered(kind)
    assert list(tmp_path.iterdir()) == [path]


def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        write("text", fixture.empty(), tmp_path / "r")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "r").stat().st_mode) == 0o600


def test_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_text("mine")
    with pytest.raises(ReportError, match="there already"):
        write("text", fixture.empty(), path)
    assert path.read_text() == "mine"
    write("text", fixture.empty(), path, force=True)
    assert "Not judged" in path.read_text()


def test_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    precious, path = tmp_path / "precious", tmp_path / "r"
    precious.write_text("mine")
    path.symlink_to(precious)
    with pytest.raises(ReportError):
        write("text", fixture.empty(), path)
    write("text", fixture.empty(), path, force=True)
    assert precious.read_text() == "mine"
    assert not path.is_symlink()


def test_a_dangling_link_counts_as_there(tmp_path: Path) -> None:
    (tmp_path / "r").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ReportError):
        write("text", fixture.empty(), tmp_path / "r")
    assert not (tmp_path / "nowhere").exists()


def test_a_device_and_a_directory_are_refused(tmp_path: Path) -> None:
    for path in (Path("/dev/full"), tmp_path):
        with pytest.raises(ReportError, match="no plain file"):
            write("text", fixture.empty(), path, force=True)


def test_a_missing_directory_is_said(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="No such file"):
        write("text", fixture.empty(), tmp_path / "no" / "r")


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ReportError, match="No space left"):
        write("text", fixture.empty(), tmp_path / "r")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_appears_meanwhile_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, real = tmp_path / "r", os.fsync

    def late(handle: int) -> None:
        path.write_text("mine")
        real(handle)

    monkeypatch.setattr(os, "fsync", late)
    with pytest.raises(ReportError):
        write("text", fixture.empty(), path)
    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_system_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    write("text", fixture.empty(), tmp_path / "r")
    assert "Not judged" in (tmp_path / "r").read_text()


def test_an_unknown_format_offers_a_near_one() -> None:
    with pytest.raises(ReportError, match="did you mean html"):
        render("htm", fixture.empty(), sys.stdout)


def test_jinja_is_loaded_only_for_the_page() -> None:
    script = "import sys, benchconsole.console.reports.text_summary as _; sys.exit(bool({'jinja2', 'textual'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", script], check=False, cwd=Path(__file__).parents[3]).returncode == 0
