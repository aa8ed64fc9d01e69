"""How nodes are reached, and how much of the machine tests may load."""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct


class Caps(Struct, frozen=True):
    """How much of the machine tests may load while others use it; None for all of it.

    ``link`` is a share of a link's capacity in one direction. ``storage`` is the byte/s that all
    clients of one storage system together may ask for, by its name.
    """

    link: float | None = None
    storage: Mapping[str, float] = MappingProxyType({})


class Access(Struct, frozen=True):
    """How the nodes are reached when the file says so; paths are absolute."""

    user: str | None = None
    port: int | None = None
    config: str | None = None
    known_hosts: str | None = None
    identity: str | None = None
