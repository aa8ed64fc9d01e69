"""The Fibre Channel ports of a node, as facts: ``/sys/class/fc_host``, which every driver fills in the same way.

Source: the kernel's ``scsi_transport_fc``.
"""

import re
from collections.abc import Iterator

from benchconsole.probes.api import Fact, Unit
from benchconsole.probes.readers.lines import find_match, read_lines, split_fields
from benchconsole.probes.tools.inventory.facts import label_part, make_count, make_quantity, make_text

_COUNT = re.compile(r"hosts: (?P<count>[0-9]{1,5})")
_FILE = re.compile(r"/sys/class/fc_host/(?P<host>host[0-9]{1,6})/(?P<name>port_state|speed|port_name)")
_SPEED = re.compile(r"(?P<gigabits>[0-9]{1,4}) Gbit")
_NAMES = {"port_state": "fc.state", "port_name": "fc.port_name"}


def find_ports(text: str) -> Iterator[Fact]:
    """``fc.ports``, 0 where there is none; with the label ``fc`` ``fc.state``, ``fc.port_name``, ``fc.speed``."""
    lines = read_lines(text)
    count = find_match(_COUNT, lines)
    yield from make_count("fc.ports", count and count["count"])
    for path, said in split_fields(lines):
        file = _FILE.fullmatch(path)
        if file is None:
            continue
        marks = label_part("fc", file["host"])
        if file["name"] != "speed":
            yield from make_text(_NAMES[file["name"]], said, marks)
        elif speed := _SPEED.fullmatch(said):
            yield from make_quantity("fc.speed", f"{speed['gigabits']} Gb/s", Unit.BYTE_RATE, marks)
