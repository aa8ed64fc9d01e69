"""Several named lines of typed text with one cursor, in one widget: its keys are done in the order in which they came.

With a widget for each line, what comes with ``down`` in one read would still go into the line before.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from textual import events
from textual.message import Message

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.rows.text_rows import CellLine, Row
from benchconsole.console.tui.rows.themes import MUTED, TEXT
from benchconsole.console.tui.widgets.line_input import LineInput

Complete = Callable[[str, Mapping[str, str]], Sequence[str]]
"""The completions of the text of a line, by its name; given all lines."""


class FormInput(LineInput):
    """A line for each of ``names``; ``text`` and ``mark`` are those of the one with the cursor.

    ``values`` are the texts as they begin; one that nobody touches stays what it was, also where that cannot be shown
    as it is. ``up`` and ``down`` change the line, ``tab`` takes the first completion, or changes the line.
    """

    @dataclass
    class Filled(Message):
        """Enter was pressed."""

        typed: Mapping[str, str]

    def __init__(self, names: Sequence[str], values: Mapping[str, str], complete: Complete) -> None:
        self._wide = max(map(len, names))
        super().__init__(names[0].rjust(self._wide))
        self.names = tuple(names)
        self.here = names[0]
        self._values = {name: values.get(name, "") for name in names}
        self._shown = {name: sanitize(text) for name, text in self._values.items()}
        self._texts = dict(self._shown)
        self._complete = complete
        self.fill(self._texts[self.here])
        self.styles.height = len(names)

    @property
    def lines_shown(self) -> dict[str, str]:
        """The texts as they stand on the screen."""
        return {**self._texts, self.here: self.text}

    @property
    def typed(self) -> dict[str, str]:
        """The texts, by name."""
        return {
            name: self._values[name] if text == self._shown[name] else text for name, text in self.lines_shown.items()
        }

    @property
    def completions(self) -> Sequence[str]:
        """The completions of the line with the cursor, without its own text."""
        return [each for each in self._complete(self.here, self.lines_shown) if each != self.text]

    def go(self, name: str) -> None:
        """Put the cursor behind the text of another line."""
        self._texts[self.here] = self.text
        self.here, self.mark = name, name.rjust(self._wide)
        self.fill(self._texts[name])
        self.post_message(self.Changed(self.text))

    def draw(self, width: int, height: int) -> list[Row]:
        rows = []
        for name in self.names:
            line = CellLine(width).to(1).put(name.rjust(self._wide), MUTED).put(" ").put(self._texts[name], TEXT)
            rows.append(super().draw(width, 1)[0] if name == self.here else line.row())
        first = min(self.names.index(self.here), max(len(rows) - height, 0))
        return rows[first:]

    def on_key(self, event: events.Key) -> None:
        """Keys that a single line knows not; the others are those of a line."""
        steps = {"up": -1, "shift+tab": -1, "down": 1, "tab": 1}
        if event.key == "tab" and self.completions:
            self.fill(self.completions[0])
            self.post_message(self.Changed(self.text))
        elif event.key in steps:
            self.go(self.names[(self.names.index(self.here) + steps[event.key]) % len(self.names)])
        elif event.key == "enter":
            self.post_message(self.Filled(self.typed))
        elif event.key != "backspace" or self.text:
            return
        event.stop()
        event.prevent_default()  # else the line would take the key, too: backspace in an empty one leaves the sheet

    def on_click(self, event: events.Click) -> None:
        if event.y < len(self.names) <= self.size.height:
            self.go(self.names[event.y])
