"""The order in which people count names: n2 before n10."""

import re

_NUMBER = re.compile(r"([0-9]+)")


def make_natural_key(name: str) -> tuple[tuple[int, str], ...]:
    """A key that sorts n2 before n10."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in _NUMBER.split(name))
