"""Owns what a design is asked, and what it hands to the scheduler: flows, and which of them belong together.

A design decides who sends to whom and why; which of it runs at the same time is decided by
``packing``. Refuses to know rounds.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from probes.model import Bundle
from probes.planning.kinds import Kinds
from probes.planning.options import Options
from topology.model import Fabric, Flow, NodeId
from topology.routing import Routes

Pair = tuple[NodeId, NodeId]
"""Who sends, and to whom."""

NONE: Options = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Load:
    """Flows that run together, and the bundle that they fill (None: one flow that stands alone).

    ``options`` are what their tests are given beyond the options of the stage.
    """

    flows: tuple[Flow, ...]
    bundle: Bundle | None = None
    options: Options = field(default_factory=lambda: NONE)


@dataclass(slots=True)
class Layout:
    """What is to be run for one reason: ``pairs`` that stand alone, and ``loads``.

    ``any_order``: the scheduler may look for an order that needs fewer rounds. ``fans_out``: a
    node may be in several tests at once, as far as its links carry them; elsewhere it sends to
    one partner and receives from one, so that a slow node is not taken for a shared one.
    ``apart``: no two of the flows may share a link whose hash could put them on one member.
    ``single``: each test sends one stream.
    """

    because: str
    pairs: list[Pair] = field(default_factory=list)
    loads: list[Load] = field(default_factory=list)
    any_order: bool = False
    fans_out: bool = False
    apart: bool = False
    single: bool = False

    @property
    def flows(self) -> Iterator[Flow]:
        """Every flow, in order."""
        for source, sink in self.pairs:
            yield Flow(source, sink)
        for load in self.loads:
            yield from load.flows


@dataclass(frozen=True, slots=True)
class Request:
    """What a design is asked: which nodes of which fabric, and the options of the stage after all defaults.

    ``given`` are the options that somebody wrote, as against their defaults. ``kinds`` know which
    nodes have a path to which, and count every stream that a flow could use.
    """

    fabric: Fabric
    nodes: Sequence[NodeId]
    kinds: Kinds
    options: Options = field(default_factory=lambda: NONE)
    given: Options = field(default_factory=lambda: NONE)

    @property
    def routes(self) -> Routes:
        """The paths of the fabric, looked up once for all designs of a plan."""
        return self.kinds.routes


@dataclass(frozen=True, slots=True)
class Design:
    """A way of choosing flows: ``lay_out`` chooses them, ``options`` are those that it reads, with their defaults."""

    lay_out: Callable[[Request], list[Layout]]
    options: Mapping[str, str | int | float] = field(default_factory=lambda: NONE)
    fans_out: bool = False
