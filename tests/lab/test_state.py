"""The register of laboratories, which several processes hold in turn."""

import os
from pathlib import Path

import pytest

from tests.lab import state


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
