"""Reads ``lldpctl -f json0``, and ``-f json``, as facts about the neighbours that LLDP tells of.

``json`` changes its shape with how many neighbours there are and whether they have a name;
``json0`` does not. A port with several neighbours numbers all but the first (label ``neighbour``).
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from probes.api import Fact, Labels, labels
from probes.builtin.captured import Document, documents, mapping, one_line, sequence
from probes.builtin.inventory.facts import counted, said, some

PACKAGE = "lldpd"

_WHY = {
    124: "lldpctl did not answer in time",
    126: "lldpctl may be run by root and, on Debian, by the group adm, and not by this user",
    127: f"lldpctl is not installed (Debian package {PACKAGE})",
}


def parse(text: str) -> Sequence[Fact]:
    """``lldp.neighbours`` (how many); of each ``lldp.switch``, ``lldp.chassis``, ``lldp.port``, ``lldp.description``.

    The switch is named as it names itself (SysName); the port by its identifier, or where that
    is only a MAC address by its description.
    """
    found: list[Fact] = []
    for document in documents(text, first="lldp"):
        neighbours = list(_neighbours(document.get("lldp")))
        found += counted("lldp.neighbours", len(neighbours))
        times = Counter[str]()
        for nic, entry in neighbours:
            times[nic] += 1
            also = {"neighbour": times[nic]} if times[nic] > 1 else {}
            found += _facts(entry, labels(nic=one_line(nic, 60), **also))
    return some(found, "the JSON of lldpctl -f json0")


def skipped(status: int, text: str) -> Fact:
    """``lldp.skipped``: why ``lldpctl`` gave nothing, from its exit status and what it said."""
    denied = "Permission denied" in text
    why = f"lldpd does not run, or cannot be asked (Debian package {PACKAGE})"
    if denied:
        why = "the socket of lldpd is open to root and to lldpd's own group, and not to this user"
    # some shells find no command (127) where they find one that they may not run
    return Fact("lldp.skipped", _WHY.get(126 if denied and status == 127 else status, why))


def _neighbours(lldp: object) -> Iterator[tuple[str, Document]]:
    """Own port and entry of every neighbour, whichever of the two shapes it has."""
    for group in sequence(lldp) or [lldp]:
        interfaces = mapping(group).get("interface")
        for entry in map(mapping, sequence(interfaces) or [interfaces]):
            named = entry.get("name")
            if isinstance(named, str):
                yield named, entry
            else:
                yield from ((name, mapping(inner)) for name, inner in entry.items())


def _facts(entry: Document, marks: Labels) -> Iterator[Fact]:
    name, chassis = _chassis(entry.get("chassis"))
    port = mapping(_only(entry.get("port")))
    kind, identifier = _identifier(port)
    description = _text(port.get("descr"))
    yield from said("lldp.switch", name, marks)
    yield from said("lldp.chassis", _identifier(chassis)[1], marks)
    yield from said("lldp.port", description if kind == "mac" and description else identifier, marks)
    yield from said("lldp.description", description, marks)


def _chassis(value: object) -> tuple[str, Document]:
    """SysName and description of the chassis; ``json`` has the name as a key, where there is one."""
    chassis = mapping(_only(value))
    if "name" in chassis or "id" in chassis:
        return _text(chassis.get("name")), chassis
    return next(((name, mapping(inner)) for name, inner in chassis.items()), ("", {}))


def _identifier(of: Document) -> tuple[str, str]:
    """Kind and value of a chassis' or port's ID: ``mac``, ``ifname``, ``local`` ..."""
    identifier = mapping(_only(of.get("id")))
    return str(identifier.get("type", "")), _text(identifier.get("value"))


def _only(value: object) -> object:
    """The first of what ``json0`` has in a list; anything else as it is."""
    return next(iter(value), None) if isinstance(value, list) else value


def _text(value: object) -> str:
    """The words of ``"x"``, of ``{"value": "x"}`` or of ``[{"value": "x"}]``."""
    inner = _only(value)
    if isinstance(inner, dict):
        inner = inner.get("value")
    return inner if isinstance(inner, str) else ""
