"""Orders about criteria: one is added or changed on a sheet, its file is shown as a diff, written and judged with."""

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from benchconsole.console.text.atomic_write import FileError
from benchconsole.console.tui.actions import name_keys
from benchconsole.console.tui.app.orders import Orders
from benchconsole.console.tui.messages import EditCriterion
from benchconsole.probes.model.errors import PlanError

if TYPE_CHECKING:
    from benchconsole.console.session.controller import SessionController
    from benchconsole.console.session.criterion_editor import CriterionProposal
    from benchconsole.console.tui.app.shown_session import OpenSession


class CriterionOrders(Orders):
    """Each is refused in words where this console only looks, another one drives the session, or a run goes on."""

    def edit(self, message: EditCriterion) -> None:
        """Ask for a criterion; nothing is read or written before."""
        view, control = self._session.view, self._session.control
        if self.refuses():
            return
        if view is None or view.reading is not None or control is None:
            self._navigation.say("The session is being read.", wrong=True)
        elif self._session.follows:
            self._navigation.say(self._session.follows, wrong=True)
        elif self._session.running:
            self._navigation.say(name_keys("A run is going; S stops it first.", "stop"), wrong=True)
        elif self._session.front.is_judging:
            self._navigation.say("The session is being judged again.", wrong=True)
        else:
            self._work(self._ask(control, message.place))

    async def _ask(self, control: "SessionController", place: int | None) -> None:
        from benchconsole.console.tui.queries.criterion_choices import list_choices
        from benchconsole.console.tui.screens.criterion import FILE, CriterionSheet

        view = self._session.view
        if view is None:
            return
        criterion = None if place is None else view.fabric.criteria[place]
        try:
            form = await control.criteria.begin(criterion)
        except PlanError as error:
            self._navigation.read_in_full("no criterion is taken", [("why", getattr(error, "reasons", (str(error),)))])
            return
        choices = await asyncio.to_thread(list_choices, view)
        title = "add a criterion" if criterion is None else "change a criterion"
        values = {**form.values, FILE: form.path}
        propose = partial(control.criteria.propose, form)
        sheet = CriterionSheet(title, values, form.note, choices, propose, self._session.badges)
        self._navigation.ask(sheet, partial(self._show, control))

    def _show(self, control: "SessionController", proposal: "CriterionProposal | None") -> None:
        from benchconsole.console.tui.screens.criterion import DiffSheet

        if proposal is not None:
            sheet = DiffSheet(proposal, self._session.badges)
            self._navigation.ask(sheet, partial(self._write, control, proposal))

    def _write(self, control: "SessionController", proposal: "CriterionProposal", agreed: bool | None) -> None:
        """Write it where somebody has agreed; from here to the end no run is planned."""
        if not agreed:
            self._navigation.say(f"{proposal.path} is left as it is.")
            return
        self._session.front.is_judging = True
        self._work(self._judge(control, proposal, self._session.front))

    async def _judge(self, control: "SessionController", proposal: "CriterionProposal", opened: "OpenSession") -> None:
        from benchconsole.store.errors import StoreError

        frame = self._navigation.frame
        if frame is not None:
            frame.keys.say("The session is being judged again.")
        words, is_wrong = "", True
        try:
            words, is_wrong = await control.criteria.write(proposal), False
        except FileError as error:  # with the name alone: a long path would push the reason off the screen
            words = f"{proposal.path.name} is not written: {error.found}. {error.do}."
        except PlanError as error:
            words = f"not written: {error}"
        except StoreError as error:
            words = f"{proposal.path.name} is written, but the session is judged as before: {error}"
        finally:
            opened.is_judging = False
            if frame is not None:
                frame.keys.say("")
        self._navigation.say(words, wrong=is_wrong, stay=is_wrong)
