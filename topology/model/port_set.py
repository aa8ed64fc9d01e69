"""Ports of a switch, and the names of the parts of ports that can be split."""

import re
from collections.abc import Iterable

from msgspec import Struct

_PART = re.compile(r"(.+)([/:s]\d{1,3})")
"""The name of a port that is split, and what follows it in those of its parts."""


class PortSet(Struct, frozen=True):
    """Ports of a switch that are alike. ``breakout`` is how many slower cables one port can be split into."""

    names: tuple[str, ...]
    speed: float | None = None
    breakout: int = 1

    def lists_part(self, port: str, number: str) -> bool:
        """Whether ``port`` is one of these and ``number`` follows it as in the name of a part of it.

        Parts are counted from 1 after a slash, from 0 after an s, from either after a colon.
        """
        sign, count = number[0], int(number[1:])
        low, high = {"/": (1, self.breakout), "s": (0, self.breakout - 1), ":": (0, self.breakout)}[sign]
        return self.breakout > 1 and low <= count <= high and port in self.names


def find_split(sets: Iterable[PortSet], part: str) -> str | None:
    """The port of ``sets`` that is split where ``part`` names a part of one.

    Of ``Eth1/2``, ``swp1s1`` and ``et-0:1`` those are ``Eth1``, ``swp1`` and ``et-0``.
    """
    match = _PART.fullmatch(part)
    return match[1] if match and any(ports.lists_part(match[1], match[2]) for ports in sets) else None
