"""The smallest loss that the tests of a run could have shown, of one kind of element."""

from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """The kinds of element with what may be wrong with each, in the order in which they are told."""

    NIC = "NIC one way"
    LEG_LOST = "bond leg lost"
    MEMBER_LOST = "LAG member lost"
    MEMBER_HALF = "LAG member at half speed"
    LINK = "link between switches one way"
    SWITCH_HALF = "switch at half speed"
    PAIR = "links of an MLAG pair one way"


@dataclass(frozen=True, slots=True)
class DetectableLoss:
    """The loss that the tests of a run could have shown on ``elements`` of one kind; ``seen`` counts those seen at all.

    ``loss`` is the share of the capacity of the worst of those seen that may be gone unseen, in [0, 1); None where
    none is seen. Of a fault of one size (a lost leg or member, half speed) it is that size. ``widest`` is the
    largest number of members (or legs) among those that are not seen, else among all; 1 where that means nothing.
    """

    fault: Fault
    elements: int
    seen: int
    loss: float | None
    widest: int = 1

    @property
    def is_seen(self) -> bool:
        """Whether such a fault would have been seen wherever it is."""
        return self.seen == self.elements
