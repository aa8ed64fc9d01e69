"""Paths as they are typed: a home directory where there is one."""

from pathlib import Path

import pytest

from benchconsole.console.text.typed_path import read_typed_path


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("~/lab.yaml", "/home/ann/lab.yaml"),
        ("~", "/home/ann"),
        ("lab~.yaml", "lab~.yaml"),
        ("/srv/lab.yaml", "/srv/lab.yaml"),
        ("~nobody-of-this-name/lab.yaml", "~nobody-of-this-name/lab.yaml"),
        ("", "."),
    ],
)
def test_a_tilde_is_a_home_directory_where_there_is_one(text: str, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    assert read_typed_path(text) == Path(path)
