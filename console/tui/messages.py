"""Messages from the screens to the application. Widgets define their own beside themselves."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from textual.message import Message

from benchconsole.topology.model.fabric import NodeId

if TYPE_CHECKING:
    from benchconsole.probes.model.remark import RemarkSubject


@dataclass
class OpenNode(Message):
    """Show one node."""

    node: NodeId


@dataclass
class OpenFinding(Message):
    """Show one finding, by its place in the list."""

    index: int


@dataclass
class OpenStatic(Message):
    """Show what the description says of one element: the static finding by its ``where``."""

    where: str


@dataclass
class ShowInFabric(Message):
    """Put the fabric's cursor on a node, link or switch, by id."""

    element: str


@dataclass
class ReadInFull(Message):
    """Put text in front of the page: sections with a name and sentences."""

    title: str
    sections: Sequence[tuple[str, Sequence[str]]]


@dataclass
class OpenSweeps(Message):
    """Show what was swept, as curves."""


@dataclass
class PlanRun(Message):
    """Propose rounds and show them: a suite, what failed, or the tests ``only``."""

    suite: str | None = None
    failed_only: bool = False
    only: Collection[str] = ()


@dataclass
class Copy(Message):
    """Send text to the clipboard of the operator's terminal."""

    text: str
    what: str


@dataclass
class EditCriterion(Message):
    """Add a criterion, or change the one at a place of those that judge the session."""

    place: int | None = None


class Remarked(NamedTuple):
    """The subject of a remark, in words ``name``; ``session`` is an id, empty for the session on the screen."""

    of: "RemarkSubject"
    name: str
    session: str = ""


@dataclass
class OrderFilter(Message):
    """Show the area of a saved filter with it, or forget it."""

    area: str
    name: str
    removes: bool = False


class SessionOrder(StrEnum):
    """The order for a session of the database."""

    OPEN = "open"
    REPLAY = "replay"
    LABEL = "label"
    REMOVE = "remove"
    LEAVE = "leave"


@dataclass
class OrderSession(Message):
    """Do it with the session of this id; ``text`` is what was typed, empty where that has to be asked.

    ``marked`` are the sessions that REMOVE takes away together.
    LEAVE goes back to the session from which the one on the screen was opened.
    """

    order: SessionOrder
    session: str = ""
    text: str = ""
    marked: tuple[str, ...] = ()
