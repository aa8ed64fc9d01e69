"""The order in which people count names: n2 before n10."""

import re

_PARTS = re.compile(r"([0-9]+)")


def natural(text: str) -> tuple[object, ...]:
    """A key that puts n2 before n10."""
    return tuple(
        (0, int(part)) if part.isdigit() and part.isascii() else (1, part) for part in _PARTS.split(text) if part
    )
