"""Owns what is typed after ``:`` and found under ``?``: commands, what they take, and doing them."""

from collections.abc import Sequence
from pathlib import Path

from console.tui.actions import ACTIONS, GLOBAL
from console.tui.operations import Operations
from console.tui.screens.command import Command
from console.tui.screens.export import FORMATS, Target
from console.tui.screens.help import Help
from console.tui.themes import THEMES, Depth, Palette
from console.tui.widgets.canvas import Canvas
from console.wording import plain
from topology.model import NodeId


class Commanding(Operations):
    """Commands are the actions of the table by name, with an argument where they take one."""

    def action_command(self) -> None:
        """Type a command."""
        sheet = Command(self.valid_actions(), self.arguments_of, self.history, self.badges())
        self.push_screen(sheet, self.perform)

    def action_help(self) -> None:
        """Keys and commands that are valid here."""
        self.push_screen(Help(self.valid_actions(), self.badges()), self.perform_action)

    def perform_action(self, name: str | None) -> None:
        """Do one action, of the screen or of the application."""
        if name in ACTIONS:
            self.call_later(self.do_action, name)

    async def do_action(self, name: str) -> None:
        """Run the action where it belongs."""
        screen = self.screen
        owner = "screen" if name not in GLOBAL and hasattr(screen, f"action_{name}") else "app"
        await self.run_action(f"{owner}.{'quit_asking' if name == 'quit' else name}")

    def perform(self, text: str | None) -> None:
        """Do what was typed after ``:``."""
        if not text:
            return
        self.history.append(text)
        word, _, rest = text.partition(" ")
        action = next((each for each in ACTIONS.values() if each.word == word), None)
        if action is None or action.id not in self.valid_actions():
            self.say(f"no command {plain(word)} here; ? lists them", wrong=True)
        elif not rest.strip():
            self.perform_action(action.id)
        else:
            self.perform_with(action.id, rest.strip())

    def perform_with(self, name: str, rest: str) -> None:
        """Do an action that was given something."""
        if name == "theme":
            self.use_theme(rest)
        elif name == "node":
            self.open_node(NodeId(rest))
        elif name == "plan":
            self.plan(rest)
        elif name == "export":
            self.export_typed(rest)
        else:
            handler = getattr(self.screen, f"command_{name}", None)
            if handler is None:
                self.say(f"{name} takes nothing", wrong=True)
            else:
                handler(rest)

    def export_typed(self, rest: str) -> None:
        """``:export md report.md``; without a path it is named after the session."""
        kind, _, path = rest.partition(" ")
        if kind not in {option.value for option in FORMATS}:
            self.say(f"no format {plain(kind)}; there are " + " ".join(o.value for o in FORMATS), wrong=True)
            return
        stem = plain(self.shown.label).replace(" ", "-").replace("/", "-") if self.shown else "benchconsole"
        self.write(Target(kind, Path(path or f"{stem}.{kind}").expanduser()))

    def arguments_of(self, name: str) -> Sequence[str]:
        """What a command can be given."""
        if name == "theme":
            return tuple(THEMES)
        if name == "export":
            return tuple(option.value for option in FORMATS)
        if name == "node" and self.shown is not None:
            return tuple(plain(node) for node in self.shown.nodes)
        if name == "plan" and self.conductor is not None:
            return self.conductor.suites
        complete = getattr(self.screen, f"complete_{name}", None)
        return complete() if complete else ()

    def use_theme(self, name: str) -> None:
        """Other colours, everywhere at once."""
        found = next((each for each in THEMES if name in (each, each.removeprefix("bench-"))), None)
        if found is None:
            self.say(f"no theme {plain(name)}; there are {' '.join(THEMES)}", wrong=True)
            return
        if self.painter.palette.depth is not Depth.FULL:
            self.say(f"this terminal has {self.painter.palette.depth}; themes change nothing there")
            return
        self.painter.palette = Palette(found, self.painter.palette.depth)
        self.theme = found
        for stack in self._screen_stacks.values():
            for screen in stack:
                for canvas in screen.query(Canvas):
                    canvas.repaint()

    def action_theme(self) -> None:
        """The next theme."""
        names = list(THEMES)
        self.use_theme(names[(names.index(self.painter.palette.theme) + 1) % len(names)])
