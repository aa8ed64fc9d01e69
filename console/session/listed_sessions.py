"""The sessions of a store as the area of sessions lists them: summaries, with remarks and what has to be counted."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from benchconsole.probes.model.remark import About, Remark, list_standing
from benchconsole.store.reading import integrity
from benchconsole.store.reading.remark_reading import read_all_remarks
from benchconsole.store.reading.session_list import count_nodes
from benchconsole.store.session_summary import SessionState, SessionSummary

if TYPE_CHECKING:
    from benchconsole.store.store import Store

CHEAP_BYTES = 200_000_000
"""Size of a file up to which it is read whole for how much each session holds: about a second."""


class ListedSession(NamedTuple):
    """One line of the list. ``remark`` is the last that stands on the session itself.

    ``nodes`` are those that its tests are of, ``size`` is in bytes; both are None where nobody counted.
    """

    summary: SessionSummary
    remark: str = ""
    nodes: int | None = None
    size: int | None = None


class SessionMeasures(NamedTuple):
    """The nodes and the bytes of sessions, by their ids; no bytes where the file is too large to be read whole."""

    nodes: Mapping[str, int]
    sizes: Mapping[str, int]


def list_newest_first(store: "Store") -> tuple[ListedSession, ...]:
    """Every session, without what has to be counted."""
    remarks = {key: _find_last(found) for key, found in read_all_remarks(store.database).items()}
    return tuple(ListedSession(each, remarks.get(each.id, "")) for each in reversed(store.list_sessions()))


def _find_last(remarks: Iterable[Remark]) -> str:
    own = [each.text for each in list_standing(remarks) if each.about is About.SESSION]
    return own[-1] if own else ""


def measure_sessions(store: "Store", most: int = CHEAP_BYTES) -> SessionMeasures:
    """The counts of every session; ``most`` as ``CHEAP_BYTES``."""
    is_cheap = store.path.stat().st_size <= most
    return SessionMeasures(count_nodes(store.database), integrity.measure_sessions(store.database) if is_cheap else {})


def join_measures(listed: Iterable[ListedSession], measures: SessionMeasures) -> tuple[ListedSession, ...]:
    """The list with what was counted. The bytes of a session that runs are left out: it grows meanwhile."""
    return tuple(
        each._replace(
            nodes=measures.nodes.get(each.summary.id),
            size=None if each.summary.state is SessionState.RUNNING else measures.sizes.get(each.summary.id),
        )
        for each in listed
    )
