"""Free memory of the C library goes back to the system."""

import ctypes
from pathlib import Path

import pytest

from benchconsole.console.session import memory_return
from benchconsole.console.session.memory_return import return_memory

BLOCKS, SIZE = 4000, 16_000


def count_resident() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_holes_between_what_stays_go_back() -> None:
    """Every second block is freed: none of them is at the end of the heap, so nothing goes back by itself."""
    if memory_return._find_trim() is None:
        pytest.skip("this C library has no malloc_trim")
    blocks = [ctypes.create_string_buffer(b"x" * SIZE) for _ in range(BLOCKS)]
    kept = blocks[::2]
    blocks.clear()
    before = count_resident()
    assert return_memory()
    assert before - count_resident() > BLOCKS // 2 * SIZE // 2
    assert len(kept) == BLOCKS // 2


@pytest.mark.parametrize("library", [object(), None])
def test_a_library_that_cannot_is_left_alone(library: object, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(_: None) -> object:
        if library is None:
            raise OSError("no such library")
        return library

    memory_return._find_trim.cache_clear()
    monkeypatch.setattr(ctypes, "CDLL", load)
    try:
        assert return_memory() is False
    finally:
        memory_return._find_trim.cache_clear()
