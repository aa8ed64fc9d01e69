"""Owns what the application does on a key or a command: tabs, freeze, plans, export, help, leaving.

A mixin of the application, apart from it so that its own file shows how it lives and nothing else.
"""

import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from console.tui.actions import ACTIONS, GLOBAL
from console.tui.screens.choice import Choice
from console.tui.screens.command import Command
from console.tui.screens.export import FORMATS, Export, Target
from console.tui.screens.help import Help
from console.tui.screens.plan import PlanSheet
from console.tui.themes import THEMES, Depth, Palette
from console.tui.widgets.canvas import Canvas
from console.tui.widgets.options import Option
from console.wording import plain
from probes.model import Round
from topology.model import NodeId

if TYPE_CHECKING:
    from console.tui.app import Bench

STOP = (
    Option("a", "after the round", "close this round, judge it, then stop", "after"),
    Option("n", "now", "cancel what runs; the round counts as not measured", "now"),
    Option("p", "pause", "wait before the next round", "pause"),
    Option("g", "go on", "do not stop", "go on"),
)


class Operations:
    """Actions that are valid everywhere."""

    def action_fabric(self: "Bench") -> None:
        """The fabric."""
        self.go_to("fabric")

    def action_nodes(self: "Bench") -> None:
        """The nodes."""
        self.go_to("nodes")

    def action_run(self: "Bench") -> None:
        """The run."""
        self.go_to("run")

    def action_findings(self: "Bench") -> None:
        """The findings."""
        self.go_to("findings")

    def action_freeze(self: "Bench") -> None:
        """Stop painting, or go on with the latest."""
        if self.frozen_at is None:
            self.frozen_at = time.monotonic()
            self.frozen_generation = self.bridge.generation
        else:
            self.frozen_at = None
        self.screens_run.frozen = self.frozen_at is not None
        self.tick()

    async def action_command(self: "Bench") -> None:
        """Type a command."""
        sheet = Command(self.valid_actions(), self.arguments_of, self.history, self.badges())
        self.push_screen(sheet, self.perform)

    def action_help(self: "Bench") -> None:
        """Keys and commands that are valid here."""
        self.push_screen(Help(self.valid_actions(), self.badges()), self.perform_action)

    def action_plan(self: "Bench") -> None:
        """Plan a run."""
        self.plan(None)

    def action_export(self: "Bench") -> None:
        """Write a report."""
        stem = plain(self.shown.label).replace(" ", "-").replace("/", "-") if self.shown else ""
        self.push_screen(Export(stem or "benchconsole", self.badges()), self.write)

    def action_stop(self: "Bench") -> None:
        """Ask how to stop."""
        conductor = self.conductor
        if conductor is None or not conductor.running:
            self.say("Nothing is running.")
            return
        options = STOP
        if conductor.paused:
            options = tuple(each for each in STOP if each.value not in ("pause", "go on")) + (
                Option("g", "go on", "take up the next round", "go on"),
            )
        text = "The run is paused." if conductor.paused else "Rounds that are closed are kept whatever you choose."
        self.push_screen(Choice("stop the run", text, options, self.badges()), self.stop_as)

    def stop_as(self: "Bench", how: str | None) -> None:
        """Stop, pause or go on."""
        conductor = self.conductor
        if conductor is None or how is None:
            return
        if how in ("after", "now"):
            conductor.stop(now=how == "now")
            self.say("Stopping now." if how == "now" else "Stopping when this round is closed.")
        elif how == "pause":
            conductor.pause()
            self.say("Pausing when this round is closed; S takes it up again.")
        elif conductor.paused:
            conductor.go_on()
            self.say("Going on.")

    def action_quit_asking(self: "Bench") -> None:
        """Leave; ask first when a run is going."""
        if self.conductor is None or not self.conductor.running:
            self.exit(0)
            return
        options = (
            Option("a", "after the round", "stop when the round is closed, then leave", "after"),
            Option("n", "now", "cancel what runs, then leave", "now"),
            Option("s", "stay", "go on", "stay"),
        )
        text = "A run is going. It ends when you leave; what is closed is kept and can be resumed."
        self.push_screen(Choice("leave", text, options, self.badges()), self.leave_as)

    def leave_as(self: "Bench", how: str | None) -> None:
        """Stop and leave."""
        if self.conductor is not None and how in ("after", "now"):
            self.conductor.stop(now=how == "now")
            self.leaving = True

    def plan(self: "Bench", suite: str | None, *, failed_only: bool = False, only: Collection[str] = ()) -> None:
        """Propose rounds and show them; nothing is sent before enter."""
        conductor = self.conductor
        if conductor is None:
            self.say("The session is not open yet.")
            return
        if conductor.running:
            self.say("A run is going; S stops it first.", wrong=True)
            return
        fixed = failed_only or bool(only)

        def propose(name: str | None) -> tuple[Round, ...]:
            return conductor.propose(None if fixed else name, failed_only=failed_only, only=only)

        suites = () if fixed else conductor.suites
        self.push_screen(PlanSheet(suites, propose, conductor.notes, self.badges(), suite=suite), self.start_rounds)

    def start_rounds(self: "Bench", rounds: tuple[Round, ...] | None) -> None:
        """Start what was shown, and show the run."""
        if rounds and self.conductor is not None:
            self.conductor.start(rounds)
            self.go_to("run")

    def write(self: "Bench", target: Target | None) -> None:
        """Write a report and say where it is."""
        if target is None or self.conductor is None:
            return
        try:
            path = self.conductor.export(target.format, target.path)
        except OSError as error:
            self.say(f"{target.path}: {error.strerror or error}", wrong=True)
        else:
            self.say(f"written: {path}")

    def perform_action(self: "Bench", name: str | None) -> None:
        """Do one action, of the screen or of the application."""
        if name in ACTIONS:
            self.call_later(self.do_action, name)

    async def do_action(self: "Bench", name: str) -> None:
        """Run the action where it belongs."""
        screen = self.screen
        owner = "screen" if name not in GLOBAL and hasattr(screen, f"action_{name}") else "app"
        await self.run_action(f"{owner}.{'quit_asking' if name == 'quit' else name}")

    def perform(self: "Bench", text: str | None) -> None:
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

    def perform_with(self: "Bench", name: str, rest: str) -> None:
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

    def export_typed(self: "Bench", rest: str) -> None:
        """``:export md report.md``; without a path it is named after the session."""
        from pathlib import Path

        format, _, path = rest.partition(" ")
        if format not in {option.value for option in FORMATS}:
            self.say(f"no format {plain(format)}; there are " + " ".join(o.value for o in FORMATS), wrong=True)
            return
        stem = plain(self.shown.label).replace(" ", "-").replace("/", "-") if self.shown else "benchconsole"
        self.write(Target(format, Path(path or f"{stem}.{format}").expanduser()))

    def arguments_of(self: "Bench", name: str) -> Sequence[str]:
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

    def use_theme(self: "Bench", name: str) -> None:
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

    def action_theme(self: "Bench") -> None:
        """The next theme."""
        names = list(THEMES)
        self.use_theme(names[(names.index(self.painter.palette.theme) + 1) % len(names)])

