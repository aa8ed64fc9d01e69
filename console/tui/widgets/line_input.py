"""One line of typed text. Filter, command, search and password use the same keys.

Textual's ``Input`` paints with Textual's theme and would not follow the painter on 16 colours, none, or ASCII;
mark, note and the word that was not understood stand in the same row here.
"""

from collections.abc import Collection
from dataclasses import dataclass

from textual import events
from textual.message import Message

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row
from benchconsole.console.tui.rows.themes import ACCENT, FAIL, TEXT, Ground, Ink, Tone
from benchconsole.console.tui.widgets.canvas import CellWidget

_CURSOR = Tone(Ink.ON_ACCENT, Ground.ACCENT)


class LineInput(CellWidget, can_focus=True):
    """Text with a cursor. ``note`` stands behind the text, ``wrong`` marks one word of it as not understood.

    Keys of ``asked`` belong to what stands above, and are no text. ``masked`` text is drawn as stars and in no message:
    who asked reads ``text``.
    """

    DEFAULT_CSS = "LineInput { height: 1; }"

    @dataclass
    class Changed(Message):
        """The text is another."""

        text: str

    @dataclass
    class Entered(Message):
        """Enter was pressed."""

        text: str

    class Left(Message):
        """Escape was pressed, or the last character was taken away with backspace once more."""

    @dataclass
    class Asked(Message):
        """A key that belongs to what stands above: up, down, tab, and those that were ``asked`` for."""

        key: str

    def __init__(self, mark: str, *, masked: bool = False, asked: Collection[str] = ()) -> None:
        super().__init__()
        self.mark = mark
        self.asked = ("up", "down", "tab", "shift+tab", *asked)
        self.masked = masked
        self.text = ""
        self.at = 0
        self.note: Row = ()
        self.wrong = ""
        self.aside: Row = ()

    def show(self, *, note: Row = (), wrong: str = "", aside: Row = ()) -> None:
        self.note, self.wrong, self.aside = note, wrong, aside
        self.redraw()

    def fill(self, text: str) -> None:
        """Put ``text`` in, the cursor behind it, without a message."""
        self.text, self.at = text, len(text)
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        line = CellLine(width).to(1).put(self.mark, ACCENT).put(" ")
        text = "*" * len(self.text) if self.masked else self.text
        start = max(0, measure_width(text[: self.at]) - max(line.room - 4, 1))
        shown, at = text[start:], self.at - start
        if self.has_focus:
            line.extend(self._marked(shown[:at]))
            line.put(shown[at : at + 1] or " ", _CURSOR).extend(self._marked(shown[at + 1 :]))
        else:
            line.extend(self._marked(shown))
        if self.note:
            line.put("   ")
            for text, tone in self.note:
                line.put(clip_text(text, max(line.room - 1, 0)), tone)
        return [line.right(self.aside).row()]

    def _marked(self, text: str) -> Row:
        """``text`` with the word that was not understood in the colour of a fault."""
        if not self.wrong or self.wrong not in text:
            return (CellText(text, TEXT),)
        before, word, after = text.partition(self.wrong)
        return (CellText(before, TEXT), CellText(word, FAIL), CellText(after, TEXT))

    def on_paste(self, event: events.Paste) -> None:
        """Take pasted text, one line of it, made plain; masked text is nowhere shown, and taken as it is."""
        event.stop()
        line = event.text.splitlines()[0] if event.text else ""
        self._insert(line if self.masked else sanitize(line))

    def on_key(self, event: events.Key) -> None:
        """Edit; every key ends here, so that no letter is an action while one types."""
        if event.key in ("ctrl+c", "ctrl+q"):
            return
        event.stop()
        event.prevent_default()
        if event.key in self.asked:
            self.post_message(self.Asked(event.key))
        elif event.is_printable and event.character:
            self._insert(event.character)
        elif event.key == "enter":
            self.post_message(self.Entered(self._told))
        elif event.key == "escape" or (event.key == "backspace" and not self.text):
            self.post_message(self.Left())
        else:
            self._edit(event.key)

    def _insert(self, text: str) -> None:
        self._set(self.text[: self.at] + text + self.text[self.at :], self.at + len(text))

    def _edit(self, key: str) -> None:
        before, after = self.text[: self.at], self.text[self.at :]
        if key == "backspace":
            self._set(before[:-1] + after, self.at - 1)
        elif key == "delete":
            self._set(before + after[1:], self.at)
        elif key == "ctrl+u":
            self._set(after, 0)
        elif key == "ctrl+w":
            kept = before.rstrip()
            kept = kept[: kept.rfind(" ") + 1]
            self._set(kept + after, len(kept))
        else:
            moves = {"left": self.at - 1, "right": self.at + 1, "home": 0, "end": len(self.text)}
            self.at = max(0, min(moves.get(key, self.at), len(self.text)))
            self.redraw()

    def _set(self, text: str, at: int) -> None:
        changed = text != self.text
        self.text, self.at = text, max(0, min(at, len(text)))
        self.redraw()
        if changed:
            self.post_message(self.Changed(self._told))

    @property
    def _told(self) -> str:
        """The text as messages have it, which may be logged."""
        return "" if self.masked else self.text
