"""A criterion as a form, and the diff of the file that it is written into: nothing is written before ``w``."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType

from benchconsole.console.text.cells import cut_into_lines
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.criterion_choices import CriterionChoices
from benchconsole.console.tui.rows.text_rows import BLANK, CellLine, Row, wrap_under
from benchconsole.console.tui.rows.themes import ACCENT, FAIL, MUTED, TEXT, WATCH
from benchconsole.console.tui.screens.base.sheet import Sheet
from benchconsole.console.tui.widgets.field_notes import FieldNotes
from benchconsole.console.tui.widgets.form_input import FormInput
from benchconsole.console.tui.widgets.line_input import LineInput
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.tabs import Badges
from benchconsole.probes.model.errors import PlanError

if TYPE_CHECKING:
    from benchconsole.console.session.criterion_editor import CriterionProposal

Propose = Callable[[Mapping[str, str], str], "Awaitable[CriterionProposal]"]
"""Works out what a file would become: of the fields as they were typed, and its path."""

FILE = "file"
_MEANINGS = {
    "metric": "the name of a metric, such as stream.triad",
    "at_least": "a number with its unit, such as 65 GB/s; one of at_least and at_most",
    "at_most": "a number with its unit, such as 20 us; one of at_least and at_most",
    "source": "the clause that asks for it, such as 4.1.1",
    "target": "the better bound: what lies between is to be watched",
    "nodes": "the nodes that it speaks of, such as n[01-16] or @storage; nothing: all",
    "where": "the labels that a number must carry, such as threads: 8",
    "of": "what the bound is a share of; nothing: the bound is a number by itself",
    "statistic": "what is compared of all numbers together; nothing: each by itself",
    FILE: "the topology file that it is written into",
}
FIELDS = tuple(_MEANINGS)
_SHOWN = 5
_LEAST = 2
"""Rows below the fields: completions, or what is wrong."""


class CriterionSheet(Sheet["CriterionProposal"]):
    """Dismisses with a proposal; what is wrong with what was typed is said, and the form stays.

    ``values`` are the fields as they begin, ``choices`` what they may become.
    """

    KEYS = (("tab", "complete"), ("up down", "field"), ("enter", "show the diff"), ("esc", "write nothing"))

    def __init__(
        self, title: str, values: Mapping[str, str], note: str, choices: CriterionChoices, propose: Propose,
        badges: Badges,
    ) -> None:  # fmt: skip
        super().__init__(title, badges)
        self.propose = propose
        self.choices = choices
        self.form = FormInput(FIELDS, values, lambda name, lines: [word for word, _ in self._list(name, lines)])
        self.notes = FieldNotes(note)
        self._asked: Mapping[str, str] | None = None
        self.parts = (self.form, self.notes)

    def on_mount(self) -> None:
        super().on_mount()
        self._show()

    def on_resize(self) -> None:
        room = self.size.height - 2 - _LEAST
        self.form.styles.height = max(min(len(FIELDS), room), 1)
        self.notes.styles.height = max(min(_SHOWN + 1, room + _LEAST - len(FIELDS)), _LEAST)

    def _list(self, name: str, lines: Mapping[str, str]) -> list[tuple[str, str]]:
        return self.choices.complete(name, lines[name], lines["metric"].strip())

    @on(LineInput.Changed)
    def _show(self) -> None:
        """Say what the field with the cursor takes."""
        here, lines = self.form.here, self.form.lines_shown
        known = self.choices.metrics.get(lines["metric"].strip(), "")
        meaning = f"measured: {known}" if here in ("at_least", "at_most", "target") and known else _MEANINGS[here]
        self.notes.show(meaning, [each for each in self._list(here, lines) if each[0] != lines[here]])

    @on(FormInput.Filled)
    def _filled(self, event: FormInput.Filled) -> None:
        if self._asked != event.typed:
            self._asked = event.typed
            self.run_worker(self._propose(event.typed), exit_on_error=False)

    async def _propose(self, typed: Mapping[str, str]) -> None:
        """Have the file worked out; a long one takes a moment."""
        try:
            proposal = await self.propose(typed, typed[FILE].strip())
        except PlanError as error:
            reasons: Sequence[str] = getattr(error, "reasons", (str(error),))
            self._asked = None
            self.notes.complain([sanitize(each) for each in reasons])
        else:
            self.dismiss(proposal)


class DiffView(Listing[Row]):
    """The notes on the proposal, and the diff; nothing is cut off below, and long lines are wrapped."""

    CURSOR = False
    DEFAULT_CSS = "DiffView { height: auto; }"

    def __init__(self, proposal: "CriterionProposal") -> None:
        super().__init__()
        self.proposal = proposal
        self._lines: tuple[int, Sequence[Row]] = (0, ())

    def lines(self, width: int) -> Sequence[Row]:
        """Everything, for this width."""
        if self._lines[0] != width:
            rows: list[Row] = []
            for note in self.proposal.notes:
                rows += wrap_under("", [note], width, 1, 1000, WATCH)
            rows += [BLANK] if rows else []
            for line in self.proposal.diff:
                tone = {"+": TEXT, "-": FAIL, "@": ACCENT}.get(line[:1], MUTED)
                tone = MUTED if line[:4] in ("+++ ", "--- ") else tone
                rows += [
                    CellLine(width).to(1).put(piece, tone).row() for piece in cut_into_lines(sanitize(line), width - 2)
                ]
            self._lines = (width, rows)
        return self._lines[1]

    @property
    def count(self) -> int:
        return len(self.lines(self.size.width))

    def row(self, index: int, width: int) -> Row:
        return self.lines(width)[index]


class DiffSheet(Sheet[bool]):
    """Dismisses with True where the file is to be written as shown."""

    KEYS = (("w", "write the file and judge again"), ("up down", "scroll"), ("esc", "write nothing"))
    BINDINGS: ClassVar[list[BindingType]] = [Binding("w", "agree", show=False)]

    def __init__(self, proposal: "CriterionProposal", badges: Badges) -> None:
        super().__init__("write a criterion", badges)
        self.diff = DiffView(proposal)
        self.parts = (self.diff,)

    def on_resize(self) -> None:
        self.diff.styles.height = max(min(len(self.diff.lines(self.size.width)), self.size.height - 4), 1)

    def action_agree(self) -> None:
        self.dismiss(True)
