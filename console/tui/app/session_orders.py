"""Orders about the sessions of the database: list them, open one and come back, label, compare, remove.

Each is done by the archive, in the way in which the commands do it. It is made when it is first needed: it brings
what start-up must not wait for.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import name_keys
from benchconsole.console.tui.app.navigation import Navigation
from benchconsole.console.tui.app.orders import Orders, Work, obey_when_open
from benchconsole.console.tui.app.session_following import SessionFollowing
from benchconsole.console.tui.app.shown_session import OpenSession, ShownSession
from benchconsole.console.tui.messages import OrderSession, SessionOrder
from benchconsole.console.tui.screens.choice import ChoiceSheet
from benchconsole.console.tui.screens.typed_line import TypedLineSheet
from benchconsole.console.tui.widgets.options import Option
from benchconsole.topology.errors import SelectionError
from benchconsole.topology.units import counted

if TYPE_CHECKING:
    from benchconsole.console.session.session_archive import SessionArchive
    from benchconsole.store.session_summary import SessionSummary

BY = "by "
"""Before a grouping, the beginning of what ``:compare`` takes for two parts of the session on the screen."""

NO_ARCHIVE = "This console was opened without a database of sessions."

SPEEDS = (
    Option("1", "1", "as fast as it ran", "1"),
    Option("2", "10", "ten times as fast: 15 minutes last 90 seconds", "10"),
    Option("3", "60", "an hour lasts a minute", "60"),
    Option("4", "600", "a night lasts a minute", "600"),
)

REMOVE = (
    Option("k", "keep", "remove nothing", "keep"),
    Option("r", "remove", "with all its outputs, verdicts, remarks and reports, for good", "remove"),
)

_MOST_ROWS = 12
"""Rows that the names of sessions get before they are removed."""


class SessionOrders(Orders):
    """``make_archive`` is None where there is no database."""

    def __init__(
        self, session: ShownSession, navigation: Navigation, work: Work, following: SessionFollowing,
        make_archive: "Callable[[], SessionArchive] | None",
    ) -> None:  # fmt: skip
        super().__init__(session, navigation, work)
        self._following = following
        self._make_archive = make_archive
        self._archive: SessionArchive | None = None

    @property
    def archive(self) -> "SessionArchive | None":
        if self._archive is None and self._make_archive is not None:
            self._archive = self._make_archive()
        return self._archive

    def list_sessions(self) -> None:
        archive = self.archive
        if archive is None:
            self._navigation.say(NO_ARCHIVE, wrong=True)
            return
        from benchconsole.console.tui.screens.sessions import SessionsScreen

        self._navigation.open(SessionsScreen(archive, tab=self._navigation.tab))

    def learn_names(self) -> None:
        """Read beside the screen what ``names`` offers."""
        if self._make_archive is not None:
            self._work(self._learn_names())

    async def _learn_names(self) -> None:
        from benchconsole.store.errors import StoreError

        # Nothing is offered where the database is away; whoever types a name is told why.
        with suppress(StoreError):
            await asyncio.to_thread(lambda: self.archive and self.archive.list_sessions())

    @property
    def names(self) -> Sequence[str]:
        """The arguments of ``:compare``, of the sessions that were listed last: labels of one session, else ids."""
        listed = [each for each in self._summaries if each.id != self._shown]
        labels = [each.label for each in listed]
        own = [each.label if each.label and labels.count(each.label) == 1 else each.id for each in listed]
        return tuple(map(sanitize, (*(["baseline"] if any(each.is_baseline for each in listed) else []), *own)))

    def complete_compared(self, begun: str) -> Sequence[str]:
        """Everything that ``:compare`` takes: ``names``, and the groupings of parts of the session on the screen.

        Names of parts are typed: after a grouping that there is, what is ``begun`` stands as it is.
        """
        from benchconsole.console.conclusions.statistic_lines import list_groupings

        ways = () if self._session.view is None else tuple(list_groupings(self._session.view.fabric))
        offered = (*self.names, *(f"{BY}{sanitize(each)}" for each in ways))
        grouping, equals, _ = begun.partition("=")
        return (begun,) if equals and grouping in offered else offered

    @property
    def _summaries(self) -> "Sequence[SessionSummary]":
        """The sessions as they were listed last, newest first."""
        return [each.summary for each in self._archive.listed] if self._archive is not None else []

    # -- orders

    def compare(self) -> None:
        """Compare the marked sessions or the one under the cursor; elsewhere list the sessions, to choose one."""
        from benchconsole.console.tui.screens.sessions import SessionsScreen

        frame = self._navigation.frame
        chosen = frame.chosen_sessions if isinstance(frame, SessionsScreen) else ()
        if chosen:
            self._compare_chosen(chosen)
            return
        self.list_sessions()
        if self.archive is not None:
            self._navigation.say(name_keys("c on a session compares it with the one on the screen", "compare"))

    def compare_with(self, name: str) -> None:
        """Hold a session (id, label, last, baseline) against the one on the screen; or its parts (``by class``)."""
        archive = self.archive
        if archive is None:
            self._navigation.say(NO_ARCHIVE, wrong=True)
        elif not self._shown and self._session.control is None:
            compare = partial(self.compare_with, name)
            obey_when_open(self._session, self._navigation, compare, "they are compared")
        elif not self._shown:
            plan = "" if self._session.follows else name_keys(" R plans a run.", "plan")
            self._navigation.say(f"Nothing has run here yet that could be compared.{plan}", wrong=True)
        elif name == self._shown:
            self._navigation.say("That is the session on the screen; choose another one.", wrong=True)
        else:
            from benchconsole.console.tui.screens.comparison import ComparisonScreen

            by = name.removeprefix(BY) if name.startswith(BY) else ""
            self._navigation.open(ComparisonScreen(archive, name, self._shown, tab=self._navigation.tab, by=by))

    def _compare_chosen(self, chosen: tuple[str, ...]) -> None:
        """Hold two marked sessions against each other, or one against that on the screen."""
        if len(chosen) == 1:
            self.compare_with(chosen[0])
        elif len(chosen) == 2 and self.archive is not None:
            from benchconsole.console.tui.screens.comparison import ComparisonScreen

            self._navigation.open(ComparisonScreen(self.archive, *chosen, tab=self._navigation.tab))
        else:
            words = name_keys(f"c compares two sessions, and {len(chosen):,} are marked", "compare")
            self._navigation.say(words, wrong=True)

    def obey(self, message: OrderSession) -> None:
        """Do what a page asks for."""
        if message.order is SessionOrder.LEAVE:
            self.leave()
        elif message.order is SessionOrder.OPEN:
            self._open(message.session)
        elif message.order is not SessionOrder.REPLAY and self.refuses():
            return
        elif message.order is SessionOrder.REMOVE:
            self._work(self._ask_removal(message.marked))
        else:
            orders = {SessionOrder.REPLAY: self._replay, SessionOrder.LABEL: self._label}
            orders[message.order](message.session, message.text)

    # -- another session on the screen, and back

    def _open(self, key: str, speed: float | None = None) -> None:
        archive = self.archive
        if archive is None:
            return
        if any(each.view is not None and each.view.session == key for each in self._session.behind):
            self._navigation.say("That session is behind this one; esc goes back to it.", wrong=True)
            return
        if key == self._shown and speed is None:
            self._navigation.say("That is the session on the screen; esc goes back to it.")
            return
        from benchconsole.console.session.replay_clock import ReplayClock

        clock = None if speed is None else ReplayClock(speed)
        opened = OpenSession(clock=clock)
        self._session.enter(opened)
        self._navigation.enter_session(time.time if clock is None else clock.now)
        self._navigation.say("esc goes back to the session behind, which stays as it is")
        make = partial(archive.open_control, key, opened.latest, clock)
        self._following.follow(opened, make, partial(self._leave_unopened, opened))

    def _leave_unopened(self, opened: OpenSession, why: str) -> None:
        """Come back from a session that could not be opened, and say why."""
        if opened is self._session.front and self._session.behind:
            self.leave()
        self._navigation.say(f"It cannot be opened: {why.removeprefix('benchconsole: ')}", wrong=True, stay=True)

    def leave(self) -> None:
        """Go back to the session behind; one that runs here is not left: nobody would see how it ends."""
        if not self._session.behind:
            return
        if self._session.front.running:
            self._navigation.say(name_keys("A run is going in this session; S stops it first.", "stop"), wrong=True)
            return
        left = self._session.leave()
        self._navigation.leave_session()
        if left.worker is not None:
            left.worker.cancel()
        if left.control is not None:
            self._work(left.control.close())

    def _replay(self, key: str, text: str) -> None:
        """Play a session again at a speed that was typed, or is asked for."""
        if not text:
            sheet = ChoiceSheet("play again", "How many times as fast as it ran?", SPEEDS, self._session.badges)
            self._navigation.ask(sheet, lambda speed: self._replay(key, speed) if speed else None)
            return
        try:
            speed = float(text)
        except ValueError:
            speed = 0.0
        if 0.1 <= speed <= 100_000:
            self._open(key, speed)
        else:
            self._navigation.say(f"{sanitize(text)}: expected a speed from 0.1 to 100,000", wrong=True)

    # -- what is written

    def _label(self, key: str, text: str) -> None:
        if text:
            self._change(lambda archive: archive.change_label(key, text), f"{key} is called {text} now")
            return
        words = f"Another label for session {key}; an empty one takes it away. The session notes what it was called."
        known = next((each.label for each in self._summaries if each.id == key), "")
        self._navigation.ask(
            TypedLineSheet("label", words, known, self._session.badges), partial(self._take_label, key, known)
        )

    def _take_label(self, key: str, known: str, text: str | None) -> None:
        if text is not None and text != sanitize(known):
            self._change(
                lambda archive: archive.change_label(key, text),
                f"{key} is called {text} now" if text else f"{key} has no label now",
            )

    async def _ask_removal(self, keys: tuple[str, ...]) -> None:
        """Ask for consent, unless all have to stay: one that runs, that was a baseline, or that is shown."""
        from benchconsole.store.errors import StoreError

        archive = self.archive
        if archive is None:
            return
        opened = {self._shown, *(each.view.session for each in self._session.behind if each.view is not None)}
        staying = {key: "this console shows it" for key in keys if key in opened}
        try:
            refused = await asyncio.to_thread(archive.find_staying, [key for key in keys if key not in staying])
        except StoreError as error:
            self._navigation.say(f"nothing is removed: {error.found}", wrong=True)
            return
        staying |= refused
        leaving = tuple(key for key in keys if key not in staying)
        stay = "; ".join(f"{key} stays: {why}" for key, why in staying.items())
        if not leaving:
            self._navigation.say(stay, wrong=True)
            return
        text = f"{_name_count(leaving)}: {'; '.join(map(self._name, leaving))}. {stay}".strip()
        rows = min(2 + len(keys), _MOST_ROWS)
        sheet = ChoiceSheet(f"remove {_name_count(leaving)}", text, REMOVE, self._session.badges, rows)
        self._navigation.ask(sheet, lambda answer: self._remove(leaving) if answer == "remove" else None)

    def _name(self, key: str) -> str:
        """A session by its id, its label and what it holds."""
        listed = next((each for each in self._summaries if each.id == key), None)
        return key if listed is None else f"{key} {sanitize(listed.label)}, {listed.tested:,} tests"

    def _remove(self, keys: tuple[str, ...]) -> None:
        done = keys[0] if len(keys) == 1 else _name_count(keys)
        verb = "is" if len(keys) == 1 else "are"
        self._change(
            lambda archive: "; ".join(f"{key}: {why}" for key, why in archive.remove(keys).items()),
            f"{done} {verb} removed; benchconsole vacuum gives the room back",
        )

    def _change(self, change: "Callable[[SessionArchive], str | None]", done: str) -> None:
        """Have something written beside the screen; ``change`` gives the reason where it was not."""
        self._work(self._write(change, done))

    async def _write(self, change: "Callable[[SessionArchive], str | None]", done: str) -> None:
        from benchconsole.console.tui.screens.sessions import SessionsScreen
        from benchconsole.store.errors import StoreError

        archive = self.archive
        if archive is None:
            return
        try:
            refusal = await asyncio.to_thread(change, archive)
        except (StoreError, SelectionError) as error:
            self._navigation.say(f"not done: {getattr(error, 'found', error)}", wrong=True)
        else:
            self._navigation.say(f"not all is done: {refusal}" if refusal else done, wrong=bool(refusal))
        frame = self._navigation.frame
        if isinstance(frame, SessionsScreen):
            frame.read()

    @property
    def _shown(self) -> str:
        """The id of the session on the screen; empty before anything of it is stored."""
        view = self._session.latest.view
        return "" if view is None else view.session


def _name_count(keys: Sequence[str]) -> str:
    return counted(len(keys), "session")
