"""The command line after ``:``, with completion of commands and of what they take."""

from collections.abc import Callable, Sequence

from textual import on

from benchconsole.console.tui.actions import ACTIONS, MOVES, NOUNS, find_key, tell_help
from benchconsole.console.tui.rows.text_rows import CellText
from benchconsole.console.tui.rows.themes import MUTED
from benchconsole.console.tui.screens.base.sheet import Sheet
from benchconsole.console.tui.widgets.line_input import LineInput
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.options import Option, OptionListing, list_hidden
from benchconsole.console.tui.widgets.tabs import Badges

MOST = 8

SEVERAL = "..."
"""Ends the argument of a command that takes several words: the last of them is completed."""


class CommandSheet(Sheet[str]):
    """Dismisses with the text of the command."""

    KEYS = (("tab", "complete"), ("enter", "do"), ("up", "before"), ("esc", "back"))
    DEFAULT_CSS = "CommandSheet OptionListing { height: 8; }"

    def __init__(
        self,
        valid: Sequence[str],
        arguments: Callable[[str, str], Sequence[str]],
        history: Sequence[str],
        badges: Badges,
    ) -> None:
        super().__init__("command", badges)
        known = [ACTIONS[each] for each in dict.fromkeys(valid) if each not in MOVES]
        nouns = [ACTIONS[each] for each in NOUNS if ACTIONS[each] in known]
        self.actions = [*nouns, *(each for each in known if each not in nouns)]
        self.arguments = arguments
        self.history = list(history)
        self.before = len(self.history)
        self.prompt = LineInput(":")
        self.options = OptionListing(self.candidates(""))
        self.options.CURSOR = True
        self.options.styles.height = MOST
        self.parts = (self.options, self.prompt)

    def begin(self, text: str) -> None:
        """Go on as if ``text`` had been typed."""
        self.prompt.fill(text)
        self._show_candidates()

    def on_resize(self) -> None:
        """Say how many candidates are out of sight, once it is known how many are not."""
        self.call_after_refresh(self.count_candidates)

    @on(Listing.Moved)
    def count_candidates(self) -> None:
        """Say behind the line how many candidates stand below and above those in sight."""
        self.prompt.show(note=(CellText("   ".join(list_hidden(self.options)), MUTED),))

    def _show_candidates(self) -> None:
        self.options.show(self.candidates(self.prompt.text))
        self.count_candidates()

    def candidates(self, text: str) -> list[Option]:
        """The completions of ``text``: those that open something before those that do something."""
        word, space, rest = text.partition(" ")
        action = next((each for each in self.actions if each.word == word), None)
        if space and action is not None:
            before, gap, last = rest.rpartition(" ") if action.argument.endswith(SEVERAL) else ("", "", rest)
            every, typed = self.arguments(action.id, rest), last.lower()
            found = [each for each in every if each.lower().startswith(typed)]
            found += [each for each in every if typed in each.lower() and not each.lower().startswith(typed)]
            texts = [f"{word} {before}{gap}{each}" for each in found[:50]]
            return [Option(" ", text, "", text) for text in texts]
        starts = [each for each in self.actions if each.word.startswith(word)]
        others = [each for each in self.actions if each not in starts and word in f"{each.word} {each.help}"]
        return [
            Option(find_key(each.id) or " ", f"{each.word} {each.argument}".strip(), tell_help(each), each.word)
            for each in starts + others
        ]

    @on(LineInput.Changed)
    def _typed(self) -> None:
        self._show_candidates()

    @on(LineInput.Asked)
    def _asked(self, event: LineInput.Asked) -> None:
        if event.key == "tab":
            self._complete()
        elif (event.key == "up" and not self.prompt.text) or self.before < len(self.history):
            self._remember(-1 if event.key == "up" else 1)
        else:
            self.options.move(-1 if event.key == "up" else 1)

    def _complete(self) -> None:
        chosen = self.options.chosen
        if chosen is not None:
            takes = next((each.argument for each in self.actions if each.word == chosen.value), "")
            self.prompt.fill(chosen.value + (" " if takes else ""))
            self._show_candidates()

    def _remember(self, step: int) -> None:
        self.before = max(0, min(self.before + step, len(self.history)))
        text = self.history[self.before] if self.before < len(self.history) else ""
        self.prompt.fill(text)
        self._show_candidates()

    @on(LineInput.Entered)
    def _entered(self, event: LineInput.Entered) -> None:
        chosen, words = self.options.chosen, event.text.split()
        known = words and any(each.word == words[0] for each in self.actions)
        if chosen is not None and self.options.cursor:  # somebody has gone to it
            self.dismiss(chosen.value)
        elif known and (len(words) > 1 or chosen is None or not event.text.endswith(" ")):
            self.dismiss(event.text.strip())
        else:
            self.dismiss(chosen.value if chosen is not None and event.text.strip() else event.text.strip() or None)

    @on(Listing.Chosen)
    def _chosen(self) -> None:
        self._complete()
