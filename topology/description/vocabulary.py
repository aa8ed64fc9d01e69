"""Metrics and probes that a topology file may refer to, as this package gets them from its caller.

Handed in from the probes, so that an unknown metric or option is reported with its position
beside every other mistake.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchconsole.topology.units import Unit


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """``metrics``: name to base unit. ``probes``: name to its options and their defaults.

    ``designs``: the test designs that a two-ended probe may be planned with. ``refuses`` says why a
    probe would not run with these options, beginning with what was found; empty where it would.
    """

    metrics: Mapping[str, Unit]
    probes: Mapping[str, Mapping[str, str | int | float]]
    designs: tuple[str, ...] = ()
    refuses: Callable[[str, Mapping[str, str | int | float]], str] = lambda probe, options: ""
