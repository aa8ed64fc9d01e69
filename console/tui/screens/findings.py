"""The findings: every cause once, the worst first, and the chosen one in full."""

from collections.abc import Sequence

from textual import on
from textual.widget import Widget

from console.tui import evidence, reading
from console.tui.actions import MOVES
from console.tui.drawing import FAIL, MUTED, WATCH, Piece, Row
from console.tui.messages import Copy, OpenNode, OpenRaw, Plan, ShowInFabric
from console.tui.screens.frame import Frame
from console.tui.widgets.finding_detail import FindingDetail
from console.tui.widgets.findings_list import FindingsList
from console.tui.widgets.listing import Listing
from console.tui.widgets.unjudged import Unjudged
from console.view import RunView, coverage, not_judged
from console.wording import plain
from probes.judging.verdict import Level


class FindingsScreen(Frame):
    """Enter opens the raw output that the finding rests on."""

    TAB = "Findings"
    VALID = (*MOVES, "next_fault", "previous_fault", "in_fabric", "repeat", "copy", "copy_all")
    KEYS = (
        ("enter", "evidence"), ("next_fault", "next"), ("in_fabric", "show in fabric"), "repeat", "copy", "export",
        "command", "help",
    )  # fmt: skip
    DEFAULT_CSS = """
    FindingsScreen FindingsList { margin-top: 1; }
    FindingsScreen.-low FindingsList { margin-top: 0; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.list = FindingsList()
        self.unjudged = Unjudged()
        self.detail = FindingDetail()
        self._unjudged_of: object = None

    def parts(self) -> Sequence[Widget]:
        """List, what was not judged, detail."""
        return (self.list, self.unjudged, self.detail)

    def on_mount(self) -> None:
        """The list has the keys."""
        super().on_mount()
        self.list.focus()

    def paint(self, view: RunView) -> None:
        """Everything anew."""
        faults = [each for each in reading.faults(view) if each.finding is not None]
        covered = coverage(view) if self._unjudged_of is not view.results else None
        if covered is not None:
            self._unjudged_of = view.results
            self.unjudged.show(not_judged(view))
            self._tally(view, f"{covered.tested:,}", f"{covered.planned:,}")
            nothing = "Nothing has run on this fabric yet.  R plans a run and shows it before anything is sent."
            if view.results:
                nothing = f"No fault was found in {covered.tested:,} of {covered.planned:,} planned tests."
            self.list.show(faults, nothing)
        self._select()
        self._share_height()

    def _tally(self, view: RunView, tested: str, planned: str) -> None:
        made: list[Piece] = []
        for level, sign, tone in ((Level.FAIL, "✗", FAIL), (Level.WATCH, "▲", WATCH)):
            number = sum(each.level is level for each in view.findings)
            made += [Piece(f"{sign} {number}", tone._replace(bold=True)), Piece("  ")] if number else []
        long: Row = (*made, Piece(" tests ", MUTED), Piece(tested), Piece(f" of {planned} gave a number", MUTED))
        short: Row = (*made, Piece(f"{tested} of {planned} tested", MUTED))
        parts = [plain(view.fabric.name), "findings", plain(view.label)]
        self.crumb.show([part for part in parts if part], long, short, tuple(made))

    def _select(self) -> None:
        if self.run_view is None:
            return
        place = f"finding {self.list.cursor + 1} of {self.list.count}"
        self.detail.show(self.run_view, self.list.chosen, place)

    def _share_height(self) -> None:
        """The list takes what it needs, but leaves the detail half; what was not judged keeps a row."""
        low = self.size.height < 20
        room = self.size.height - (3 if low else 4)
        unjudged = min(self.unjudged.wanted, 1 if self.size.height < 36 else 3)
        gaps = 2 if not low and unjudged else 1 if not low else 0
        wanted = self.list.count + 1
        listed = min(wanted, max((room - unjudged - gaps) // 2, 3))
        self.list.styles.height = max(min(listed, room), 1)
        self.list.styles.margin = (0 if low else 1, 0, 1 if not low else 0, 0)
        self.unjudged.styles.height = unjudged
        self.unjudged.styles.margin = (0, 0, 1 if not low and unjudged else 0, 0)

    def choose(self, index: int) -> None:
        """Put the cursor on a finding."""
        self.list.go(index)
        self._select()

    @on(Listing.Moved)
    def _moved(self) -> None:
        self._select()

    @on(Listing.Chosen)
    def _chosen(self) -> None:
        chosen, view = self.list.chosen, self.run_view
        if chosen is None or chosen.finding is None or view is None:
            return
        found = evidence.find_measurement(view, chosen.finding.evidence, next(iter(chosen.finding.tests), ""))
        if found is not None:
            self.post_message(OpenRaw(found[0].test.id, found[1]))
        elif chosen.finding.tests and chosen.finding.tests[0] in view.results:
            self.post_message(OpenRaw(chosen.finding.tests[0]))
        elif chosen.nodes:
            self.post_message(OpenNode(chosen.nodes[0]))
        else:
            self.say("This finding is computed from the description; nothing was run for it.")

    def step(self, rows: int) -> None:
        """Move in the list."""
        self.list.move(rows)

    def action_next_fault(self) -> None:
        """The next finding."""
        self.list.go((self.list.cursor + 1) % max(self.list.count, 1))

    def action_previous_fault(self) -> None:
        """The finding before."""
        self.list.go((self.list.cursor - 1) % max(self.list.count, 1))

    def action_in_fabric(self) -> None:
        """Show the element on the map."""
        chosen = self.list.chosen
        if chosen is not None and (chosen.links or chosen.nodes):
            self.post_message(ShowInFabric(chosen.links[0] if chosen.links else chosen.nodes[0]))

    def action_repeat(self) -> None:
        """Repeat the tests of the finding."""
        chosen = self.list.chosen
        if chosen is not None and chosen.finding is not None:
            self.post_message(Plan(only=chosen.finding.tests))

    def action_copy(self) -> None:
        """Copy the finding."""
        if self.list.chosen is not None:
            self.post_message(Copy(_as_text([self.list.chosen]), "the finding"))

    def action_copy_all(self) -> None:
        """Copy all findings."""
        self.post_message(Copy(_as_text(self.list.faults), f"{self.list.count} findings"))


def _as_text(faults: Sequence[reading.Fault]) -> str:
    """Plain text that survives chat and mail."""
    made = []
    for fault in faults:
        finding = fault.finding
        if finding is None:
            continue
        made.append(f"{fault.state.value}: {finding.suspect.value} {fault.where}: {fault.what}")
        for name, text in (("cannot tell", finding.cannot_tell), ("means", finding.means), ("do", finding.do)):
            made += [f"  {name}: {plain(text)}"] if text else []
    return "\n".join(made) + "\n"
