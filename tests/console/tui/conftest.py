"""Fixtures of every test of the console."""

import pytest

from tests.console.tui.quiet import Quiet


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    Quiet().watch(monkeypatch)
