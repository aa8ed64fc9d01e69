"""The events of a session: small frozen facts, in the order they happen.

A ``Result`` tells that one test has ended: it is stored, and nothing is judged before its round closes. A
``ClosedRound`` is judged and comes only after it is committed to the store; a colour on a screen may come only from it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import Struct

from benchconsole.console.view.interval_rates import ToldInterval
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.checklist import CheckedList
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.load import NodeLoad
from benchconsole.probes.model.measuring import Proof, Result, Round, Test
from benchconsole.probes.model.omission import OmissionReason
from benchconsole.topology.model.fabric import Fabric

if TYPE_CHECKING:
    from benchconsole.probes.judging.round_ways import RoundWays
    from benchconsole.probes.model.remark import Remark

LEFT_OUT = "left out"
"""The beginning of the kind of a note on parts of a suite that were not run, and why; so of the text of its event."""

SPARED = "spared"
"""The beginning of the kind of a note on nodes that a plan does not load because somebody else needs them.

The notes of one plan have one time, and take the place of those of the plan before it.
"""

SPARED_NONE = "none: this plan leaves no node alone"
"""The text of such a note where a plan loads what an earlier one of the session left alone."""

WAVES = "waves"
"""The kind of note that says which rounds grow from one load at once to their full width, stage by stage."""

_WAVES_TEXT = re.compile(r"rounds (\d{1,9}) to (\d{1,9})\b")

CANARY, CANARY_STILL = "canary", "canary keeps still"
"""The kinds of notes that say which canary watches a run, and why none does, or none does any more."""

CANARY_NONE = "none has been told of the run that begins here"
"""The text of such a note where an earlier run of the session had one."""

TIME_LIMIT = "stopped at its time limit"
"""The beginning of the reason of a run that ended because no round fitted into its time any more."""

TOLD_KINDS = (LEFT_OUT, SPARED, WAVES, CANARY, CANARY_STILL)
"""The kinds of notes that a view of a stored session shows among its events."""


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """A session is ready to run, to go on, or to be looked at. ``plan`` holds all its rounds.

    ``checklists`` are those that are kept with it, as they stand; ``sampled`` says that it is a watch of days.
    ``anew``: all that is known of it follows, and what was told before counts no more. ``shown`` is what is known of it
    already, where somebody has jumped in a session that is played again. ``remarks`` are what people said of it so far.
    ``begins_run``: a run of this console begins at ``at``; that of a stored session is when its first run began.
    """

    session: str
    label: str
    fabric: Fabric
    suite: str
    plan: tuple[Round, ...]
    at: float
    live: bool = True
    checklists: tuple[CheckedList, ...] = ()
    sampled: bool = False
    anew: bool = False
    shown: RunView | None = None
    remarks: "tuple[Remark, ...]" = ()
    begins_run: bool = field(default=False, compare=False)


class RoundStarted(Struct, frozen=True):
    """The tests of this round are on their way; even where tools hang they end in ``limit`` seconds (0: not known)."""

    round: Round
    at: float
    limit: float = 0.0


class TestStarted(Struct, frozen=True):
    """One test is being run now."""

    test: Test
    at: float


class IntervalsTold(Struct, frozen=True):
    """The numbers that the running tests of a round told in the last second, for all of them together.

    Only a screen that looks on is told them. They are shown, and never stored or judged. ``loads`` are those of nodes
    whose load is sampled, of large rounds only some at a time. ``ways`` are the links that the flows of the round
    cross: one object for the whole round, None until that is computed and where it has no flows.
    """

    found: tuple[ToldInterval, ...]
    at: float
    loads: tuple[NodeLoad, ...] = ()
    ways: "RoundWays | None" = None


class SessionEnded(Struct, frozen=True):
    """Nothing more will come. ``complete`` is False when rounds of the plan were not run."""

    at: float
    complete: bool
    because: str = ""

    @property
    def words(self) -> str:
        """How it ended, with the reason."""
        if self.complete:
            return "complete"
        if self.because.startswith("stopped"):
            return self.because
        return f"stopped: {self.because}" if self.because else "stopped"


class Held(Struct, frozen=True):
    """The run waits: the database refuses, or a rule for the cluster's sake holds it.

    ``spool`` is the file that keeps what is finished meanwhile; empty where nothing need be kept.
    """

    because: str
    at: float
    spool: str = ""


class Resumed(Struct, frozen=True):
    """The cause that held the run is over; ``imported`` results came back from the spool."""

    at: float
    imported: int = 0


class Noticed(Struct, frozen=True):
    """Something that concerns the run and no single test: a canary that keeps still, a plugin that blocks.

    ``kind`` is that of the note which is stored of it, without a reason; empty where none is. ``reason`` is why
    something is left out or spared, and means nothing for other kinds.
    """

    text: str
    at: float
    kind: str = ""
    reason: OmissionReason = OmissionReason.NOT_RECORDED

    @property
    def left_out(self) -> bool:
        """Whether it is a part of the suite that is not run."""
        return self.kind == LEFT_OUT


def name_omission(kind: str, reason: OmissionReason) -> str:
    """The kind of the note that keeps an omission with its reason: ``left out (capped)``."""
    return f"{kind} ({reason})"


def make_noticed(kind: str, text: str, at: float) -> Noticed:
    """The event of a note: its kind stands before its text, without the reason that the kind of an omission has."""
    base, _, rest = kind.partition(" (")
    if base not in (LEFT_OUT, SPARED):
        return Noticed(f"{kind}: {text}", at, kind)
    reason = _REASONS.get(rest.removesuffix(")"), OmissionReason.NOT_RECORDED)
    return Noticed(f"{base}: {text}", at, base, reason)


_REASONS = {reason.value: reason for reason in OmissionReason}


def is_time_stop(because: str) -> bool:
    """Whether a run ended at its time limit, by the reason that it gave for its end."""
    return because.startswith(TIME_LIMIT)


def say_waves(rounds: Sequence[Round]) -> str:
    """The text of the note on ``rounds``, one after the other, that were planned in waves."""
    return f"rounds {rounds[0].number} to {rounds[-1].number}: each stage begins with 1, 2, 4 ... loads at once"


def read_waves(text: str) -> range | None:
    """The numbers of the rounds that such a note is about; None where it is none."""
    found = _WAVES_TEXT.match(text)
    return None if found is None else range(int(found[1]), int(found[2]) + 1)


class NodesProven(Struct, frozen=True):
    """The nodes were searched for anything of ours at the end of a run."""

    proofs: tuple[Proof, ...]
    at: float


Event = (
    SessionOpened
    | RoundStarted
    | TestStarted
    | IntervalsTold
    | Result
    | ClosedRound
    | Held
    | Resumed
    | Noticed
    | NodesProven
    | SessionEnded
)
