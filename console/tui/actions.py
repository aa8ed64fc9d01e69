"""Owns every action once: its keys, the word in the footer, its sentence in the help, its ``:`` command.

Bindings, footer, command line and help are all made from this table, so that they cannot
tell different stories. Refuses to know what an action does: its owner has ``action_<id>``.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from textual.binding import Binding


@dataclass(frozen=True, slots=True)
class Action:
    """``keys`` as Textual names them, ``shown`` as people do; ``argument`` says what the command takes."""

    id: str
    keys: str
    shown: str
    verb: str
    help: str
    command: str = ""
    argument: str = ""

    @property
    def word(self) -> str:
        """What is typed after ``:``."""
        return self.command or self.id.replace("_", "-")


_TABLE = (
    Action("up", "up,k", "↑", "up", "one row up"),
    Action("down", "down,j", "↓", "down", "one row down"),
    Action("left", "left,h", "←", "left", "one step to the left"),
    Action("right", "right,l", "→", "right", "one step to the right"),
    Action("page_up", "pageup", "pgup", "page up", "a page up"),
    Action("page_down", "pagedown", "pgdn", "page down", "a page down"),
    Action("first", "home,g", "g", "first", "to the first row"),
    Action("last", "end,G", "G", "last", "to the last row"),
    Action("enter", "enter", "enter", "open", "open what the cursor stands on"),
    Action("back", "escape", "esc", "back", "one level out; clears a filter first"),
    Action("fabric", "1", "1", "fabric", "the fabric: racks, nodes, uplinks"),
    Action("nodes", "2", "2", "nodes", "every node with what was measured"),
    Action("run", "3", "3", "run", "the run: stages, tests, events"),
    Action("findings", "4", "4", "findings", "every cause, the worst first"),
    Action("pane", "tab", "tab", "pane", "the next pane"),
    Action("pane_back", "shift+tab", "shift+tab", "pane", "the pane before"),
    Action("next_fault", "n", "n", "next fault", "go to the next fault"),
    Action("previous_fault", "N", "N", "fault before", "go to the fault before"),
    Action("filter", "slash", "/", "filter", "only rows that match: text, !text, col>x, joined by &", "filter", "TEXT"),
    Action("command", "colon", ":", "command", "type a command by name"),
    Action("help", "question_mark", "?", "help", "keys and commands that are valid here"),
    Action("freeze", "space", "space", "freeze", "stop painting; what happens meanwhile is counted, not lost"),
    Action("values", "v", "v", "values", "cells as states, or as the share of what was expected"),
    Action("fold", "z", "z", "fold alike", "fold what is alike into one: rows that pass, static findings of one kind"),
    Action("more_detail", "plus,equals_sign", "+", "detail", "fewer nodes in a cell"),
    Action("less_detail", "minus", "-", "detail", "more nodes in a cell"),
    Action("sort", "s", "s", "sort", "sort by the column; again turns it round", "sort", "COLUMN"),
    Action("sort_also", "S", "S", "then by", "sort by the column after those that already sort"),
    Action("column_left", "less_than_sign,comma", "<", "column", "the column to the left"),
    Action("column_right", "greater_than_sign,full_stop", ">", "column", "the column to the right"),
    Action("in_fabric", "o", "o", "in fabric", "show it in the fabric"),
    Action("facts", "i", "i", "facts", "all that the node told of itself"),
    Action("sweeps", "w", "w", "sweeps", "what was swept, as curves: clients, tasks, streams, sizes"),
    Action("finding", "f", "f", "finding", "the finding that explains it"),
    Action("repeat", "r", "r", "repeat", "repeat what failed, or what is selected; the plan comes first"),
    Action("plan", "R", "R", "plan a run", "plan a run and show it before anything is sent", "plan", "SUITE"),
    Action("stop", "S", "S", "stop, asks how", "stop the run: after the round, now, or not"),
    Action("copy", "y", "y", "copy", "copy the row to the clipboard of your terminal"),
    Action("copy_all", "Y", "Y", "copy table", "copy the whole table, tab-separated"),
    Action("export", "e", "e", "export", "write a report: html, md, csv or json", "export", "FORMAT [PATH]"),
    Action("theme", "", "", "theme", "change the colours", "theme", "NAME"),
    Action("node", "", "", "node", "open a node by name", "node", "NODE"),
    Action("quit", "q", "q", "quit", "leave; asks first when a run is going"),
)  # fmt: skip

ACTIONS: dict[str, Action] = {action.id: action for action in _TABLE}

GLOBAL = (
    "fabric", "nodes", "run", "findings", "plan", "export", "freeze", "theme", "node", "command", "help", "quit",
)  # fmt: skip
"""Actions that are valid on every screen."""

MOVES = ("up", "down", "page_up", "page_down", "first", "last", "enter", "back")


def bindings(ids: Iterable[str], *, prefix: str = "") -> list[Binding]:
    """Bindings for some actions; every one has an id, so that a keymap can change it."""
    return [
        Binding(ACTIONS[each].keys, f"{prefix}{each}", ACTIONS[each].verb, show=False, id=each)
        for each in ids
        if ACTIONS[each].keys
    ]


def matching(ids: Iterable[str], words: str) -> list[Action]:
    """Actions whose key, command or sentence holds every word; in table order, each once."""
    wanted = words.lower().split()
    seen = set(ids)
    found = []
    for action in _TABLE:
        text = f"{action.shown} {action.word} {action.verb} {action.help}".lower()
        if action.id in seen and all(word in text for word in wanted):
            found.append(action)
    return found
