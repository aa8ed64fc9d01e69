"""Formats that a fabric can be written in; an exporter is imported when it is asked for.

An exporter is a function ``export(fabric) -> str``; it writes text, never a file.
"""

import difflib
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from benchconsole.topology.model.fabric import Fabric

EXPORTERS: Mapping[str, str] = MappingProxyType(
    {
        "dot": "benchconsole.topology.exporters.dot:export",
        "mermaid": "benchconsole.topology.exporters.mermaid:export",
        "d2": "benchconsole.topology.exporters.d2:export",
        "containerlab": "benchconsole.topology.exporters.containerlab:export",
        "slurm": "benchconsole.topology.exporters.slurm:export_conf",
        "slurm-yaml": "benchconsole.topology.exporters.slurm:export_yaml",
    }
)
"""Name of a language to ``module:function``."""


class ExportError(Exception):
    """A fabric that cannot be written in the language that was asked for; says why."""


def find_exporter(name: str) -> "Callable[[Fabric], str]":
    """The function that writes a fabric as ``name``. ExportError for a name that is not listed."""
    place = EXPORTERS.get(name)
    if place is None:
        near = difflib.get_close_matches(name, EXPORTERS, n=1, cutoff=0.4)
        hint = f", did you mean {near[0]}?" if near else ""
        raise ExportError(f"unknown format {name!r}, expected one of {', '.join(EXPORTERS)}{hint}")
    module, _, function = place.partition(":")
    return cast("Callable[[Fabric], str]", getattr(import_module(module), function))
