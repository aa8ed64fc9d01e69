"""The sessions of one database as a screen keeps them: listed, opened, labelled, remarked on, compared and removed.

Each question and order opens the database anew and lets go of it: a screen may stand for days, and the file may be
moved meanwhile. All of them take a while and belong into a thread; StoreError says what the database refuses.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchconsole.console.conclusions.number_history import SessionHistory
from benchconsole.console.conclusions.session_comparison import ComparisonChoice
from benchconsole.console.reports.comparison_page import ComparisonReport
from benchconsole.console.session.controller import SessionController
from benchconsole.console.session.listed_sessions import (
    ListedSession,
    SessionMeasures,
    list_newest_first,
    measure_sessions,
)
from benchconsole.console.session.remarks import check_text
from benchconsole.console.session.replay_clock import ReplayClock
from benchconsole.console.session.session_removal import find_staying, remove_session
from benchconsole.console.session.stored_comparison import (
    ComparisonError,
    compare_in_order,
    compare_session_parts,
    explain_nothing,
    list_senses,
)
from benchconsole.console.session.stored_history import LastSessions, list_last_sessions, read_node_history
from benchconsole.console.view.reducer import LatestView
from benchconsole.probes.model.remark import OF_SESSION, Remark, RemarkSubject
from benchconsole.store.model import HistoryValue
from benchconsole.store.reading.history_reading import read_metric_values
from benchconsole.store.reading.remark_reading import read_remarks
from benchconsole.store.store import Store

if TYPE_CHECKING:
    from benchconsole.probes.api import Probe

OpenControl = Callable[[str, LatestView, ReplayClock | None], SessionController]
"""Opens a stored session by its id; its fabric is shown at once, and with a clock it is played again."""


@dataclass
class SessionArchive:
    """The database at ``path``. ``operator`` is who answers for what is written, ``listed`` what was listed last."""

    path: Path
    operator: str
    load_probes: "Callable[[], Mapping[str, Probe]]"
    open_control: OpenControl
    listed: tuple[ListedSession, ...] = ()

    def list_sessions(self) -> tuple[ListedSession, ...]:
        """Every session, newest first, without what has to be counted."""
        with self._open() as store:
            self.listed = list_newest_first(store)
        return self.listed

    def measure_sessions(self) -> SessionMeasures:
        """The counts of every session."""
        with self._open() as store:
            return measure_sessions(store)

    def change_label(self, key: str, label: str) -> None:
        with self._open() as store:
            asyncio.run(store.change_label(key, label, self.operator, time.time()))

    def append_remark(self, key: str, text: str, of: RemarkSubject = OF_SESSION) -> tuple[Remark, ...]:
        """Write down what the operator says of a session or a part of it; all that was said of the session.

        SelectionError for a text that cannot be kept; ConflictError for a withdrawal of what does not stand, and for a
        finding that is accepted already.
        """
        now = time.time()
        remark = Remark(of.kind, of.about, of.subject, check_text(text), self.operator, now, now, of.withdraws)
        with self._open() as store:
            asyncio.run(store.append_remark(key, remark))
            return read_remarks(store.session(key))

    def find_staying(self, keys: Iterable[str]) -> dict[str, str]:
        """Of these sessions those that may not go, each with the reason: it runs, or others are held against it."""
        with self._open() as store:
            return find_staying(store, keys)

    def remove(self, keys: Iterable[str]) -> dict[str, str]:
        """Remove sessions for good; those that stay, each with the reason."""
        with self._open() as store:
            reasons = {key: remove_session(store, key) for key in keys}
        return {key: why for key, why in reasons.items() if why}

    def compare(self, one: str, other: str, *, swapped: bool = False) -> ComparisonReport:
        """Two sessions as ``compare_in_order`` does it."""
        probes = self.load_probes()
        with self._open() as store:
            return compare_in_order(store, one, other, probes, swapped=swapped)

    def compare_parts(self, session: str, by: str, *, swapped: bool = False) -> ComparisonReport:
        """Two parts of one session as ``compare_session_parts`` does it. ComparisonError where neither has a number."""
        probes = self.load_probes()
        with self._open() as store:
            report = compare_session_parts(
                store, session, by, probes, ComparisonChoice(list_senses(probes)), swapped=swapped
            )
        if not report.metrics:
            raise ComparisonError(explain_nothing(report.names))
        return report

    def read_node_history(self, fabric: str, node: str, *, simulated: bool) -> SessionHistory:
        """The numbers of a node over the last sessions of its fabric."""
        with self._open() as store:
            return read_node_history(store, fabric, node, simulated=simulated)

    def list_last_sessions(self, fabric: str, *, simulated: bool) -> LastSessions:
        """The sessions that a history is of."""
        with self._open() as store:
            return list_last_sessions(store, fabric, simulated=simulated)

    def read_metric_values(self, session: str, metric: str, stage: str) -> tuple[HistoryValue, ...]:
        """The numbers of a metric in one session."""
        with self._open() as store:
            return read_metric_values(store.database, session, metric, stage)

    def _open(self) -> Store:
        return Store.open(self.path, create=False)
