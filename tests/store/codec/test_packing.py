"""Streams as they lie in the file: smaller where that pays, never longer than memory, and never another one."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.store.codec.packing import pack_streams, unpack_stream


@given(st.binary(max_size=400), st.binary(max_size=400), st.integers(1, 50))
def test_streams_come_back_and_are_never_larger(stdout: bytes, stderr: bytes, times: int) -> None:
    stored_out, stored_err, is_packed = pack_streams(stdout * times, stderr)
    assert unpack_stream(stored_out, is_packed=is_packed) == stdout * times
    assert unpack_stream(stored_err, is_packed=is_packed) == stderr
    assert len(stored_out) + len(stored_err) <= len(stdout) * times + len(stderr)


@pytest.mark.parametrize(("size", "is_packed"), [(255, False), (256, True)])
def test_short_streams_stay_as_they_are(size: int, is_packed: bool) -> None:
    assert pack_streams(b"x" * size, b"")[2] is is_packed


@pytest.mark.fault("I14")
@pytest.mark.parametrize(
    "stored",
    [b"", b"no zlib", zlib.compress(b"x" * 99)[:-1], zlib.compress(b"x") + b"y", zlib.compress(bytes(2**26 + 1))],
)
def test_what_is_not_whole_or_would_fill_the_memory_is_refused(stored: bytes) -> None:
    with pytest.raises(ValueError, match="an output that cannot be unpacked"):
        unpack_stream(stored, is_packed=True)
