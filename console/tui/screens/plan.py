"""A plan before it is run: what would be sent, for how long, what it does to the nodes. Enter starts it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar

from textual.binding import Binding, BindingType

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.messages import Copy
from benchconsole.console.tui.screens.base.sheet import Sheet
from benchconsole.console.tui.widgets.plan import PlanView
from benchconsole.console.tui.widgets.tabs import Badges
from benchconsole.console.view.session_control import Proposal, RunForm
from benchconsole.probes.blank_devices import Confirmation
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import Round

OWED = "what this session still owes"

Options = Mapping[str, str] | None
"""The options that were typed into the form, by name; None before it was filled."""

Propose = Callable[[str | None, Sequence[str], Options], Awaitable[Proposal]]
"""Works a plan out: of a suite, with the serial numbers of disks that were typed, and with options."""

MakeForm = Callable[[str | None, Options], RunForm]
"""The options that the plan of a suite can be given, with what was typed before."""

MakeDiskSheet = Callable[[Confirmation], Sheet[str]]


class PlanSheet(Sheet[tuple[Round, ...]]):
    """Dismisses with the rounds to start; with none where an interrupted session is only to be ended.

    ``tab`` takes the next suite where there are several, after what is ``owed`` by an interrupted session.
    ``c`` has the disks confirmed that the suite would overwrite; what was typed counts for this plan only.
    ``o`` asks for the options of the run and works the plan out again, ``y`` copies the command line that does it.
    """

    KEYS = (
        ("enter", "start"),
        ("tab", "next suite"),
        ("c", "confirm disks"),
        ("esc", "send nothing"),
        ("up down", "scroll"),
        ("o", "options"),
        ("y", "copy command"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "suite", show=False, priority=True),
        Binding("c", "confirm", show=False),
        Binding("o", "options", show=False),
        Binding("y", "copy", show=False),
    ]
    DEFAULT_CSS = "PlanSheet PlanView { height: auto; }"

    def __init__(
        self,
        suites: Sequence[str],
        propose: Propose,
        disk: MakeDiskSheet,
        badges: Badges,
        make_form: MakeForm,
        *,
        suite: str | None = None,
        owed: bool = False,
    ) -> None:
        super().__init__("plan", badges)
        self.suites: tuple[str | None, ...] = (None, *suites) if owed else tuple(suites)
        self.suite = suite if suite is not None or not self.suites else self.suites[0]
        self.propose = propose
        self.disk = disk
        self.badges = badges
        self.make_form = make_form
        self.options: Options = None
        self.typed: tuple[str, ...] = ()
        self.proposal: Proposal | None = None
        self.plan = PlanView()
        self.parts = (self.plan,)
        self.foot.kept = frozenset(("enter", "esc", "up down"))

    def on_mount(self) -> None:
        super().on_mount()
        self._work_out()

    def on_resize(self) -> None:
        rows = len(self.plan.lines(self.size.width or 80))
        room = max(min(rows, self.size.height - 4), 1)
        self.plan.styles.height = room
        self._name_keys(rows - room)

    def _name_keys(self, hidden: int) -> None:
        """Only those that do something now; lines of the plan that are out of sight are counted."""
        idle = {"tab"} if len(self.suites) < 2 else set()
        idle |= set() if self._has_work() else {"enter"}
        idle |= set() if self.proposal is not None and self.proposal.unconfirmed else {"c"}
        idle |= set() if self.proposal is not None and self.proposal.command else {"y"}
        idle |= set() if hidden > 0 else {"up down"}
        verbs = {"up down": f"{hidden:,} more"}
        self.foot.pairs = tuple((key, verbs.get(key, verb)) for key, verb in self.KEYS if key not in idle)
        self.foot.redraw()

    def _work_out(self) -> None:
        self.proposal = None
        self.plan.say(f"{sanitize(self.suite) + ': ' if self.suite else ''}the plan is being worked out.")
        self.on_resize()
        self.run_worker(self._propose(self.suite, self.typed, self.options), exit_on_error=False)

    async def _propose(self, suite: str | None, typed: Sequence[str], options: Options) -> None:
        """Ask for the plan; planning ten thousand nodes takes its time, and the screen goes on meanwhile."""
        try:
            proposal = await self.propose(suite, typed, options)
        except PlanError as error:
            if (suite, typed, options) == (self.suite, self.typed, self.options):
                self.plan.say(sanitize(str(error)))
        else:
            if (suite, typed, options) != (self.suite, self.typed, self.options):
                return  # another plan was asked for meanwhile
            self.proposal = proposal
            self.plan.show(suite or (OWED if self.suites else ""), proposal, self.suites)
        self.on_resize()

    def action_suite(self) -> None:
        if len(self.suites) > 1 and self.suite in self.suites:
            self.suite = self.suites[(self.suites.index(self.suite) + 1) % len(self.suites)]
            self._work_out()

    def action_confirm(self) -> None:
        """Ask for the serial number of each disk that nobody has confirmed, one after the other."""
        if self.proposal is not None:
            self._ask(self.proposal.unconfirmed)

    def _ask(self, disks: Sequence[Confirmation]) -> None:
        if disks and self.is_active:
            self.app.push_screen(self.disk(disks[0]), partial(self._typed, disks[1:]))

    def _typed(self, others: Sequence[Confirmation], serial: str | None) -> None:
        if serial is not None:
            self.typed = (*self.typed, serial)
        if others:
            self._ask(others)
        elif self.typed:
            self._work_out()

    def action_options(self) -> None:
        """Ask for the options of the run."""
        from benchconsole.console.tui.screens.run_options import RunOptionsSheet  # few plans are given any

        try:
            form = self.make_form(self.suite, self.options)
        except PlanError as error:
            self.proposal = None  # its place is taken: nothing is started that nobody sees
            self.plan.say(sanitize(str(error)))
            self.on_resize()
            return
        self.app.push_screen(RunOptionsSheet(form, self.badges), self._take_options)

    def _take_options(self, options: Options) -> None:
        if options is not None:
            self.options = options
            self._work_out()

    def action_copy(self) -> None:
        """Send the command line to the clipboard of the terminal."""
        if self.proposal is not None and self.proposal.command:
            self.post_message(Copy(f"{self.proposal.command}\n", "the command"))
            others = (pair for pair in self.foot.pairs if pair[0] != "y")
            self.foot.pairs = (("y", "copied"), *others)  # at the beginning, where it has room
            self.foot.redraw()

    def action_choose(self) -> None:
        """Start it; while it is worked out, and where there is nothing to start, the sheet stays."""
        if self.proposal is not None and self._has_work():
            self.dismiss(self.proposal.rounds)

    def _has_work(self) -> bool:
        """Whether the plan is there, with rounds or an end that is owed."""
        return self.proposal is not None and bool(self.proposal.rounds or self.proposal.ends)
