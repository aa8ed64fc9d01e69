"""What every test has: the laboratory on request, and a home of its own."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest_plugins = ["tests.lab.fixtures"]


_LABORATORIES = frozenset(("lab", "healthy_lab", "slurm_lab"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep what uses a laboratory in one process: its rates are shared, and building it takes seconds."""
    for item in items:
        if "lab" in item.keywords or _LABORATORIES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.xdist_group("laboratory"))


@pytest.fixture(autouse=True)
def _own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep the developer's own database, configuration and colours out of the tests, and their umask as it was."""
    mask = os.umask(0o022)
    for name in ("NO_COLOR", "BENCHCONSOLE_DB", "BENCHCONSOLE_ASCII", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    yield
    os.umask(mask)
