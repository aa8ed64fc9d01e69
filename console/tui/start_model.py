"""The start page as values: the topologies, scenarios and sessions that it offers, and the choice that was made."""

from dataclasses import dataclass
from enum import StrEnum

from benchconsole.console.view.stored_verdict import ListedVerdict


@dataclass(frozen=True, slots=True)
class Past:
    """A session that can be opened. ``when`` is in words."""

    id: str
    label: str
    fabric: str
    when: str
    tested: int
    total: int
    verdict: ListedVerdict


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A session that can be resumed; ``words`` say where it stopped and how much is left."""

    id: str
    label: str
    words: str


@dataclass(frozen=True, slots=True)
class Demo:
    """A scenario of the simulated cluster; ``words`` say what is planted in it."""

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class StartModel:
    """Everything that the page offers; what is empty is not shown. Sessions come newest first.

    ``file`` is the name that a topology gets which somebody has nodes asked for.
    """

    version: str
    topologies: tuple[str, ...] = ()
    sessions: tuple[Past, ...] = ()
    interrupted: tuple[Interrupted, ...] = ()
    demos: tuple[Demo, ...] = ()
    file: str = "cluster.yaml"


class Start(StrEnum):
    """What was chosen."""

    OPEN = "open"
    DEMO = "demo"
    ASK = "ask"
    SESSION = "session"
    RESUME = "resume"


@dataclass(frozen=True, slots=True)
class StartChoice:
    """``value`` is the path, the scenario or the session id."""

    action: Start
    value: str
