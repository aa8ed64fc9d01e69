"""The list of recent files: newest first, without those that are gone, and never in the way of a start."""

import threading
from pathlib import Path

import pytest

from benchconsole.console.session import recent_files
from benchconsole.console.session.recent_files import MOST, RecentFile, RecentFiles, RecentKind
from benchconsole.console.session.user_files import hold_user_file
from benchconsole.topology.errors import TopologyError


def topology(path: Path | str) -> RecentFile:
    return RecentFile(RecentKind.TOPOLOGY, str(path))


def database(path: Path | str) -> RecentFile:
    return RecentFile(RecentKind.DATABASE, str(path))


def write(text: str, mode: int = 0o600) -> Path:
    path = RecentFiles().path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def test_it_stands_below_the_state_folder_for_its_owner_alone(tmp_path: Path) -> None:
    assert RecentFiles().read() == ()
    assert not (tmp_path / "state").exists()
    RecentFiles().keep(topology("/a.yaml"))
    path = tmp_path / "state/benchconsole/recent.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert RecentFiles().read() == (topology("/a.yaml"),)


def test_the_newest_is_first_and_each_stands_once() -> None:
    for opened in ((topology("/a"), database("/d")), (topology("/b"), database("/d")), (topology("/a"),)):
        RecentFiles().keep(*opened)
    assert RecentFiles().read() == (topology("/a"), topology("/b"), database("/d"))
    RecentFiles().keep(database("/a"))  # of one name, and another kind
    assert RecentFiles().read()[:2] == (database("/a"), topology("/a"))


def test_the_oldest_are_dropped() -> None:
    for number in range(MOST + 5):
        RecentFiles().keep(topology(f"/{number}"))
    assert [each.path for each in RecentFiles().read()] == [f"/{number}" for number in range(MOST + 4, 4, -1)]


def test_what_is_first_already_is_not_written_again() -> None:
    RecentFiles().keep(topology("/a"), database("/d"))
    before = RecentFiles().path.stat()
    RecentFiles().keep(topology("/a"), database("/d"))
    assert RecentFiles().path.stat().st_ino == before.st_ino


def test_names_that_are_no_text_and_hostile_ones_come_back(tmp_path: Path) -> None:
    names = ["a\nb", "\udcff.yaml", "\x1b]0;x\x07", "[/]"]
    for name in names:
        RecentFiles().keep(topology(f"/{name}"))
    assert [each.path for each in RecentFiles().read()] == [f"/{name}" for name in reversed(names)]
    assert RecentFiles().path.read_text().isascii()


def test_files_that_are_gone_are_left_out(tmp_path: Path) -> None:
    there, folder = tmp_path / "there.yaml", tmp_path / "folder"
    there.touch()
    folder.mkdir()
    RecentFiles().keep(topology(tmp_path / "gone.yaml"), topology(folder), topology(there), database(there))
    assert RecentFiles().list_there() == ((topology(there), database(there)), "")
    assert len(RecentFiles().read()) == 4


def test_a_file_system_that_does_not_answer_holds_nothing_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there, over = tmp_path / "there.yaml", threading.Event()
    there.touch()
    RecentFiles().keep(topology("/hangs"), topology(there))
    is_file = Path.is_file

    def look(path: Path) -> bool:
        return over.wait(60) if str(path) == "/hangs" else is_file(path)

    monkeypatch.setattr(Path, "is_file", look)
    monkeypatch.setattr(recent_files, "ANSWER_SECONDS", 0.05)
    try:
        assert RecentFiles().list_there()[0] == (topology(there),)
    finally:
        over.set()


@pytest.mark.parametrize(
    "text",
    [
        "{", "3", "{}", '["a"]', '[{"kind": "topology"}]', '[{"kind": "tea", "path": "/a"}]', "[" * 100_000,
        '[{"kind": "topology", "path": "relative.yaml"}]', '[{"kind": "topology", "path": "/a\\u0000"}]',
        '[{"kind": ["topology"], "path": "/a"}]', '[{"kind": "topology", "path": 3}]',
    ],
)  # fmt: skip
def test_a_broken_list_is_told_and_begins_anew(text: str) -> None:
    path = write(text)
    files, said = RecentFiles().list_there()
    assert files == ()
    assert said.startswith(f"The list of recent files is not used: {path}:1:1: no list of recent files")
    RecentFiles().keep(topology("/a"))
    assert RecentFiles().read() == (topology("/a"),)


@pytest.mark.parametrize("mode", [0o622, 0o666])
def test_one_that_others_can_write_is_neither_read_nor_written(mode: int) -> None:
    path = write("[]", mode)
    assert "others can write" in RecentFiles().list_there()[1]
    RecentFiles().keep(topology("/a"))
    assert path.read_text() == "[]"
    with pytest.raises(TopologyError):
        RecentFiles().read()


def test_where_it_cannot_be_written_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "state").touch()
    RecentFiles().keep(topology("/a"))
    assert RecentFiles().list_there() == ((), "")
    (tmp_path / "state").unlink()
    monkeypatch.setattr("benchconsole.console.session.user_files.PATIENCE_SECONDS", 0.01)
    with hold_user_file(RecentFiles().path):
        RecentFiles().keep(topology("/a"))
    assert RecentFiles().read() == ()
