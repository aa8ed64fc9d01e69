"""One link on the path of a test."""

from dataclasses import dataclass

from benchconsole.topology.model.fabric import LinkId


@dataclass(frozen=True, slots=True)
class FlowHop:
    """One link on the path of a test, in the direction of its data.

    ``capacity`` and ``expected`` are byte/s of payload (as built; what this test should see of
    it). ``members_up`` is None when nothing says that one is down. ``limits`` marks the hop
    that bounds the expectation; ``note`` is a word or two on it.
    """

    source: str
    sink: str
    link: LinkId
    members: int
    capacity: float
    members_up: int | None = None
    expected: float | None = None
    limits: bool = False
    note: str = ""
