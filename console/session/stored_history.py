"""The history of numbers in a store: the last sessions of one fabric, and their numbers put beside each other."""

from typing import TYPE_CHECKING, NamedTuple

from benchconsole.console.conclusions.number_history import (
    SessionHistory,
    list_numbers_of_metric,
    list_numbers_of_node,
)
from benchconsole.store.model import HistorySession
from benchconsole.store.reading import history_reading

if TYPE_CHECKING:
    from benchconsole.store.store import Store

MOST_SESSIONS = 20
"""Sessions of a history; older ones are counted."""


class LastSessions(NamedTuple):
    """The last sessions of a fabric, the oldest first, and how many ``older`` ones there are."""

    sessions: tuple[HistorySession, ...]
    older: int


def list_last_sessions(store: "Store", fabric: str, *, simulated: bool) -> LastSessions:
    """The last sessions of the fabric of this name with a closed round; simulated and real ones are never mixed."""
    every = history_reading.list_history_sessions(store.database, fabric, simulated=simulated)
    return LastSessions(every[-MOST_SESSIONS:], max(len(every) - MOST_SESSIONS, 0))


def read_node_history(store: "Store", fabric: str, node: str, *, simulated: bool) -> SessionHistory:
    """Every number of one node."""
    sessions, older = list_last_sessions(store, fabric, simulated=simulated)
    values = history_reading.read_node_values(store.database, [each.id for each in sessions], node)
    return SessionHistory(sessions, older, list_numbers_of_node(node, values))


def read_metric_history(store: "Store", fabric: str, metric: str, *, simulated: bool) -> SessionHistory:
    """One metric of all nodes, in all stages."""
    sessions, older = list_last_sessions(store, fabric, simulated=simulated)
    values = [history_reading.read_metric_values(store.database, each.id, metric) for each in sessions]
    return SessionHistory(sessions, older, list_numbers_of_metric(values))
