"""The register of laboratories, which several processes hold in turn, and what goes with a state directory."""

import os
from pathlib import Path

import pytest

from tests.lab import state
from tests.lab.state import SOMEWHERE, StateDirectory
from tests.lab.teardown import remove_files


def test_a_register_that_its_last_user_removes_before_it_is_opened_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, opened, open_it = tmp_path / "register", list[Path](), os.open
    monkeypatch.setattr(state, "REGISTER", folder)

    def open_late(path: Path, flags: int) -> int:
        opened.append(path)
        if len(opened) == 1:
            folder.rmdir()
        return open_it(path, flags)

    monkeypatch.setattr(os, "open", open_late)
    with state.register() as held:
        assert held.is_dir()
    assert len(opened) == 2
    assert not folder.exists()


def test_only_what_a_test_session_made_is_removed_with_files_of_others(tmp_path: Path) -> None:
    made, own = tmp_path / f"{SOMEWHERE}x", tmp_path / "own"
    for root in (made, own):
        root.mkdir()
        (root / "mine.yaml").write_text("")
        remove_files(StateDirectory(root))
        remove_files(StateDirectory(root))
    assert not made.exists()
    assert [path.name for path in own.iterdir()] == ["mine.yaml"]
