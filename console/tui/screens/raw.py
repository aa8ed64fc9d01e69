"""The raw output of one test in full, with the text that the value was read from."""

from collections.abc import Sequence

from textual.widget import Widget

from console.tui import evidence
from console.tui.actions import MOVES
from console.tui.drawing import MUTED, Piece, Row
from console.tui.messages import Copy, Plan
from console.tui.quantities import quantity
from console.tui.screens.frame import Frame
from console.tui.widgets.raw import RawPane
from console.view import RunView
from console.wording import plain
from probes.model import Measurement
from topology.units import Shown


class RawScreen(Frame):
    """``tab`` goes through the outputs of the test, arrows scroll."""

    VALID = (*MOVES, "left", "right", "pane", "pane_back", "copy", "copy_all", "repeat")
    KEYS = (("back", "back"), ("pane", "next output"), ("copy_all", "copy output"), "repeat", "command", "help")
    DEFAULT_CSS = "RawScreen RawPane { margin-top: 1; } RawScreen.-low RawPane { margin-top: 0; }"

    def __init__(self, test: str, measurement: Measurement | None, *, tab: str = "Nodes") -> None:
        self.TAB = tab  # type: ignore[misc]  # the tab is where one came from
        super().__init__()
        self.test = test
        self.measurement = measurement
        self.place: int | None = None
        self.raw = RawPane()

    def parts(self) -> Sequence[Widget]:
        """The pane."""
        return (self.raw,)

    def on_mount(self) -> None:
        """The pane has the keys."""
        super().on_mount()
        self.raw.focus()

    def paint(self, view: RunView) -> None:
        """The output."""
        result = view.results.get(self.test)
        if result is None:
            return
        target = result.test.target
        value: Row = ()
        if self.measurement is not None:
            reading = self.measurement.reading
            shown = next((v.shown for v in view.verdicts.get(self.test, ()) if v.metric == reading.metric), None)
            words = quantity(reading.value, reading.unit, shown or self._shown(view, reading.metric))
            value = (Piece(f"{plain(reading.metric)} {words}", MUTED),)
        self.crumb.show((plain(view.fabric.name), plain(target.key), f"raw {plain(result.test.probe)}"), value)
        self.raw.show(evidence.of_result(result, self.measurement, self.place))

    def _shown(self, view: RunView, metric: str) -> Shown:
        """How other verdicts show this metric: a test of a bundle has none of its own."""
        every = (verdict for found in view.verdicts.values() for verdict in found)
        return next((verdict.shown for verdict in every if verdict.metric == metric), Shown.PLAIN)

    def action_left(self) -> None:
        """Shift long lines."""
        self.raw.sideways(-8)

    def action_right(self) -> None:
        """Shift long lines."""
        self.raw.sideways(8)

    def action_pane(self) -> None:
        """The next output of the test."""
        self._turn(1)

    def action_pane_back(self) -> None:
        """The output before."""
        self._turn(-1)

    def _turn(self, step: int) -> None:
        shown = self.raw.evidence
        if shown is not None and shown.of and self.run_view is not None:
            self.place = (shown.place + step) % shown.of
            self.paint(self.run_view)

    def action_copy(self) -> None:
        """Copy the command."""
        if self.raw.evidence is not None:
            self.post_message(Copy(self.raw.evidence.command + "\n", "the command"))

    def action_copy_all(self) -> None:
        """Copy the output."""
        if self.raw.evidence is not None:
            self.post_message(Copy("\n".join(self.raw.evidence.lines) + "\n", "the output"))

    def action_repeat(self) -> None:
        """Repeat this test."""
        self.post_message(Plan(only=(self.test,)))
