"""Formats that a fabric can be read from, and the detection of the format of a file.

An importer is a function ``fill(draft)`` that reads the text of a Draft into it; the Draft gives a Document in the
shape of our own file, whose positions lead into the source.
"""

import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from benchconsole.topology.description.document import Imported, source_text
from benchconsole.topology.importers.draft import Draft
from benchconsole.topology.infiniband.dump_files import recognize_dump

FORMATS = {
    "lldp": "lldpctl -f json0 (or json) of each node: files, or a directory of them",
    "containerlab": "a topology of containerlab, *.clab.yml",
    "slurm": "topology.conf or topology.yaml of Slurm",
    "netbox": "the graph that nrx exports from NetBox, *.cyjs",
    "ib": "InfiniBand: ibnetdiscover, iblinkinfo, opensm-subnet.lst, files of ibdiagnet2; a node-name-map beside it",
    "ssh-config": "an ssh_config: names and addresses of nodes only",
    "ansible": "an Ansible inventory, INI or YAML: names and addresses of nodes only",
}
"""Name of a format to what it reads; ``ssh-config`` lives in ``ssh_config``."""

SEVERAL = ("lldp", "ib")
"""The formats that are read from several files."""

_MARKS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("lldp", re.compile(r'\A\s*\{\s*"(?:lldp|local-chassis)"\s*:')),
    ("netbox", re.compile(r'\A\s*\{[^\0]*"elements"\s*:\s*\{')),
    ("containerlab", re.compile(r"^topology:", re.MULTILINE)),
    ("slurm", re.compile(r"^[ \t]*(?:SwitchName|BlockName)[ \t]*=|^-[ \t]+topology:", re.MULTILINE | re.IGNORECASE)),
    ("ssh-config", re.compile(r"^[ \t]*Host[ \t=]+\S", re.MULTILINE | re.IGNORECASE)),
    ("ansible", re.compile(r"^\[[^\]\s:]+(?::(?:children|vars))?\][ \t]*$|^[ \t]*(?:hosts|children):", re.MULTILINE)),
)
_LOOKED_AT = 256 * 1024


def sniff(text: str) -> str | None:
    """The foreign format that ``text`` looks like; None when it looks like none of them."""
    start = text[:_LOOKED_AT]
    if recognize_dump(start):
        return "ib"
    return next((name for name, mark in _MARKS if mark.search(start)), None)


def import_sources(name: str, paths: Sequence[Path], speed: str | None = None) -> Imported:
    """The fabric that sources of format ``name`` give; ``speed`` is for cables without one. Raises TopologyError."""
    if name in SEVERAL:
        several: Imported = _load(name).read(paths, speed)
        return several
    (path,) = paths
    return import_text(name, source_text(path), str(path), speed)


def import_text(name: str, text: str, file: str, speed: str | None = None) -> Imported:
    """The fabric that ``text``, called ``file`` in messages, describes. Raises TopologyError with every problem."""
    draft = Draft(file, text)
    _load(name).fill(draft)
    return draft.finish(speed)


def _load(name: str) -> ModuleType:
    return import_module(f"{__name__}.{name.replace('-', '_')}")
