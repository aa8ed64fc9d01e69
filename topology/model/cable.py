"""Cables of a link: what they are made of, how far they go, and the parts that carry one VLAN."""

from collections.abc import Iterable

from msgspec import Struct


class Cable(Struct, frozen=True):
    """The kind of the cables of a link (``copper``), and their ``length`` in metres."""

    kind: str | None = None
    length: float | None = None


def format_cables(cables: Iterable[Cable | None]) -> str:
    """The kind and the length of the cables: ``copper 3 m``, unlike ones with ``and``; empty of unknown ones."""
    names = (
        " ".join(filter(None, (cable.kind, None if cable.length is None else f"{cable.length:g} m")))
        for cable in cables
        if cable is not None
    )
    return " and ".join(sorted(filter(None, {*names})))


class Wan(Struct, frozen=True):
    """A link over distance: round trip in seconds, and byte/s left to this fabric where it is shared."""

    rtt: float | None = None
    available: float | None = None


class Channel(Struct, frozen=True):
    """A part of a link that carries one VLAN only, as some 100 Gb/s routers split their path; byte/s."""

    vlan: int
    capacity: float
