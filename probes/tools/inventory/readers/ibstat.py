"""``ibstat`` as facts about InfiniBand adapters and their ports.

Without an adapter it prints nothing and ends with 0: then nothing was read, which is no fact.
"""

import re
from collections.abc import Iterator

from benchconsole.probes.api import Fact, Labels, Unit, labels
from benchconsole.probes.readers.lines import read_lines, split_fields
from benchconsole.probes.readers.readings import add_labels
from benchconsole.probes.tools.inventory.facts import keep_whole_lines, make_quantity, make_text

EXPECTED = "the adapters of ibstat, which prints nothing where there is none"

_ADAPTER = re.compile(r"CA '(?P<name>[^'\s]+)'")
_PORT = re.compile(r"\s+Port (?P<port>[0-9]+):")
_OWN = re.compile(r"\s+\S[^:]*:")
_HEADS = re.compile(r"CA '|\s+Port [0-9]+:$")
_RATE = re.compile(r"(?P<rate>[0-9]{1,4}(?:\.5)?)(?: \(.+\))?")
_OF_ADAPTER = {"CA type": "ib.type", "Firmware version": "ib.firmware"}
_OF_PORT = {"State": "ib.state", "Physical state": "ib.physical_state", "Link layer": "ib.link_layer"}


def find_facts(text: str) -> Iterator[Fact]:
    """``ib.type``, ``ib.firmware`` with the label ``ib``; with ``port`` ``ib.state``, ``ib.physical_state``,

    ``ib.link_layer`` and, of a port that is active, ``ib.rate`` (byte/s; Gb/s are printed).
    """
    adapter: Labels = ()
    port: Labels = ()
    fields: dict[str, str] = {}
    for line in keep_whole_lines(read_lines(text), _OWN, _HEADS):
        if "CA '" in line:
            # below a heading that was torn stands an adapter without a name
            named = _ADAPTER.fullmatch(line)
            adapter, port = labels(ib=named["name"]) if named else (), ()
        elif numbered := _PORT.fullmatch(line):
            port, fields = add_labels(adapter, port=numbered["port"]), {}
        for key, value in split_fields([line]) if adapter else ():
            fields.setdefault(key, value)
            if port and key in _OF_PORT:
                yield from make_text(_OF_PORT[key], value, port)
            elif key in _OF_ADAPTER:
                yield from make_text(_OF_ADAPTER[key], value, adapter)
            # the rate ends in a bare number; the line behind it says that it was whole
            if port and key == "Base lid":
                rate = _RATE.fullmatch(fields.get("Rate", ""))
                if rate and fields.get("State") == "Active" and float(rate["rate"]) > 0:
                    yield from make_quantity("ib.rate", f"{rate['rate']} Gb/s", Unit.BYTE_RATE, port)
