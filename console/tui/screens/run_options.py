"""The options of a plan as a form, by the words of the command line; the plan is worked out with them afterwards."""

from collections.abc import Mapping

from textual import on

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.screens.base.sheet import Sheet
from benchconsole.console.tui.widgets.field_notes import FieldNotes
from benchconsole.console.tui.widgets.form_input import FormInput
from benchconsole.console.tui.widgets.line_input import LineInput
from benchconsole.console.tui.widgets.tabs import Badges
from benchconsole.console.view.session_control import RunForm

_SHOWN, _LEAST = 5, 2
"""Rows below the fields, for completions or what is wrong, and the fewest of them."""


class RunOptionsSheet(Sheet[Mapping[str, str]]):
    """Dismisses with what was typed, by field; what is wrong with it is said, and the form stays."""

    KEYS = (("tab", "complete"), ("up down", "field"), ("enter", "plan with these"), ("esc", "change nothing"))

    def __init__(self, options: RunForm, badges: Badges) -> None:
        super().__init__("options of the run", badges)
        self.options = options
        self.form = FormInput(tuple(options.meanings), options.values, self._complete)
        self.notes = FieldNotes(options.note)
        self.parts = (self.form, self.notes)

    def on_mount(self) -> None:
        super().on_mount()
        self._show()

    def on_resize(self) -> None:
        fields = len(self.options.meanings)
        room = self.size.height - 2 - _LEAST
        self.form.styles.height = max(min(fields, room), 1)
        self.notes.styles.height = max(min(_SHOWN, room + _LEAST - fields), _LEAST)

    def _complete(self, name: str, lines: Mapping[str, str]) -> list[str]:
        """The completions of the last of the names between commas."""
        before, comma, last = lines[name].rpartition(",")
        found = [each for each in self.options.choices.get(name, ()) if last.strip().lower() in each.lower()]
        found.sort(key=lambda each: not each.lower().startswith(last.strip().lower()))
        return [f"{before}{comma}{' ' * bool(comma)}{each}" for each in found]

    @on(LineInput.Changed)
    def _show(self) -> None:
        """Say what the field with the cursor takes."""
        completions = [(sanitize(each), "") for each in self.form.completions]
        self.notes.show(self.options.meanings[self.form.here], completions)

    @on(FormInput.Filled)
    def _filled(self, event: FormInput.Filled) -> None:
        mistakes = self.options.list_mistakes(event.typed)
        if mistakes:
            self.notes.complain(mistakes)
        else:
            self.dismiss(event.typed)
