"""The words that a topology file may use for what is measured: metrics, probes and their options, test designs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from benchconsole.topology.model.fabric import Comparator, Node
from benchconsole.topology.units import Unit


@dataclass(frozen=True, slots=True)
class MetricTraits:
    """The rules for criteria on a metric: ``sense`` is the only bound that means something (None: either may).

    ``of_capacity``: it is held against the fabric. ``in_bytes``: a rate that is written in bytes, never in bits.
    ``labels`` are those that its numbers may carry (None: not told).
    """

    sense: Comparator | None = None
    of_capacity: bool = False
    in_bytes: bool = False
    labels: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """``metrics``: name to base unit, ``traits`` what else is known of them. ``probes``: name to options and defaults.

    ``designs``: the test designs that a two-ended probe may be planned with. ``refuses`` says why a
    probe would not run with these options on these nodes, beginning with what was found; empty where it would.
    """

    metrics: Mapping[str, Unit]
    probes: Mapping[str, Mapping[str, str | int | float]]
    designs: tuple[str, ...] = ()
    traits: Mapping[str, MetricTraits] = field(default_factory=lambda: MappingProxyType({}))
    refuses: Callable[[str, Mapping[str, str | int | float], Sequence[Node]], str] = lambda probe, options, nodes: ""


ReadVocabulary = Callable[[], Vocabulary]
"""Reads the words: it takes as long as all the rest of a small file."""
