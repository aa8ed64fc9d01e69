"""Owns the list of languages that a fabric can be written in, and loads an exporter when it is asked for.

An exporter is a function ``export(fabric) -> str``; it writes text, never a file. Refuses to
know how any of them quotes, and what is done with the text.
"""

import difflib
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from topology.model import Fabric

EXPORTERS: Mapping[str, str] = MappingProxyType(
    {
        "dot": "topology.exporters.dot:export",
        "mermaid": "topology.exporters.mermaid:export",
        "d2": "topology.exporters.d2:export",
        "containerlab": "topology.exporters.containerlab:export",
        "slurm": "topology.exporters.slurm:export_conf",
        "slurm-yaml": "topology.exporters.slurm:export_yaml",
    }
)
"""Name of a language to ``module:function``."""


class ExportError(Exception):
    """A fabric that cannot be written in the language that was asked for; says why."""


def exporter(name: str) -> "Callable[[Fabric], str]":
    """The function that writes a fabric as ``name``. ExportError for a name that is not listed."""
    place = EXPORTERS.get(name)
    if place is None:
        near = difflib.get_close_matches(name, EXPORTERS, n=1, cutoff=0.4)
        hint = f", did you mean {near[0]}?" if near else ""
        raise ExportError(f"unknown format {name!r}, expected one of {', '.join(EXPORTERS)}{hint}")
    module, _, function = place.partition(":")
    return cast("Callable[[Fabric], str]", getattr(import_module(module), function))
