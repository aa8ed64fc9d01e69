"""Numbers of an earlier session that later ones of the same machine are held against."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

Labels = tuple[tuple[str, str], ...]
Place = tuple[str, str, Labels]
"""A metric, who was measured (a node, ``n1>n2``, or a set), and the labels of the measurement but for repetitions."""


@dataclass(frozen=True, slots=True)
class BaselineNumbers:
    """The median of each place in the session ``name``, in base units; ``why`` says why there is none at all."""

    name: str = ""
    values: Mapping[Place, float] = field(default_factory=lambda: MappingProxyType({}))
    why: str = ""
