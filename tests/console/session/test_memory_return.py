"""Free memory of the C library goes back to the system."""

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from benchconsole.console.session import memory_return
from benchconsole.console.session.memory_return import return_memory, share_one_arena

BLOCKS, SIZE = 4000, 16_000


def count_resident() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_holes_between_what_stays_go_back() -> None:
    """Every second block is freed: none of them is at the end of the heap, so nothing goes back by itself."""
    if memory_return._find_function("malloc_trim") is None:
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

    memory_return._find_function.cache_clear()
    monkeypatch.setattr(ctypes, "CDLL", load)
    try:
        assert return_memory() is False
        assert share_one_arena() is False
    finally:
        memory_return._find_function.cache_clear()


FREED_IN_A_THREAD = """
import sys
from threading import Thread
from pathlib import Path
from benchconsole.console.session.memory_return import share_one_arena

def count_resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

if sys.argv[1] == "shared":
    assert share_one_arena()
kept = []

def work():
    blocks = []
    for _ in range(20):
        blocks.append(bytearray(b"x") * (4 * 1024**2))
        kept.append(bytearray(b"x") * 60_000)

before = count_resident()
for _ in range(3):
    thread = Thread(target=work)
    thread.start()
    thread.join()
print(count_resident() - before)
"""


def test_large_blocks_that_threads_freed_go_back_at_once() -> None:
    """Each thread frees 80 MiB of blocks of 4 MiB between small ones that stay."""
    if memory_return._find_function("mallopt") is None:
        pytest.skip("this C library has no mallopt")
    kept, shared = (_count_kept(how) for how in ("own", "shared"))
    assert kept > 40 * 1024**2
    assert shared < 20 * 1024**2


def _count_kept(how: str) -> int:
    """Bytes that stay resident in a new process after its threads have ended."""
    done = subprocess.run(
        [sys.executable, "-c", FREED_IN_A_THREAD, how], capture_output=True, text=True, check=True, timeout=60
    )
    return int(done.stdout)
