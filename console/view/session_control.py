"""Proposals, plan notes and paths that a session shows to the screens, and who is told or asked."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from benchconsole.console.view.events import Event
from benchconsole.probes.model.measuring import Round
from benchconsole.topology.model.fabric import Flow, LinkId

if TYPE_CHECKING:
    from benchconsole.probes.api import Probe
    from benchconsole.probes.blank_devices import Confirmation

NO_PROBES: "Mapping[str, Probe]" = MappingProxyType({})
"""The probes of a session that is not open yet."""


class PlanNotes(Struct, frozen=True):
    """The notes on a plan, in words: ``effects`` on nodes, what it ``covers``, what is ``held_back`` and why.

    ``shows`` says how small a fault it would show, ``overrun`` by how many seconds a tool that hangs makes a round
    longer at most. ``limits`` says whether the plan fits in the time of the run, where that is limited.
    """

    effects: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    held_back: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    overrun: float = 0.0
    limits: tuple[str, ...] = ()


class Proposal(Struct, frozen=True):
    """Rounds that would run, and what they do; nothing of it has been sent.

    ``unconfirmed`` are disks that are left out because nobody has confirmed that they may be overwritten.
    ``chosen`` says which options were chosen; ``command`` is the command line that plans the same as a session of its
    own, empty where none does. ``ends`` says what is still to be done of an interrupted session whose rounds are all
    closed: it is started with no rounds. Empty where there is nothing to run, or rounds.
    """

    rounds: tuple[Round, ...]
    notes: PlanNotes = field(default_factory=PlanNotes)
    unconfirmed: "tuple[Confirmation, ...]" = ()
    ends: str = ""
    chosen: tuple[str, ...] = ()
    command: str = ""


class RunForm(Struct, frozen=True):
    """The options of a plan as a form: ``meanings`` of the fields, in order, their ``values``, and a ``note``.

    ``choices`` are words that a field may become. ``list_mistakes`` says what is wrong with what was typed.
    """

    meanings: Mapping[str, str]
    values: Mapping[str, str]
    note: str
    choices: Mapping[str, Sequence[str]]
    list_mistakes: Callable[[Mapping[str, str]], Sequence[str]]


class FlowHop(Struct, frozen=True):
    """One link on the path of a test, in the direction of its data.

    ``capacity`` and ``expected`` are byte/s of payload (as built; what this test should see of
    it). ``members_up`` is None when nothing says that one is down. ``limits`` marks the hop
    that bounds the expectation; ``note`` is a word or two on it. ``crossing`` are the flows of the round that cross
    the link the same way, each with the id of its test and the share of it that does; ``load`` is byte/s of payload
    that they put on it together, by what was measured.
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
    crossing: tuple[tuple[str, Flow, float], ...] = ()
    load: float = 0.0


class ReplayPlace(Struct, frozen=True):
    """Where a replay is: ``played`` of ``total`` seconds, ``at`` UTC seconds in the session, and in which round."""

    played: float
    total: float
    at: float
    round: int
    rounds: int


Hear = Callable[[Sequence[Event]], None]
"""Told what happened since the last time, in order; in any thread, one call after the other."""


AskPassword = Callable[[str], Coroutine[Any, Any, str | None]]
"""Asks the operator for the password of ``sudo`` on the nodes, given what to say; None where none is given."""
