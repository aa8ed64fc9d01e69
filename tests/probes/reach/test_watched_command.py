"""One output stream: what login scripts say before a command begins is told apart, bounded, and searched once."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.probes.reach.watched_command import NOISE_LIMIT, OutputStream

NONCE = b"abc123"
BOUND = 4 * NOISE_LIMIT


@given(st.binary(max_size=60), st.binary(max_size=60), st.lists(st.integers(0, 200), max_size=8))
def test_the_first_line_is_found_wherever_packets_are_cut(noise: bytes, said: bytes, cuts: list[int]) -> None:
    noise = noise.replace(NONCE, b"")
    whole = b"%sa%s 7 boot root\n%s" % (noise, NONCE, said)
    places = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    stream = OutputStream(NONCE, BOUND)
    for start, end in pairwise(places):
        stream.add(whole[start:end])
    assert (stream.first_line, stream.content, stream.is_cut) == (b" 7 boot root", said, False)


@pytest.mark.parametrize(("size", "is_cut"), [(NOISE_LIMIT - 8, False), (NOISE_LIMIT, False), (NOISE_LIMIT + 1, True)])
def test_noise_is_bounded(size: int, is_cut: bool) -> None:
    stream = OutputStream(NONCE, BOUND)
    for start in range(0, size, 32 * 1024):
        stream.add(b"n" * min(32 * 1024, size - start))
    assert stream.is_cut is is_cut
    assert len(stream.preamble) == min(size, NOISE_LIMIT)


def test_a_byte_of_noise_is_searched_once() -> None:
    """Many small packets: a search from the beginning for each would read 2,000 times as much."""

    class Counted(bytearray):
        searched = 0

        def find(self, *args: object) -> int:
            sought, *rest = args
            Counted.searched += len(self) - (rest[0] if rest else 0)  # type: ignore[operator]
            return super().find(sought, *rest)  # type: ignore[arg-type]

    stream = OutputStream(NONCE, BOUND)
    stream._raw = Counted()
    for _ in range(4000):
        stream.add(b"n" * 100)
    assert Counted.searched < 400_000 * 1.1
