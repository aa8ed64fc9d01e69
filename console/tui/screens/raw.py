"""The raw output of one test in full, with the text that the value was read from."""

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import MOVES
from benchconsole.console.tui.messages import Copy, PlanRun
from benchconsole.console.tui.queries import raw_output
from benchconsole.console.tui.rows.text_rows import CellText, Row
from benchconsole.console.tui.rows.themes import MUTED
from benchconsole.console.tui.screens.base.page import Page
from benchconsole.console.tui.widgets.raw import RawPane
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.wording import format_quantity
from benchconsole.probes.model.measuring import Reading
from benchconsole.topology.units import Shown


class RawScreen(Page):
    """``tab`` goes through the outputs of the test, arrows scroll."""

    VALID = (*MOVES, "left", "right", "pane", "pane_back", "copy", "copy_all", "repeat")
    KEYS = (("back", "back"), ("pane", "next output"), ("copy_all", "copy output"), "repeat", "command", "help")
    DEFAULT_CSS = "RawScreen RawPane { margin-top: 1; } RawScreen.-low RawPane { margin-top: 0; }"

    def __init__(self, test: str, measurement: Reading | None = None, *, tab: str = "Nodes") -> None:
        super().__init__(tab=tab, subject=test)
        self.test = test
        self.measurement = measurement
        self.place: int | None = None
        self.raw = RawPane()
        self.parts = (self.raw,)

    def paint(self, view: RunView) -> None:
        result = view.results.get(self.test)
        if result is None:
            return
        target = result.test.target
        value: Row = ()
        if self.measurement is not None:
            reading = self.measurement
            shown = next((v.shown for v in view.verdicts.get(self.test, ()) if v.metric == reading.metric), None)
            words = format_quantity(reading.value, reading.unit, shown or self._shown(view, reading.metric))
            value = (CellText(f"{sanitize(reading.metric)} {words}", MUTED),)
        self.crumb.show((sanitize(view.fabric.name), sanitize(target.key), f"raw {sanitize(result.test.probe)}"), value)
        self.raw.show(raw_output.read_output(result, self.measurement, self.place))

    def _shown(self, view: RunView, metric: str) -> Shown:
        """How other verdicts show this metric: a test of a bundle has none of its own."""
        every = (verdict for found in view.verdicts.values() for verdict in found)
        return next((verdict.shown for verdict in every if verdict.metric == metric), Shown.PLAIN)

    def action_shift(self, step: int) -> None:
        self.raw.sideways(8 * step)

    def action_pane(self, step: int) -> None:
        """The next output of the test, or the one before."""
        shown = self.raw.evidence
        if shown is not None and shown.of and self.run_view is not None:
            self.place = (shown.place + step) % shown.of
            self.paint(self.run_view)

    def action_copy(self) -> None:
        if self.raw.evidence is not None:
            self.post_message(Copy(self.raw.evidence.command + "\n", "the command"))

    def action_copy_all(self) -> None:
        if self.raw.evidence is not None:
            self.post_message(Copy("\n".join(self.raw.evidence.lines) + "\n", "the output"))

    def action_repeat(self) -> None:
        self.post_message(PlanRun(only=(self.test,)))
