"""What documents say about a machine, to be held against what is computed from its description."""

from dataclasses import dataclass

END_TO_END = "end-to-end"
"""The scope of a claim on the whole way from node to node."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that the documents say about the machine.

    ``what`` is oversubscription (``value`` is down/up), bisection (byte/s), or a total over ``nodes``: nodes, sockets,
    cores (each a number), memory, disk (bytes) or peak (FLOP/s). ``scope`` is ``end-to-end``, a tier, a group kind, or
    the name of a switch or group; of a total the selection of nodes as it is written, empty for all.
    """

    what: str
    scope: str
    value: float
    source: str = ""
    nodes: tuple[str, ...] = ()
