"""Reads ``ibstat`` as facts about InfiniBand adapters and their ports.

Without an adapter it prints nothing and ends with 0: then nothing was read, which is no fact.
"""

import re
from collections.abc import Iterator, Sequence

from probes.api import Fact, Labels, Unit, labels
from probes.builtin.captured import fields, whole_lines
from probes.builtin.inventory.facts import measured, once, said, settled, some

_ADAPTER = re.compile(r"CA '(?P<name>[^'\s]+)'")
_PORT = re.compile(r"\s+Port (?P<port>[0-9]+):")
_OWN = re.compile(r"\s+\S[^:]*:")
_HEADS = re.compile(r"CA '|\s+Port [0-9]+:$")
_RATE = re.compile(r"(?P<rate>[0-9]{1,4}(?:\.5)?)(?: \(.+\))?")
_OF_ADAPTER = {"CA type": "ib.type", "Firmware version": "ib.firmware"}
_OF_PORT = {"State": "ib.state", "Physical state": "ib.physical_state", "Link layer": "ib.link_layer"}


def parse(text: str) -> Sequence[Fact]:
    """``ib.type``, ``ib.firmware`` with the label ``ib``; with ``port`` ``ib.state``, ``ib.physical_state``,

    ``ib.link_layer`` and, of a port that is active, ``ib.rate`` (byte/s; what is printed is Gb/s).
    """
    return some(
        once(_facts(settled(whole_lines(text), _OWN, _HEADS))),
        "the adapters of ibstat, which prints nothing where there is none",
    )


def _facts(lines: Sequence[str]) -> Iterator[Fact]:
    adapter: Labels = ()
    port: Labels = ()
    told: dict[str, str] = {}
    for line in lines:
        if named := _ADAPTER.fullmatch(line):
            adapter, port = labels(ib=named["name"]), ()
        elif "CA '" in line:
            adapter, port = (), ()  # a heading that was torn: what follows belongs to an adapter without a name
        elif numbered := _PORT.fullmatch(line):
            port, told = (*adapter, *labels(port=numbered["port"])), {}
        for key, value in fields([line]) if adapter else ():
            told.setdefault(key, value)
            if port and key in _OF_PORT:
                yield from said(_OF_PORT[key], value, port)
            elif key in _OF_ADAPTER:
                yield from said(_OF_ADAPTER[key], value, adapter)
            # the rate ends in a bare number; the line behind it says that it was whole
            if port and key == "Base lid":
                yield from _rate(told, port)


def _rate(told: dict[str, str], port: Labels) -> Iterator[Fact]:
    rate = _RATE.fullmatch(told.get("Rate", ""))
    if rate and told.get("State") == "Active" and float(rate["rate"]) > 0:
        yield from measured("ib.rate", f"{rate['rate']} Gb/s", Unit.BYTE_RATE, port)
