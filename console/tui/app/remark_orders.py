"""Orders about what people say: a remark on the session or a part of it, the acceptance of a finding, its withdrawal.

Each is kept with the name of the operator and the time, by the code of ``benchconsole remark``. None needs to drive the
session: what is said of it changes no result and no verdict.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from benchconsole.console.text.sanitize import sanitize, shorten_text
from benchconsole.console.tui.app.navigation import Navigation
from benchconsole.console.tui.app.orders import Orders, Work
from benchconsole.console.tui.app.shown_session import ShownSession
from benchconsole.console.tui.screens.typed_line import TypedLineSheet
from benchconsole.topology.errors import SelectionError

if TYPE_CHECKING:
    from benchconsole.console.session.session_archive import SessionArchive
    from benchconsole.probes.model.remark import Remark, RemarkSubject

NOTHING_STORED = "Nothing of this session is stored yet that somebody could speak of."

_ROWS = 3
"""Rows of what a sheet says before the line that is typed."""

_REASON = 100
"""Characters of an acceptance that is named before it is withdrawn."""


class RemarkOrders(Orders):
    """``find_archive`` gives the sessions of the database, None where there is none."""

    def __init__(
        self, session: ShownSession, navigation: Navigation, work: Work,
        find_archive: "Callable[[], SessionArchive | None]",
    ) -> None:  # fmt: skip
        super().__init__(session, navigation, work)
        self._find_archive = find_archive

    def remark(self, text: str = "") -> None:
        """Write down what was typed of what the cursor stands on, or ask for it."""
        frame = self._navigation.frame
        if frame is None or self.refuses():
            return
        found = frame.find_remarked()
        if found is None:
            self._navigation.say(frame.SILENT)
            return
        archive, key = self._require_archive(), found.session or self._find_shown()
        if archive is None or not key:
            return
        name = found.name
        words = f"Write a remark on {name}. It is kept in the name of {archive.operator}, and stands in every report."
        self._ask_text(archive, key, found.of, ("remark", words, f"the remark on {name} is kept"), text)

    def accept(self, text: str = "") -> None:
        """Have the operator answer for the finding under the cursor, or take that back where somebody does."""
        from benchconsole.console.tui.screens.findings import FindingsScreen
        from benchconsole.console.view.acceptance import list_accepted, name_cause
        from benchconsole.probes.model.judgement import Finding
        from benchconsole.probes.model.remark import About, RemarkKind, RemarkSubject

        frame = self._navigation.frame
        finding = frame.list.chosen if isinstance(frame, FindingsScreen) else None
        if self.refuses():
            return
        if not isinstance(finding, Finding):
            self._navigation.say("Only a finding that was measured can be accepted.")
            return
        archive, key, view = self._require_archive(), self._find_shown(), self._session.latest.view
        if archive is None or not key or view is None:
            return
        name, cause = sanitize(finding.where), name_cause(finding)
        accepted = list_accepted(view.remarks).get(cause)
        if accepted is not None and text:
            words = f"{name} is accepted already, by {sanitize(accepted.by)}; A takes that back."
            self._navigation.say(words, wrong=True)
        elif accepted is not None:
            self._ask_withdrawal(archive, key, name, accepted)
        else:
            of = RemarkSubject(About.FINDING, cause, RemarkKind.ACCEPTED)
            words = (
                f"Why is {name} accepted? {archive.operator} answers for it, by name and with the time, in every "
                "report. It stays a finding, and the verdict on the session stays as it is."
            )
            self._ask_text(archive, key, of, ("accept", words, f"{name} is accepted"), text)

    def _ask_withdrawal(self, archive: "SessionArchive", key: str, name: str, accepted: "Remark") -> None:
        from benchconsole.probes.model.remark import RemarkKind, RemarkSubject

        of = RemarkSubject(kind=RemarkKind.WITHDRAWAL, withdraws=accepted.number)
        reason = shorten_text(" ".join(accepted.text.split()), _REASON)
        words = (
            f"{name} is accepted by {sanitize(accepted.by)}: {reason}. Why is it taken back? {archive.operator} is "
            "kept as who does so."
        )
        done = f"the acceptance of {name} is withdrawn"
        self._ask_text(archive, key, of, ("withdraw acceptance", words, done), "")

    def _ask_text(
        self, archive: "SessionArchive", key: str, of: "RemarkSubject", said: tuple[str, str, str], text: str
    ) -> None:
        """Write ``text``, or what is typed on a sheet where it is empty; ``said`` are its title, its words, and what
        is said when that is done.
        """
        title, words, done = said

        def take(typed: str | None) -> None:
            if typed:
                self._work(self._write(archive, key, of, done, typed))
            elif typed is not None:
                self._navigation.say("Nothing was typed, and nothing is kept.")

        if text:
            take(text)
        else:
            self._navigation.ask(TypedLineSheet(title, words, "", self._session.badges, _ROWS), take)

    async def _write(self, archive: "SessionArchive", key: str, of: "RemarkSubject", done: str, text: str) -> None:
        """Write it beside the screen, and show what is said of the session from then on."""
        from benchconsole.console.tui.screens.sessions import SessionsScreen
        from benchconsole.store.errors import StoreError

        try:
            remarks = await asyncio.to_thread(archive.append_remark, key, text, of)
        except (StoreError, SelectionError) as error:
            self._navigation.say(f"not kept: {getattr(error, 'found', error)}", wrong=True)
            return
        for opened in (self._session.front, *self._session.behind):
            opened.latest.take_remarks(key, remarks)
        self._navigation.say(done)
        frame = self._navigation.frame
        if isinstance(frame, SessionsScreen):
            frame.read()

    def _require_archive(self) -> "SessionArchive | None":
        archive = self._find_archive()
        if archive is None:
            self._navigation.say("This console was opened without a database of sessions.", wrong=True)
        return archive

    def _find_shown(self) -> str:
        """The id of the session on the screen; empty where nothing of it is stored, which is then said."""
        view = self._session.latest.view
        key = "" if view is None or view.reading is not None else view.session
        if not key:
            self._navigation.say(NOTHING_STORED, wrong=True)
        return key
