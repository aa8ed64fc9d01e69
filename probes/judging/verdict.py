"""Owns what a judgement is: its level, the yardstick it was made with, and its reason."""

from dataclasses import dataclass
from enum import StrEnum

from probes.model import Labels
from topology.units import Shown, Unit


class Level(StrEnum):
    """How a subject stands. ``severity`` orders them, worst highest."""

    PASS = "pass"
    WATCH = "watch"
    FAIL = "fail"
    UNKNOWN = "unknown"

    @property
    def severity(self) -> int:
        """pass 0, unknown 1, watch 2, fail 3."""
        return (Level.PASS, Level.UNKNOWN, Level.WATCH, Level.FAIL).index(self)


class Kind(StrEnum):
    """Where an expected value comes from."""

    CRITERION = "criterion"
    HARDWARE = "hardware"
    CAPACITY = "capacity"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One subject held against one yardstick.

    ``subject`` is a node, a pair ``a>b`` or the name of a bundle; ``nodes`` are the nodes it
    speaks of. ``value`` and ``expected`` are in ``unit`` (None where there is no number);
    ``text`` and ``expected_text`` carry them when they are words. ``required`` is the bound that
    decided. ``limiting`` names the element that bounds the expectation, ``affected_by`` the
    element whose fault explains a low value (empty when the subject itself is meant).
    ``evidence`` are ids of measurements.
    """

    test: str
    round: int
    probe: str
    subject: str
    nodes: tuple[str, ...]
    metric: str
    labels: Labels
    level: Level
    kind: Kind
    because: str
    unit: Unit | None = None
    shown: Shown = Shown.PLAIN
    value: float | None = None
    expected: float | None = None
    required: float | None = None
    text: str = ""
    expected_text: str = ""
    source: str = ""
    limiting: str = ""
    affected_by: str = ""
    evidence: tuple[str, ...] = ()

    @property
    def share(self) -> float | None:
        """value / expected, where both are numbers."""
        if self.value is None or not self.expected:
            return None
        return self.value / self.expected


class Suspect(StrEnum):
    """The kinds of element that a finding may name."""

    NODE = "node"
    NIC = "nic"
    LINK = "link"
    LAG = "lag"
    SWITCH = "switch"
    STORAGE = "storage"
    FABRIC = "fabric"


class Confidence(StrEnum):
    """How sure a finding is: certain and likely rest on measurements, computed on the description."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"
    COMPUTED = "computed"


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause, named once, with everything it drags down counted under it.

    ``element`` is the id of the node, link or switch; ``where`` says it in words
    (``leaf1 to spine1``, ``n3 out``). ``what`` is the headline with both numbers; ``means`` the
    consequence, ``cannot_tell`` what the measurements leave open, ``do`` the next step.
    """

    suspect: Suspect
    element: str
    where: str
    what: str
    level: Level
    confidence: Confidence
    nodes: tuple[str, ...]
    tests: tuple[str, ...]
    evidence: tuple[str, ...] = ()
    because: tuple[str, ...] = ()
    rules_out: tuple[str, ...] = ()
    cannot_tell: str = ""
    means: str = ""
    do: str = ""
    value: float | None = None
    expected: float | None = None
    unit: Unit | None = None
