"""The facts that a node can see of its own cables, and the match of names on the wire with described names.

Told names come from outside: they are compared, never trusted to be names.
"""

import re
from collections import Counter
from dataclasses import dataclass

from benchconsole.topology.errors import find_near
from benchconsole.topology.model.fabric import Fabric


@dataclass(frozen=True, slots=True)
class HeardNeighbour:
    """Who is heard on a port: ``device`` as it names itself, ``ports`` what it may call its own port, best first."""

    device: str
    ports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ObservedPort:
    """A port of a node. ``speed`` in byte/s; None where it is not known. ``data``: it carries the data address."""

    name: str
    neighbours: tuple[HeardNeighbour, ...] = ()
    speed: float | None = None
    carrier: bool | None = None
    data: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    """A port of a bond. ``aggregate`` is what LACP sorted it into, empty where that is not told."""

    port: str
    up: bool
    aggregate: str = ""


@dataclass(frozen=True, slots=True)
class BondSeen:
    """A bond as the kernel has it; ``mode`` as its driver takes it, ``aggregate`` the active one where it is told."""

    name: str
    mode: str
    members: tuple[Member, ...]
    aggregate: str = ""


@dataclass(frozen=True, slots=True)
class Observed:
    """The answers of one node. ``deaf`` says why its neighbours are not known; empty when LLDP was asked."""

    ports: tuple[ObservedPort, ...]
    bonds: tuple[BondSeen, ...] = ()
    deaf: str = ""


class SysNames:
    """Finds the device of a fabric that announces itself under a name: any case, with or without its domain."""

    def __init__(self, fabric: Fabric) -> None:
        self._known: dict[str, str] = {}
        self._near: dict[str, str | None] = {}
        devices = [str(name) for name in (*fabric.nodes, *fabric.switches)]
        short = Counter(name.casefold().partition(".")[0] for name in devices)
        for name in devices:
            host = name.casefold().partition(".")[0]
            if short[host] == 1:
                self._known[host] = name
        self._known |= {name.casefold(): name for name in devices}
        self._switches = {name.casefold(): str(name) for name in fabric.switches}

    def device(self, told: str) -> str | None:
        """The device that ``told`` names, or None: ``LEAF1.example.org`` is leaf1."""
        labels = told.casefold().split(".")
        candidates = (".".join(labels[:length]) for length in range(len(labels), 0, -1))
        return next((self._known[name] for name in candidates if name in self._known), None)

    def near(self, told: str) -> str | None:
        """The switch that ``told`` most likely means, where one is close. Asked for many nodes, looked up once."""
        if told not in self._near:
            found = find_near(told.casefold().partition(".")[0], self._switches)
            self._near[told] = None if found is None else self._switches[found]
        return self._near[told]


_PORT = re.compile(r"(?P<kind>[a-z]*)[ _-]*(?P<place>.*)")


def is_same_port(described: str, told: tuple[str, ...]) -> bool | None:
    """Whether one of the names in ``told`` is the port ``described``; None where they cannot be compared.

    Kinds may be shortened (Eth1/3 is Ethernet1/3). The first name that can be compared decides,
    so that a description written by people does not outweigh the port's own name.
    """
    decided = (_is_same(described, name) for name in told)
    return next((answer for answer in decided if answer is not None), None)


def _is_same(described: str, told: str) -> bool | None:
    one, other = _PORT.fullmatch(described.casefold()), _PORT.fullmatch(told.casefold().strip())
    if one is None or other is None:
        return None
    kinds = sorted((one["kind"], other["kind"]), key=len)
    places = [place.removesuffix(".0") if "/" in place else place for place in (one["place"], other["place"])]
    if not kinds[1].startswith(kinds[0]):
        return None
    if places[0] == places[1]:
        return True
    alike = re.sub(r"\d+", "0", places[0]) == re.sub(r"\d+", "0", places[1])
    return False if alike and bool(kinds[0]) == bool(kinds[1]) else None
