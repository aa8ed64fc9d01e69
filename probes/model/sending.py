"""How one test loads the links between its two nodes, and by which options its probe is told to.

Planning and judging read these values only; the names of a tool's options stay with its probe.
"""

from enum import StrEnum

from msgspec import Struct

from benchconsole.probes.model.options import Given

_MOST_STREAMS = 65_535
_HIGHEST_PORT = 65_535


class Directions(StrEnum):
    """Who sends in a test between two nodes: the node to its peer, the peer to the node, or both at once."""

    FORWARD = "forward"
    REVERSED = "reversed"
    BOTH = "both"


class Sending(Struct, frozen=True):
    """The flow that a test sends from one node to another while it runs.

    ``streams`` is how many connections send at once, each on one member cable of every link. ``rate`` is byte/s of
    payload that all of them together are held to in each direction (None: as fast as it goes), ``source_port`` the
    port of the first of them (None: any). ``bulk``: data flows without a pause for as long as the test is timed, so
    that its throughput tells what the links carry; False for requests and answers, bursts, and whatever a disk or a
    processor holds up. ``network`` is the one that the test uses; empty where the machine has one only, or several
    that are joined. ``leg`` and ``peer_leg`` name the ports of the node and of its peer that it uses; empty where
    none is named.
    """

    streams: int = 1
    rate: float | None = None
    directions: Directions = Directions.FORWARD
    source_port: int | None = None
    bulk: bool = True
    network: str = ""
    leg: str = ""
    peer_leg: str = ""


ONE_STREAM = Sending()
"""One stream from the node to its peer, as fast as it goes."""


class SendingOptions(Struct, frozen=True):
    """Names of the options by which a probe is told how to send, empty where it has no such option.

    ``streams`` is a count (without the option: 1), ``rate`` a text with its unit (``"480 Mb/s"``, empty: none) for
    the payload of all streams in each direction, ``source_port`` the port of the first stream (0: any);
    ``reverse`` 1 lets the peer send, ``both`` 1 sends both ways at once. A plan sets ``rate`` where links are
    capped, and ``streams`` and ``source_port`` in the design ``steered``; a probe without these options takes no
    part there.
    """

    streams: str = ""
    rate: str = ""
    source_port: str = ""
    reverse: str = ""
    both: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for field in self.__struct_fields__ if (name := getattr(self, field)))

    def read(self, given: Given) -> Sending:
        """The sending of a test with these options; PlanError for a value that is out of range."""
        directions = Directions.FORWARD
        if self.both and given.flag(self.both):
            directions = Directions.BOTH
        elif self.reverse and given.flag(self.reverse):
            directions = Directions.REVERSED
        return Sending(
            streams=given.whole(self.streams, 1, _MOST_STREAMS) if self.streams else 1,
            rate=given.rate(self.rate) if self.rate else None,
            directions=directions,
            source_port=(given.whole(self.source_port, 0, _HIGHEST_PORT) or None) if self.source_port else None,
        )


NO_OPTIONS = SendingOptions()
"""Those of a probe that cannot be told how to send."""
