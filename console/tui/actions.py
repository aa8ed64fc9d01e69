"""The table of actions: their keys, the word in the footer, the sentence in the help, the ``:`` command.

Bindings, footer, command line and help are all made from it, so that they cannot differ. A user's keymap gives other
keys to some of them, for the whole process.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from msgspec import Struct
from textual.binding import Binding

from benchconsole.console.tui.key_names import show_key, show_keys


class Action(Struct, frozen=True):
    """``keys`` as Textual names them, ``shown`` as people do; ``argument`` says what the command takes."""

    id: str
    keys: str
    shown: str
    verb: str
    help: str
    command: str = ""
    argument: str = ""
    call: str = ""

    @property
    def method(self) -> str:
        """The action as Textual calls it: the method of its owner, with an argument where one does several."""
        return self.call or self.id

    @property
    def word(self) -> str:
        """The word that is typed after ``:``."""
        return self.command or self.id.replace("_", "-")


class TypedCommand(NamedTuple):
    """An action that takes an argument after ``:``: what does it, and the arguments that are offered.

    ``complete`` gives what the typed beginning of an argument in several words may become, where that depends on it.
    """

    do: Callable[[str], None]
    arguments: Callable[[], Sequence[str]]
    complete: Callable[[str], Sequence[str]] | None = None


_TABLE = (
    Action("up", "up,k", "↑", "up", "one row up", call="move('up')"),
    Action("down", "down,j", "↓", "down", "one row down", call="move('down')"),
    Action("left", "left,h", "←", "left", "one step to the left", call="shift(-1)"),
    Action("right", "right,l", "→", "right", "one step to the right", call="shift(1)"),
    Action("page_up", "pageup", "pgup", "page up", "a page up", call="move('page_up')"),
    Action("page_down", "pagedown", "pgdn", "page down", "a page down", call="move('page_down')"),
    Action("first", "home,g", "g", "first", "to the first row", call="move('first')"),
    Action("last", "end,G", "G", "last", "to the last row", call="move('last')"),
    Action("enter", "enter", "enter", "open", "open what the cursor stands on"),
    Action("back", "escape", "esc", "back", "one level out; clears a filter first"),
    Action("fabric", "1", "1", "fabric", "the fabric: racks, nodes, uplinks"),
    Action("nodes", "2", "2", "nodes", "every node with what was measured"),
    Action("run", "3", "3", "run", "the run: stages, tests, events"),
    Action("findings", "4", "4", "findings", "every cause, the worst first"),
    Action("pairs", "", "", "pairs", "every flow from node to node, the lowest share of what is expected first"),
    Action("results", "", "", "results", "every number that counts, with its verdict and its reason"),
    Action("criteria", "", "", "criteria", "what judges the session, and what came of each criterion"),
    Action("links", "", "", "links", "every link with its members, and what it carried beside what it should"),
    Action("rounds", "", "", "rounds", "every round of the plan, and how its tests ended"),
    Action("suites", "", "", "suites", "every suite that can be planned, with its stages"),
    Action("probes", "", "", "probes", "every probe that is installed, and how its tests ended"),
    Action("logs", "", "", "logs", "every event of the session, with its moment"),
    Action("plot", "D", "D", "plot", "a metric drawn: distribution, shares, over time", "plot", "METRIC"),
    Action("filters", "", "", "filters", "the filters that are kept: use one after / as @NAME, remove one"),
    Action("save_filter", "", "", "keep filter", "keep the filter that is typed here, for @NAME after /", "", "NAME"),
    Action("sessions", "", "", "sessions", "every session of the database: open, label, compare, play again, remove"),
    Action("compare", "c", "c", "compare", "hold another session against this one, or its parts", "compare", "SESSION"),
    Action("history", "H", "H", "history", "the numbers of a node, or a column of Nodes, over the last sessions"),
    Action("pane", "tab", "tab", "pane", "the next pane", call="pane(1)"),
    Action("pane_back", "shift+tab", "shift+tab", "pane", "the pane before", call="pane(-1)"),
    Action("next_fault", "n", "n", "next fault", "go to the next fault", call="walk(1)"),
    Action("previous_fault", "N", "N", "fault before", "go to the fault before", call="walk(-1)"),
    Action("filter", "slash", "/", "filter", "rows that match: text, !text, n[1-4], ~regex, col>x", "filter", "TEXT"),
    Action("command", "colon", ":", "command", "type a command by name"),
    Action("help", "question_mark", "?", "help", "keys and commands that are valid here"),
    Action("jump", "J", "J", "jump", "a letter on each tab, pane and row in sight; the letter goes there"),
    Action("mark", "space", "space", "mark", "mark the row, so that orders go to all marked rows", call="mark(False)"),
    Action("mark_shown", "asterisk", "*", "mark shown", "mark all that are shown, or none of them", call="mark(True)"),
    Action("freeze", "F", "F", "freeze", "stop painting; what happens meanwhile is counted, not lost"),
    Action("values", "v", "v", "values", "cells as states, shares, load; pairs, changes as a map; the next picture"),
    Action("heat", "M", "M", "heat map", "cells show a metric or a fact of each node; off leaves", "heat", "NAME"),
    Action("zoom", "Z", "Z", "zoom", "draw alone the site, pod, leaf or chassis here, or that of a name", "", "PART"),
    Action("log_axis", "x", "x", "log axis", "the axis logarithmic or linear; again as it was"),
    Action("log_values", "X", "X", "log values", "the values logarithmic or linear; again as they were"),
    Action("fold", "z", "z", "fold alike", "fold what is alike: rows that pass or do not differ, findings of one kind"),
    Action("more_detail", "plus,equals_sign", "+", "detail", "fewer nodes in a cell", call="detail(1)"),
    Action("less_detail", "minus", "-", "detail", "more nodes in a cell", call="detail(-1)"),
    Action("sort", "s", "s", "sort", "sort by the column; again turns it round", "sort", "COLUMN", call="sort(False)"),
    Action("sort_also", "b", "b", "then by", "sort by the column after those that already sort", call="sort(True)"),
    Action("column_left", "less_than_sign,comma", "<", "column", "the column to the left", call="column(-1)"),
    Action("column_right", "greater_than_sign,full_stop", ">", "column", "the column to the right", call="column(1)"),
    Action("columns", "K", "K", "columns", "choose columns: metrics, facts of nodes, of peers", "columns", "NAME ..."),
    Action("swap", "w", "w", "swap", "A as B and B as A"),
    Action("label", "L", "L", "label", "give the session another label", "label", "TEXT", "order('label')"),
    Action("remark", "m", "m", "remark", "write down what you say of it", "", "TEXT", "app.do('remark')"),
    Action("accept", "A", "A", "accept", "answer for it; again takes that back", "", "REASON", "app.do('accept')"),
    Action("replay", "P", "P", "play again", "play it again, faster than it ran", "replay", "SPEED", "order('replay')"),
    Action("replay_pause", "p", "p", "pause", "stand still in a session that is played again, or go on"),
    Action("round_back", "left_square_bracket", "[", "round back", "back to the start of the round, or of that before"),
    Action("round_on", "right_square_bracket", "]", "next round", "on to the next round of what is played again"),
    Action("tenth_back", "left_curly_bracket", "{", "10 % back", "back by a tenth of what is played again"),
    Action("tenth_on", "right_curly_bracket", "}", "10 % on", "on by a tenth of what is played again"),
    Action("seek", "T", "T", "time", "jump to a time, a round or a share of what is played again", "time", "TIME"),
    Action("slower", "left_parenthesis", "(", "slower", "play again half as fast"),
    Action("faster", "right_parenthesis", ")", "faster", "play again twice as fast"),
    Action("remove", "x,delete", "x", "remove", "remove the session (asks first) or filter", call="order('remove')"),
    Action("add_criterion", "a", "a", "add", "add a criterion: into the file, with a diff and your consent", "add"),
    Action("change_criterion", "C", "C", "change", "change the criterion, in the same way", "change"),
    Action("in_full", "t", "t", "in full", "everything that is said of it, in front of the page, to scroll"),
    Action("in_fabric", "o", "o", "in fabric", "show it in the fabric"),
    Action("write_file", "w", "w", "write the file", "name the topology file, and write it with your consent"),
    Action("facts", "i", "i", "facts", "all that the node told of itself"),
    Action("sweeps", "w", "w", "sweeps", "what was swept, as curves: clients, tasks, streams, sizes"),
    Action("finding", "f", "f", "finding", "the finding that explains it"),
    Action("repeat", "r", "r", "repeat", "repeat what failed, or what is selected; the plan comes first"),
    Action("plan", "R", "R", "plan a run", "plan a run and show it before anything is sent", "plan", "SUITE"),
    Action("test", "", "", "test", "plan one test by itself", "test", "PROBE NODE [PEER] [OPTION=..]"),
    Action("stop", "S", "S", "stop, asks how", "stop the run: after the round, now, or not"),
    Action("copy", "y", "y", "copy", "copy the row to the clipboard of your terminal"),
    Action("copy_all", "Y", "Y", "copy table", "copy the whole table, tab-separated"),
    Action("export", "e", "e", "export", "write a report: html, md, csv or json", "export", "FORMAT [PATH]"),
    Action("theme", "", "", "theme", "change the colours", "theme", "NAME"),
    Action("node", "", "", "node", "open a node by name", "node", "NODE"),
    Action("link", "", "", "link", "show a link in the fabric, by name", "link", "LINK"),
    Action("switch", "", "", "switch", "show a switch in the fabric, by name", "switch", "SWITCH"),
    Action("chassis", "", "", "chassis", "draw a chassis alone, by name", "chassis", "CHASSIS"),
    Action("open_topology", "o", "o", "topology", "a topology of this folder, or opened before", call="start('open')"),
    Action("open_database", "D", "D", "database", "the sessions of a database opened before", call="start('database')"),
    Action("describe_cluster", "a", "a", "describe", "describe a cluster: ask its nodes over SSH", call="start('ask')"),
    Action("start_demo", "d", "d", "demo", "start a simulated cluster, on loopback", call="start('demo')"),
    Action("resume_session", "r", "r", "resume", "open a session that was interrupted", call="start('resume')"),
    Action("quit", "q", "q", "quit", "leave; asks first when a run is going"),
)  # fmt: skip

ACTIONS: dict[str, Action] = {action.id: action for action in _TABLE}

REPLAYING = ("replay_pause", "round_back", "round_on", "tenth_back", "tenth_on", "seek", "slower", "faster")
"""Actions on a session that is played again."""

AREA_PAGES = ("pairs", "results", "criteria", "links", "rounds", "suites", "probes", "logs")
"""Actions that open an area that is no tab of its own."""

GLOBAL = (
    "fabric", "nodes", "run", "findings", *AREA_PAGES, "plot", "sessions", "compare", "history", "plan", "test",
    "stop", "export", "freeze", "filters", "save_filter", "jump", "theme", "node", "link", "switch", "chassis",
    *REPLAYING, "command", "help", "quit",
)  # fmt: skip
"""Actions that are valid on every screen; those of a replay only there."""

DRIVING = frozenset(("plan", "test", "repeat", "stop", "add_criterion", "change_criterion"))
"""Actions of who drives the session: one that another console drives, or that is played again, takes none of them."""

ACTING = DRIVING | {"mark", "mark_shown", "label", "remark", "accept", "remove", "export", "save_filter"}
"""Actions that lead to something on nodes, in the database or in files; a console that only looks has none of them."""


def find_refused(*, follows: bool, looks_only: bool) -> frozenset[str]:
    """The actions that a console does not take that ``follows`` another one or a replay, or ``looks_only``."""
    return ACTING if looks_only else DRIVING if follows else frozenset()


PLAN_HINT = "R plans a run and shows it before anything is sent."
ZOOM_HINT = "Nothing is chosen: go to a node, a switch or its slots, then Z shows what it is part of."


_mapped: dict[str, tuple[str, ...]] = {}


def use_keymap(keymap: Mapping[str, Sequence[str]]) -> None:
    """Have actions shown with the keys, as Textual names them, that ``keymap`` gives to them; others as in the table.

    A process has one keyboard. The application binds the keys.
    """
    _mapped.clear()
    _mapped.update((name, tuple(keys)) for name, keys in keymap.items())


def list_keys(action: Action) -> tuple[str, ...]:
    """The keys of an action as they are shown; the first one stands in the footer."""
    if action.id in _mapped:
        return show_keys(_mapped[action.id])
    keys = show_keys(filter(None, action.keys.split(",")))
    return (action.shown, *(key for key in keys if key != action.shown)) if action.shown else keys


def find_key(action: str) -> str:
    """The key of an action as it is shown, empty where it has none."""
    return show_key(_mapped[action][0]) if action in _mapped else ACTIONS[action].shown


def name_keys(words: str, *actions: str) -> str:
    """``words``, which name the keys of the table, with the keys that these actions have.

    Each is named where its key stands first, and all at once: two actions may have exchanged their keys.
    """
    found = []
    for action in filter(_mapped.__contains__, actions):
        place = re.search(rf"(?<!\w){re.escape(ACTIONS[action].shown)}(?!\w)", words)
        if place is not None:
            found.append((*place.span(), find_key(action)))
    for start, end, key in sorted(found, reverse=True):
        words = f"{words[:start]}{key}{words[end:]}"
    return words


def offer(action: str, words: str, refused: Set[str], *beside: str) -> str:
    """``words`` that name the key of ``action``, and those of others ``beside`` it; empty where it is not taken."""
    return "" if action in refused else name_keys(words, action, *beside)


def tell_help(action: Action) -> str:
    """The effect of an action, in the words of the help, with the keys that there are."""
    return name_keys(action.help, "filter")


STARTS = ("open_topology", "open_database", "describe_cluster", "start_demo", "resume_session")
"""Actions of the start page; the console has none of them."""

MOVES = ("up", "down", "page_up", "page_down", "first", "last", "enter", "back")


def bindings(ids: Iterable[str], *, owner: str = "") -> list[Binding]:
    """Bindings for some actions, each with an id for keymaps; ``owner`` is a method that does them all by their ids."""
    return [
        Binding(
            action.keys, f"{owner}('{action.id}')" if owner else action.method, action.verb, show=False, id=action.id
        )
        for action in map(ACTIONS.__getitem__, ids)
        if action.keys
    ]


USES: Mapping[str, tuple[str, ...]] = {
    "move": (
        "up", "down", "left", "right", "page_up", "page_down", "first", "last", "pane", "pane_back", "next_fault",
        "previous_fault", "jump", "column_left", "column_right",
    ),
    "open": (
        "fabric", "nodes", "run", "findings", *AREA_PAGES, "plot", "sessions", "filters", "compare", "history", "node",
        "link", "switch", "chassis", "facts", "sweeps", "enter", "back", "zoom", "finding", "in_full", "in_fabric",
    ),
    "filter": (
        "filter", "save_filter", "columns", "sort", "sort_also", "fold", "values", "heat", "more_detail", "less_detail",
        "swap", "log_axis", "log_values",
    ),
    "act": (
        "plan", "test", "repeat", "stop", "mark", "mark_shown", "accept", "copy", "copy_all", "add_criterion",
        "change_criterion", "write_file", "remove",
    ),
    "session": ("export", "label", "remark", "replay", *REPLAYING),
    "global": ("command", "help", "freeze", "theme", "quit"),
    "start": STARTS,
}  # fmt: skip
"""Each action by what it is for, in the order of the help."""

_USE = {action: use for use, actions in USES.items() for action in actions}

NOUNS = (
    "fabric", "nodes", "run", "findings", *AREA_PAGES, "plot", "sessions", "filters", "compare", "history", "node",
    "link", "switch", "chassis", "facts", "sweeps",
)  # fmt: skip
"""Actions that name what they open; ``:`` offers them first."""


def find_use(action: str) -> str:
    """The use of an action."""
    return _USE.get(action, "act")


def matching(ids: Iterable[str], words: str) -> list[Action]:
    """Actions by what they are for, of which key, command or sentence hold every word; each once.

    Those come first whose key is what was typed: ``G`` is another key than ``g``.
    """
    wanted, typed = words.lower().split(), words.strip()
    uses, places = list(USES), {name: place for place, name in enumerate(_USE)}
    found = []
    for action in map(ACTIONS.__getitem__, set(ids) & set(ACTIONS)):
        keys = list_keys(action)
        text = f"{' '.join(keys)} {action.word} {action.verb} {action.help} {find_use(action.id)}".lower()
        is_key = bool(typed) and typed in keys
        if is_key or all(word in text for word in wanted):
            use, place = uses.index(find_use(action.id)), places.get(action.id, len(places))
            found.append(((not is_key, use, place), action))
    return [action for _, action in sorted(found, key=lambda each: each[0])]
