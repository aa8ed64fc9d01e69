"""Formats that a fabric can be read from, and the detection of the format of a file.

``native`` is our own format; the others are foreign and are loaded when they are asked for.
An importer is a function ``read(paths, speed) -> Imported``: foreign text to a Document in the
shape of our own file, whose positions lead into the source. ``topology.description.resolve`` gives it meaning.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from benchconsole.topology.description.document import Imported

FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "lldp": "lldpctl -f json0 (or json) of each node: files, or a directory of them",
        "containerlab": "a topology of containerlab, *.clab.yml",
        "slurm": "topology.conf or topology.yaml of Slurm",
        "netbox": "the graph that nrx exports from NetBox, *.cyjs",
        "ssh-config": "an ssh_config: names and addresses of nodes only",
        "ansible": "an Ansible inventory, INI or YAML: names and addresses of nodes only",
    }
)
"""Name of a format to what it reads; ``ssh-config`` lives in ``ssh_config``."""

SEVERAL = ("lldp",)
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


def list_formats() -> tuple[str, ...]:
    """The foreign formats."""
    return tuple(FORMATS)


def sniff(text: str) -> str | None:
    """The foreign format that ``text`` looks like; None when it looks like none of them."""
    start = text[:_LOOKED_AT]
    return next((name for name, mark in _MARKS if mark.search(start)), None)


def find_importer(name: str) -> "Callable[[Sequence[Path], str | None], Imported]":
    """The function that reads ``name``, one of ``names()``."""
    module = import_module(f"benchconsole.topology.importers.{name.replace('-', '_')}")
    return cast("Callable[[Sequence[Path], str | None], Imported]", module.read)
