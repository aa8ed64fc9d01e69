"""Checklists: steps that no probe can take, the marks that people set on them, and the files that are their evidence.

All frozen.
"""

from enum import StrEnum

from msgspec import Struct

MOST_BYTES = 16 * 2**20
"""Bytes of one attachment."""
PLACE = "@"
"""Stands between the name of a step and the place where it is checked."""


class StepState(StrEnum):
    """The states that somebody may give a step."""

    PASS = "pass"
    FAIL = "fail"
    NOT_DONE = "not done"
    NOT_APPLICABLE = "not applicable"


class Step(Struct, frozen=True):
    """One thing to check. ``argv`` is what shows it when it is run on this machine; empty: somebody does it by hand.

    ``clause`` says where it is asked for; the command may take ``seconds``.
    """

    id: str
    text: str
    clause: str = ""
    argv: tuple[str, ...] = ()
    seconds: float = 60.0


class Checklist(Struct, frozen=True):
    """A file of steps: its name, the document that asks for them, the text as it was written."""

    name: str
    source: str
    steps: tuple[Step, ...]
    file: str


class Evidence(Struct, frozen=True):
    """A file to be kept: what it is called, and its bytes."""

    name: str
    content: bytes


class Attachment(Struct, frozen=True):
    """A file that is kept: what it is called, its bytes counted, its SHA-256 in hex."""

    name: str
    size: int
    sha256: str


class Mark(Struct, frozen=True):
    """The state that somebody gave a step at a time (UTC seconds)."""

    state: StepState
    by: str
    at: float
    note: str = ""


class Checked(Struct, frozen=True):
    """A step as it stands: the newest mark (None: nobody has said anything), what it rests on, how many were before."""

    step: Step
    mark: Mark | None = None
    attachments: tuple[Attachment, ...] = ()
    earlier: int = 0

    @property
    def state(self) -> StepState:
        """Not done unless somebody said otherwise."""
        return self.mark.state if self.mark else StepState.NOT_DONE


class CheckedList(Struct, frozen=True):
    """A checklist of a session as it stands, in the order of its file."""

    name: str
    source: str
    steps: tuple[Checked, ...]

    def count(self, state: StepState) -> int:
        return sum(each.state is state for each in self.steps)
