"""The laboratory for pytest; name this module in `pytest_plugins`.

Owned here: when a laboratory is built for a session, and what happens where none can be.
Refused here: anything about what is in it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.lab import launchers, slurm
from tests.lab.host import LabInUseError, obstacles
from tests.lab.lab import Lab
from tests.lab.spec import SPECS, LabSpec


def require_lab() -> None:
    """Skip where no laboratory can be built; in CI that is a failure, never a silent gap."""
    _require("NO LABORATORY, nothing that crosses a network is tested", obstacles())


def require_open_mpi() -> None:
    """Skip where no rank can be started; in CI that is a failure."""
    _require("NO OPEN MPI, no launch over several nodes is tested", launchers.missing())


def require_browser() -> None:
    """Skip where there is no browser; in CI that is a failure."""
    found = [] if shutil.which("chromium") else ["chromium is missing (Debian package chromium)"]
    _require("NO BROWSER, the page of benchconsole web is drawn by nobody", found)


def _require(gap: str, found: list[str]) -> None:
    if not found:
        return
    reason = f"{gap}: {'; '.join(found)}"
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)  # said loudly; in CI it is a failure, above


def build_somewhere(spec: LabSpec) -> Lab:
    """A laboratory in the first free slot; where all are taken the test fails."""
    try:
        return Lab.up_somewhere(spec)
    except LabInUseError as error:
        pytest.fail(str(error), pytrace=False)


@contextmanager
def building(spec: LabSpec) -> Iterator[Lab]:
    """A laboratory for as long as the context lasts; skipped where none can be built."""
    require_lab()
    built = build_somewhere(spec)
    try:
        yield built
    finally:
        built.down()


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """The small fabric, built once; a test that makes faults wants `healthy_lab`."""
    with building(LabSpec()) as built:
        yield built


@pytest.fixture
def healthy_lab(lab: Lab) -> Iterator[Lab]:
    """The small fabric with nothing wrong in it; what a test breaks is healed after it."""
    try:
        yield lab
    finally:
        lab.heal()


@pytest.fixture
def mpi_lab(healthy_lab: Lab) -> Lab:
    """The small fabric, where Open MPI starts ranks over the nodes' own ssh."""
    require_open_mpi()
    return healthy_lab


@pytest.fixture(scope="session")
def _slurm_lab() -> Iterator[Lab]:
    require_lab()
    _require("NO SLURM, no run inside an allocation is tested", slurm.missing() + launchers.missing())
    with building(SPECS["slurm"]) as built:
        yield built


@pytest.fixture
def slurm_lab(_slurm_lab: Lab) -> Iterator[Lab]:
    """Eight nodes in two leaves with a Slurm cluster on them, nothing wrong, everything idle."""
    try:
        yield _slurm_lab
    finally:
        _slurm_lab.heal()
