"""Commands: what is typed after ``:`` and found under ``?``, what each takes, and who does it."""

from collections.abc import Callable, Mapping, Sequence

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import ACTIONS, TypedCommand
from benchconsole.console.tui.app.navigation import Navigation
from benchconsole.console.tui.app.shown_session import ShownSession
from benchconsole.console.tui.screens.command import CommandSheet
from benchconsole.console.tui.screens.help import HelpSheet


class CommandLine:
    """``do`` does an action by its id; ``typed`` are the application's commands that take an argument."""

    def __init__(
        self,
        session: ShownSession,
        navigation: Navigation,
        do: Callable[[str], None],
        typed: Mapping[str, TypedCommand],
        learn_names: Callable[[], None],
    ) -> None:
        self._session = session
        self._navigation = navigation
        self._do = do
        self._typed = typed
        self._learn_names = learn_names
        self._history: list[str] = []

    def ask(self) -> None:
        """Ask for a command; the sessions that ``compare`` may be given are read meanwhile."""
        self._learn_names()
        valid = self._navigation.valid_actions
        self._navigation.ask(CommandSheet(valid, self._arguments_of, self._history, self._session.badges), self.perform)

    def show_help(self) -> None:
        self._navigation.ask(HelpSheet(self._navigation.valid_actions, self._session.badges), self._perform_action)

    def _perform_action(self, name: str | None) -> None:
        if name is not None:
            self._do(name)

    def perform(self, text: str | None) -> None:
        if not text:
            return
        self._history.append(text)
        word, _, rest = text.partition(" ")
        action = next((each for each in ACTIONS.values() if each.word == word), None)
        if action is None or action.id not in self._navigation.valid_actions:
            self._navigation.say(f"no command {sanitize(word)} here; ? lists them", wrong=True)
        elif not rest.strip():
            self._do(action.id)
        elif (command := self._find(action.id)) is not None:
            command.do(rest.strip())
        else:
            self._navigation.say(f"{action.id} takes nothing", wrong=True)

    def _find(self, name: str) -> TypedCommand | None:
        """A command with an argument, of the application or of the page in front."""
        frame = self._navigation.frame
        return self._typed.get(name) or (frame.commands.get(name) if frame is not None else None)

    def _arguments_of(self, name: str) -> Sequence[str]:
        """The arguments that are offered for a command."""
        command = self._find(name)
        return command.arguments() if command is not None else ()
