"""The question to a design, and its answer: flows, and which of them belong together.

A design decides who sends to whom and why; the scheduler decides what runs at the same time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from benchconsole.probes.model.measuring import Bundle
from benchconsole.probes.model.options import Given
from benchconsole.probes.model.sending import NO_OPTIONS, SendingOptions
from benchconsole.probes.planning.design_options import Options
from benchconsole.probes.planning.flow_classes import FlowClasses
from benchconsole.topology.model.fabric import Fabric, Flow, NodeId

Pair = tuple[NodeId, NodeId]
"""Who sends, and to whom."""


@dataclass(frozen=True, slots=True)
class FlowLoad:
    """Flows that run together, and the bundle that they fill (None: one flow that stands alone).

    With ``port`` each is one stream that is sent from this source port (0: any, and as many streams as the stage says).
    """

    flows: tuple[Flow, ...]
    bundle: Bundle | None = None
    port: int = 0


@dataclass(slots=True)
class FlowLayout:
    """The flows that are to be run for one reason: ``pairs`` that stand alone, and ``loads``.

    ``any_order``: the scheduler may look for an order that needs fewer rounds. ``apart``: no two of the flows may share
    a link whose hash could put them on one member.
    """

    because: str
    pairs: list[Pair] = field(default_factory=list)
    loads: list[FlowLoad] = field(default_factory=list)
    any_order: bool = False
    apart: bool = False


@dataclass(frozen=True, slots=True)
class DesignRequest:
    """The request to a design: which nodes of which fabric, and the options of the stage after all defaults.

    ``written`` are the options of the file, without defaults. ``flow_classes`` knows which nodes have a path to which,
    and counts every stream that a flow could use. ``sending`` names the options by which the probe is told how to send.
    """

    fabric: Fabric
    nodes: Sequence[NodeId]
    flow_classes: FlowClasses
    options: Given
    written: Options = field(default_factory=lambda: MappingProxyType({}))
    sending: SendingOptions = NO_OPTIONS


@dataclass(frozen=True, slots=True)
class Design:
    """A way of choosing flows: ``lay_out`` chooses them, ``options`` are those that it reads, with their defaults.

    ``fans_out``: a node may be in several tests at once, as far as its links carry them; elsewhere it sends to one
    partner and receives from one, so that a slow node is not taken for a shared one.
    """

    lay_out: Callable[[DesignRequest], list[FlowLayout]]
    options: Options = field(default_factory=lambda: MappingProxyType({}))
    fans_out: bool = False
