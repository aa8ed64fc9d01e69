"""``ethtool --json`` with ``-k``, ``-a``, ``-g``, ``-l``, ``-c``, or alone (from 6.10 on), as the facts of its text.

Each part is a list of objects that begin with the name of their interface, and is known by its keys: none has a title.

Source: ethtool 6.1 as it ran, and ``netlink/`` of 6.1 to 6.11: ``features.c``, ``pause.c``, ``rings.c``,
``channels.c``, ``coalesce.c``, ``settings.c``.
"""

from collections.abc import Iterator, Mapping

from benchconsole.probes.api import Fact, Labels, Unit
from benchconsole.probes.readers.documents import Document, find_documents, has_document, read_mapping
from benchconsole.probes.readers.numbers import read_number
from benchconsole.probes.tools.inventory import facts

_FIRST = "ifname"
_PAUSE = {"rx": "nic.pause_rx", "tx": "nic.pause_tx", "autonegotiate": "nic.pause_autonegotiate"}
_RINGS = {"rx": "nic.ring_rx", "tx": "nic.ring_tx"}
_ONLY_RINGS = frozenset(("rx-mini", "rx-jumbo", "rx-mini-max", "rx-jumbo-max", "rx-buf-len", "tx-push", "rx-push"))
_CHANNELS = {
    "rx": "nic.channels_rx", "tx": "nic.channels_tx", "combined": "nic.channels_combined",
    "other": "nic.channels_other",
}  # fmt: skip
_ONLY_CHANNELS = frozenset(("combined", "other", "combined-max", "other-max"))
_COALESCE = {"rx-usecs": "nic.coalesce_rx", "tx-usecs": "nic.coalesce_tx"}


def is_json(text: str) -> bool:
    """Whether ``text`` holds ethtool's JSON, be it whole or cut."""
    return has_document(text, first=_FIRST)


def find_facts(text: str, offloads: Mapping[str, str]) -> Iterator[Fact]:
    """The facts of every whole object; ``offloads`` are the names of the features that are told, by ethtool's."""
    for document in find_documents(text, first=_FIRST):
        marks = facts.label_part("nic", document.get("ifname"))
        for key, name in offloads.items():
            yield from _make_switch(name, read_mapping(document.get(key)).get("active"), marks)
        if "autonegotiate" in document:
            for key, name in _PAUSE.items():
                yield from _make_switch(name, document.get(key), marks)
        yield from _make_switch("nic.coalesce_adaptive_rx", document.get("adaptive-rx"), marks)
        for key, name in _COALESCE.items():
            if (micros := read_number(document.get(key))) is not None and micros >= 0:
                yield Fact(name, micros / 1e6, Unit.SECOND, marks)
        yield from _read_queues(document, marks)
        yield from _read_settings(document, marks)


def _make_switch(name: str, state: object, marks: Labels) -> list[Fact]:
    word = {True: "on", False: "off"}.get(state) if isinstance(state, bool) else None
    return facts.make_text(name, word, marks)


def _read_queues(document: Document, marks: Labels) -> Iterator[Fact]:
    """Rings or channels: where neither has a key of its own, which of them it is is not known."""
    names: Mapping[str, str] = {}
    if not _ONLY_CHANNELS.isdisjoint(document):
        names = _CHANNELS
    elif not _ONLY_RINGS.isdisjoint(document):
        names = _RINGS
    for key, name in names.items():
        yield from facts.make_count(f"{name}_max", document.get(f"{key}-max"), marks)
        yield from facts.make_count(name, document.get(key), marks)


def _read_settings(document: Document, marks: Labels) -> Iterator[Fact]:
    if "link-detected" not in document:
        return
    link, speed = document.get("link-detected"), read_number(document.get("speed"))
    yield from facts.make_text("nic.link", {True: "yes", False: "no"}.get(link is True), marks)
    yield from _make_switch("nic.autonegotiation", document.get("auto-negotiation"), marks)
    yield from facts.make_text("nic.port", document.get("port"), marks)
    duplex = str(document.get("duplex", "")).lower()
    yield from facts.make_text("nic.duplex", duplex if duplex in ("full", "half") else None, marks)
    # without a link nothing runs at the speed that the port is set to
    if link is True and speed is not None and 0 < speed < 2**31 and speed != 2**16 - 1:
        yield from facts.make_quantity("nic.speed", f"{speed:.0f} Mb/s", Unit.BYTE_RATE, marks)
