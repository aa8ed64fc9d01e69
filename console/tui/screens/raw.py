"""The raw output of one test in full, with the text that the value was read from."""

from textual import on

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import MOVES, TypedCommand
from benchconsole.console.tui.messages import Copy, PlanRun
from benchconsole.console.tui.queries import raw_output
from benchconsole.console.tui.queries.evidence import OutputText
from benchconsole.console.tui.queries.filtering import FilterError, compile_words
from benchconsole.console.tui.rows.text_rows import CellText, Row
from benchconsole.console.tui.rows.themes import KEY, MUTED
from benchconsole.console.tui.screens.base.filtered_page import tell_refused, tell_slow
from benchconsole.console.tui.screens.base.page import Page
from benchconsole.console.tui.screens.base.saved_filter import complete_saved, find_saved
from benchconsole.console.tui.widgets.line_input import LineInput
from benchconsole.console.tui.widgets.raw import RawPane
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.wording import format_quantity
from benchconsole.probes.model.judgement import Verdict
from benchconsole.probes.model.measuring import Reading
from benchconsole.topology.units import Shown, counted

HINT = "text, !text, one|other, ~expression, joined by &"


class RawScreen(Page):
    """``tab`` goes through the outputs of the test, arrows scroll, ``/`` shows some of the lines alone."""

    filter_area = "raw"
    VALID = (*MOVES, "left", "right", "pane", "pane_back", "filter", "copy", "copy_all", "repeat")
    KEYS = (
        ("back", "back"),
        ("pane", "next output"),
        "filter",
        ("copy_all", "copy output"),
        "repeat",
        "command",
        "help",
    )
    DEFAULT_CSS = """
    RawScreen LineInput { margin-top: 1; margin-bottom: 1; }
    RawScreen.-low LineInput { margin-top: 0; margin-bottom: 0; }
    """

    def __init__(
        self, test: str, measurement: Reading | None = None, *, verdict: Verdict | None = None, tab: str = "Nodes"
    ) -> None:
        super().__init__(tab=tab, subject=test)
        self.test = test
        self.measurement = measurement
        self.verdict = verdict
        """Of an inventory: it is about the fact that is marked. Without one the first that is no pass counts."""
        self.place: int | None = None
        self.raw = RawPane()
        self.prompt = LineInput("/")
        self.commands["filter"] = TypedCommand(self._filter_by, tuple)
        self.parts = (self.prompt, self.raw)

    def paint(self, view: RunView) -> None:
        result = view.results.get(self.test)
        if result is None:  # a replay went back to before it
            self.crumb.show(self.crumb.parts)
            self.raw.show(None, self.raw.filter)
            self._annotate()
            return
        target = result.test.target
        value: Row = ()
        if self.measurement is not None:
            reading = self.measurement
            shown = next((v.shown for v in view.verdicts.get(self.test, ()) if v.metric == reading.metric), None)
            words = format_quantity(reading.value, reading.unit, shown or _find_shown(view, reading.metric))
            value = (CellText(f"{sanitize(reading.metric)} {words}", MUTED),)
        self.crumb.show((sanitize(view.fabric.name), sanitize(target.key), f"raw {sanitize(result.test.probe)}"), value)
        verdict = self.verdict or raw_output.find_worst_fact(view, self.test)
        self.raw.show(raw_output.read_output(result, self.measurement, self.place, verdict), self.raw.filter)
        self._annotate()

    def _annotate(self) -> None:
        """Say how many lines are shown, and whether the one with the value is among them."""
        shown = self.raw.evidence
        if shown is None:
            self.prompt.show(note=(CellText("this test has not run yet", MUTED),))
            return
        total = len(shown.lines)
        if self.raw.kept.refused is not None:
            tell_slow(self.prompt, self.raw.kept.refused[1])
            return
        if not self.raw.filter.text:
            said = _tell_lines(counted(total, "line"), shown)
            self.prompt.show(note=(CellText(HINT if self.prompt.has_focus else said, MUTED),))
            return
        mark = shown.marked
        hides = mark is not None and all(line.place != mark.line for line in self.raw.items)
        away = ", not the one that the value was read from" if hides else ""
        words = _tell_lines(f"{self.raw.count:,} of {counted(total, 'line')}", shown, f" shown{away}") + "   "
        self.prompt.show(note=(CellText(words, MUTED), CellText("esc", KEY), CellText(" clears", MUTED)))

    def _filter_by(self, text: str) -> None:
        if text != self.prompt.text:
            self.prompt.fill(text)
        try:
            chosen = compile_words(text, find_saved(self, text))
        except FilterError as error:
            tell_refused(self.prompt, error)
            return
        self.raw.show(self.raw.evidence, chosen)
        self._annotate()

    def action_filter(self) -> None:
        self.set_focus(self.prompt)  # now: what is typed next is for it
        self.call_after_refresh(self._annotate)

    def action_back(self) -> None:
        """Clear the filter first."""
        if self.prompt.text:
            self._left()
        else:
            super().action_back()

    @on(LineInput.Changed)
    def _typed(self, event: LineInput.Changed) -> None:
        event.stop()
        self._filter_by(event.text)

    @on(LineInput.Entered)
    def _entered(self) -> None:
        self.raw.focus()
        self.call_after_refresh(self._annotate)

    @on(LineInput.Asked)
    def _asked(self, event: LineInput.Asked) -> None:
        if event.key == "tab" and complete_saved(self, self.prompt):
            self._filter_by(self.prompt.text)
        self.raw.move({"up": -1, "down": 1}.get(event.key, 0))

    @on(LineInput.Left)
    def _left(self) -> None:
        self.raw.focus()
        self._filter_by("")

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
            lines = "\n".join(line.text for line in self.raw.items)
            what = f"{counted(self.raw.count, 'line')} of the output" if self.raw.filter.text else "the output"
            self.post_message(Copy(f"{lines}\n", what))

    def action_repeat(self) -> None:
        self.post_message(PlanRun(only=(self.test,)))


def _tell_lines(number: str, output: OutputText, more: str = "") -> str:
    """How many lines there are, and that the command wrote more than that: the rest was never stored."""
    return f"{number} kept{more}, the rest was cut off when it was read" if output.is_cut else f"{number}{more}"


def _find_shown(view: RunView, metric: str) -> Shown:
    """How other verdicts show this metric: a test of a bundle has none of its own."""
    every = (verdict for found in view.verdicts.values() for verdict in found)
    return next((verdict.shown for verdict in every if verdict.metric == metric), Shown.PLAIN)
