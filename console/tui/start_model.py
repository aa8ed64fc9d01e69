"""The start page as values: the topologies, sessions and importers that it offers, and the choice that was made."""

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
class StartModel:
    """Everything that the page offers; what is empty is not shown. Sessions come newest first."""

    version: str
    topologies: tuple[str, ...] = ()
    sessions: tuple[Past, ...] = ()
    interrupted: Interrupted | None = None
    demo: str = ""
    importers: tuple[str, ...] = ()


class Start(StrEnum):
    """What was chosen."""

    OPEN = "open"
    DEMO = "demo"
    IMPORT = "import"
    SESSION = "session"
    RESUME = "resume"


@dataclass(frozen=True, slots=True)
class StartChoice:
    """``value`` is the path, the session id or the importer; empty where there is nothing to name."""

    action: Start
    value: str = ""
