"""Outputs of commands as they lie in the file: deflated where that saves space, with a checksum of the plain bytes.

Outputs are most of a database, and text: level 1 of zlib makes an eighth of those of a run. SQLite's own check of a
file sees pages that contradict each other, and no byte of an output that was changed; the checksum does.
"""

import hashlib
import json
import zlib

_WORTH_PACKING = 256
"""Bytes below which deflating saves nothing that counts."""
_LEVEL = 1
_WINDOW_BITS, _MEMORY_LEVEL = 14, 7
"""Half of zlib's usual memory: an output takes half the time, mostly that of the kernel, and 1 % more room."""
_LONGEST = 64 * 2**20
"""Bytes of a stream that is unpacked at most: sixteen times of what a command may print."""
_SUM_BYTES = 16


def pack_streams(stdout: bytes, stderr: bytes) -> tuple[bytes, bytes, bool]:
    """Both streams as they are stored, and whether they are deflated."""
    plain = len(stdout) + len(stderr)
    if plain < _WORTH_PACKING:
        return stdout, stderr, False
    packed = _deflate(stdout), _deflate(stderr) if stderr else _EMPTY
    if sum(map(len, packed)) >= plain:
        return stdout, stderr, False
    return (*packed, True)


def _deflate(plain: bytes) -> bytes:
    deflating = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW_BITS, _MEMORY_LEVEL)
    return deflating.compress(plain) + deflating.flush()


_EMPTY = _deflate(b"")


def unpack_stream(stored: bytes, *, is_packed: bool) -> bytes:
    """The plain bytes of a stream; ValueError for one that cannot be inflated, or would fill the memory."""
    if not is_packed:
        return stored
    inflating = zlib.decompressobj()
    try:
        plain = inflating.decompress(stored, _LONGEST)
    except zlib.error as error:
        raise ValueError(f"an output that cannot be unpacked: {error}") from None
    if not inflating.eof or inflating.unused_data:
        raise ValueError("an output that cannot be unpacked: it is not whole, or too long")
    return plain


def compute_sum(facts: tuple[object, ...], stdout: bytes, stderr: bytes) -> bytes:
    """The checksum of an output: BLAKE2b (RFC 7693) over what is known of its command (text, numbers) and printed."""
    # SQLite keeps no sign of a zero.
    kept = [fact + 0.0 if isinstance(fact, float) else fact for fact in facts]
    digest = hashlib.blake2b(json.dumps([*kept, len(stdout)]).encode(), digest_size=_SUM_BYTES)
    digest.update(stdout)
    digest.update(stderr)
    return digest.digest()
