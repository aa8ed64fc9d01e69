"""A plan before it is run: what would be sent, for how long, what it does to the nodes. Enter starts it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from console.tui.bridge import Proposal
from console.tui.screens.sheet import Sheet
from console.tui.widgets.plan import PlanView
from console.tui.widgets.tabs import Badges
from console.wording import plain
from probes.errors import PlanError
from probes.model import Round

Propose = Callable[[str | None], Awaitable[Proposal]]


class PlanSheet(Sheet[tuple[Round, ...]]):
    """Dismisses with the rounds to start. ``tab`` takes the next suite where there are several."""

    KEYS = (("enter", "start"), ("tab", "next suite"), ("up down", "scroll"), ("esc", "send nothing"))
    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "suite", show=False, priority=True)]
    DEFAULT_CSS = "PlanSheet PlanView { height: auto; }"

    def __init__(
        self,
        suites: Sequence[str],
        propose: Propose,
        badges: Badges,
        *,
        suite: str | None = None,
    ) -> None:
        super().__init__("plan", badges)
        if len(suites) < 2:
            self.foot.pairs = tuple(pair for pair in self.KEYS if pair[0] != "tab")
        self.suites = tuple(suites)
        self.suite = suite if suite is not None or not suites else suites[0]
        self.propose = propose
        self.rounds: tuple[Round, ...] = ()
        self.plan = PlanView()

    def inside(self) -> Sequence[Widget]:
        """The plan."""
        return (self.plan,)

    def on_mount(self) -> None:
        """Work the plan out."""
        self._work_out()
        self.plan.focus()

    def on_resize(self) -> None:
        """As high as it needs to be, and as there is room."""
        self.plan.styles.height = max(min(self.plan.wanted, self.size.height - 4), 1)

    def _work_out(self) -> None:
        self.rounds = ()
        self.plan.wait(self.suite or "")
        self.on_resize()
        self.run_worker(self._propose(self.suite), exit_on_error=False)

    async def _propose(self, suite: str | None) -> None:
        """Ask for the plan; planning ten thousand nodes takes its time, and the screen goes on meanwhile."""
        try:
            proposal = await self.propose(suite)
        except PlanError as error:
            self.plan.refuse(plain(str(error)))
        else:
            if suite != self.suite:
                return  # another suite was asked for meanwhile
            self.rounds = proposal.rounds
            self.plan.show(suite or "", proposal.rounds, proposal.notes, self.suites)
        self.on_resize()

    def action_suite(self) -> None:
        """The next suite."""
        if len(self.suites) > 1 and self.suite in self.suites:
            self.suite = self.suites[(self.suites.index(self.suite) + 1) % len(self.suites)]
            self._work_out()

    def action_choose(self) -> None:
        """Start."""
        self.dismiss(self.rounds or None)
