"""The laboratory for pytest; name this module in `pytest_plugins`.

Owned here: when a laboratory is built for a session, and what happens where none can be.
Refused here: anything about what is in it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.host import LabInUseError, obstacles
from tests.lab.lab import Lab
from tests.lab.spec import LabSpec, in_slot

_SLOTS = 6  # sessions on one machine that may each have a laboratory at the same time


def require_lab() -> None:
    """Skip where no laboratory can be built; in CI that is a failure, never a silent gap."""
    found = obstacles()
    if not found:
        return
    reason = "NO LABORATORY, nothing that crosses a network is tested: " + "; ".join(found)
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)  # said loudly; in CI it is a failure, above


def build_somewhere(spec: LabSpec) -> Lab:
    """A laboratory in the first free slot; its files lie outside of pytest's own
    directories, which later sessions delete although a killed one may have left it running."""
    refusals: list[str] = []
    for slot in range(_SLOTS):
        state = Path(tempfile.mkdtemp(prefix="benchlab-"))
        try:
            return Lab.up(in_slot(spec, slot), state)
        except LabInUseError as error:
            refusals.append(str(error))
            state.rmdir()
    pytest.fail("every laboratory slot is taken: " + "; ".join(refusals), pytrace=False)


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """The small fabric, built once; a test that makes faults wants `healthy_lab`."""
    require_lab()
    built = build_somewhere(LabSpec())
    try:
        yield built
    finally:
        built.down()


@pytest.fixture
def healthy_lab(lab: Lab) -> Iterator[Lab]:
    """The small fabric with nothing wrong in it; what a test breaks is healed after it."""
    try:
        yield lab
    finally:
        lab.heal()
