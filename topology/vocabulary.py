"""Owns what a topology file may refer to but this package does not know: metrics and probes.

Plain data handed in from the probes, so that an unknown metric or option is reported with
its position beside every other mistake.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from topology.units import Unit


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """``metrics``: name to base unit. ``probes``: name to its options and their defaults.

    ``designs``: the test designs that a two-ended probe may be planned with.
    """

    metrics: Mapping[str, Unit]
    probes: Mapping[str, Mapping[str, str | int | float]]
    designs: tuple[str, ...] = ()
