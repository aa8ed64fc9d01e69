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
class KnownFile:
    """A file that was opened before; ``folder`` is the one that it stands in, as people write it."""

    path: str
    name: str
    folder: str


@dataclass(frozen=True, slots=True)
class StartModel:
    """Everything that the page offers; what is empty is not shown. Sessions and known files come newest first.

    ``topologies`` are those of the current folder, ``recent`` others that were opened before. Sessions are those of
    ``database``, None for the user's own; ``databases`` are the others. ``file`` is the name that a topology gets which
    somebody has nodes asked for. ``note`` is said in the last line at first.
    """

    version: str
    topologies: tuple[str, ...] = ()
    sessions: tuple[Past, ...] = ()
    interrupted: tuple[Interrupted, ...] = ()
    demos: tuple[Demo, ...] = ()
    file: str = "cluster.yaml"
    recent: tuple[KnownFile, ...] = ()
    databases: tuple[KnownFile, ...] = ()
    database: KnownFile | None = None
    note: str = ""


class Start(StrEnum):
    """The choices of the start page."""

    OPEN = "open"
    DATABASE = "database"
    DEMO = "demo"
    ASK = "ask"
    SESSION = "session"
    RESUME = "resume"


@dataclass(frozen=True, slots=True)
class StartChoice:
    """``value`` is the path, the scenario or the session id."""

    action: Start
    value: str
