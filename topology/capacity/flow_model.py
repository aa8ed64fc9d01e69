"""The models by which flows are taken to choose among equal ways."""

from enum import StrEnum


class Model(StrEnum):
    """How flows are taken to choose among equal ways; every number names its own.

    ``FLUID``: each flow divides evenly over equal next hops and over the cables of a LAG, and is no faster than the
    slowest of the links that it divides over lets it; only streams on unequal members of one link go at their own pace.
    ``HASH``: each flow is on one next hop and one member, drawn evenly and anew at each device. ``POLARISED``: the same
    with one hash everywhere. ``STEERED``: source ports are chosen so that next hops and members are used in turn.
    ``MEMBERS``: fluid, but for the members that are known, as port counters tell them. ``SPRAYED``: over all ways in
    the best parts, which the file says of a network (``routing: spray``); it is no choice of its own.
    """

    FLUID = "fluid"
    HASH = "hash"
    POLARISED = "polarised hash"
    STEERED = "steered"
    MEMBERS = "known members"
    SPRAYED = "sprayed"
