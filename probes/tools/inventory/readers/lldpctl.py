"""``lldpctl -f json0``, and ``-f json``, as facts about the neighbours that LLDP tells of.

``json`` changes its shape with how many neighbours there are and whether they have a name;
``json0`` does not. A port with several neighbours numbers all but the first (label ``neighbour``).
"""

from collections import Counter
from collections.abc import Iterator

from benchconsole.probes.api import Fact, Labels, Unit, labels
from benchconsole.probes.readers.documents import Document, find_documents, read_array, read_mapping
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.tools.inventory.facts import make_count, make_text
from benchconsole.topology.ethernet_speeds import read_mau_type

_WHY = {
    124: "lldpctl did not answer in time",
    126: "lldpctl may be run by root and, on Debian, by the group adm, and not by this user",
    127: "lldpctl is not installed (Debian package lldpd)",
}
_SILENT = "lldpd does not run, or cannot be asked (Debian package lldpd)"
_SHUT = "the socket of lldpd is open to root and to lldpd's own group, and not to this user"


def find_facts(text: str) -> Iterator[Fact]:
    """``lldp.neighbours`` (how many); of each ``lldp.switch``, ``lldp.chassis``, ``lldp.system``, ``lldp.port``,
    ``lldp.description``, ``lldp.speed``.

    The switch is named as it names itself (SysName); the port by its identifier, or where that
    is only a MAC address by its description. The system is what the neighbour says of itself, with the version of its
    firmware (SysDescr, IEEE 802.1AB 8.5.7). The speed is that of the type at which the far port runs.
    """
    for document in find_documents(text, first="lldp"):
        neighbours = list(_list_neighbours(document.get("lldp")))
        yield from make_count("lldp.neighbours", len(neighbours))
        times = Counter[str]()
        for nic, entry in neighbours:
            times[nic] += 1
            also = {"neighbour": times[nic]} if times[nic] > 1 else {}
            yield from _read_neighbour(entry, labels(nic=shorten(nic, 60), **also))


def explain_silence(status: int, text: str) -> Fact:
    """``lldp.skipped``: why ``lldpctl`` gave nothing, from its exit status and its words."""
    denied = "Permission denied" in text
    # some shells find no command (127) where they find one that they may not run
    known = _WHY.get(126 if denied and status == 127 else status)
    return Fact("lldp.skipped", known or (_SHUT if denied else _SILENT))


def _list_neighbours(lldp: object) -> Iterator[tuple[str, Document]]:
    """Own port and entry of every neighbour, whichever of the two shapes it has."""
    for group in read_array(lldp) or [lldp]:
        interfaces = read_mapping(group).get("interface")
        for entry in map(read_mapping, read_array(interfaces) or [interfaces]):
            named = entry.get("name")
            if isinstance(named, str):
                yield named, entry
            else:
                yield from ((name, read_mapping(inner)) for name, inner in entry.items())


def _read_neighbour(entry: Document, marks: Labels) -> Iterator[Fact]:
    chassis = read_mapping(_take_first(entry.get("chassis")))
    name: object = chassis.get("name")
    if not {"name", "id"} & chassis.keys():  # ``json`` has the name of a chassis as a key, where there is one
        name, inner = next(iter(chassis.items()), ("", {}))
        chassis = read_mapping(inner)
    port = read_mapping(_take_first(entry.get("port")))
    kind, identifier = _read_identifier(port)
    description = _read_text(port.get("descr"))
    yield from make_text("lldp.switch", _read_text(name), marks)
    yield from make_text("lldp.chassis", _read_identifier(chassis)[1], marks)
    yield from make_text("lldp.system", " ".join(_read_text(chassis.get("descr")).split()), marks)
    yield from make_text("lldp.port", description if kind == "mac" and description else identifier, marks)
    yield from make_text("lldp.description", description, marks)
    speed = read_mau_type(_read_text(read_mapping(_take_first(port.get("auto-negotiation"))).get("current")))
    if speed is not None:
        yield Fact("lldp.speed", speed, Unit.BYTE_RATE, marks)


def _read_identifier(owner: Document) -> tuple[str, str]:
    """Kind and value of a chassis' or port's ID: ``mac``, ``ifname``, ``local`` ..."""
    identifier = read_mapping(_take_first(owner.get("id")))
    return str(identifier.get("type", "")), _read_text(identifier.get("value"))


def _take_first(value: object) -> object:
    """The first of what ``json0`` has in a list; anything else as it is."""
    return next(iter(value), None) if isinstance(value, list) else value


def _read_text(value: object) -> str:
    """The words of ``"x"``, of ``{"value": "x"}`` or of ``[{"value": "x"}]``."""
    inner = _take_first(value)
    if isinstance(inner, dict):
        inner = inner.get("value")
    return inner if isinstance(inner, str) else ""
