"""The topology file of a session, read and checked against the installed probes."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from benchconsole.topology.description.declarations import Vocabulary
from benchconsole.topology.description.resolve import load
from benchconsole.topology.model.fabric import Fabric

if TYPE_CHECKING:
    from benchconsole.probes.api import Probe


def make_vocabulary(probes: Mapping[str, "Probe"]) -> Vocabulary:
    """What a topology file may name, from the probes that are installed."""
    from benchconsole.probes.planning.design_options import find_refusal
    from benchconsole.probes.planning.designs import DESIGNS
    from benchconsole.probes.planning.plan_rounds import DESIGN_OPTIONS

    return Vocabulary(
        {metric.name: metric.unit for probe in probes.values() for metric in probe.metrics},
        {name: {**DESIGN_OPTIONS, **probe.options, "design": ""} for name, probe in probes.items()},
        tuple(DESIGNS),
        lambda name, options: find_refusal(probes[name], options),
    )


def read_fabric(path: Path, probes: Mapping[str, "Probe"], parameters: Mapping[str, int] | None = None) -> Fabric:
    """The fabric of a topology file, checked against the installed probes; ``parameters`` replace those of the file."""
    return load(path, make_vocabulary(probes), parameters)
