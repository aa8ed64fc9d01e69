"""The user's own keys: ``keymap.yaml`` of the configuration folder, read before the first frame where it is there.

Every mistake is told with its place. A file with one changes nothing: half of a keymap would surprise.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App

from benchconsole.console.session.user_files import find_config_path, read_user_file, tell_first
from benchconsole.console.tui.actions import ACTIONS, GLOBAL
from benchconsole.console.tui.key_names import EXPECTED, KeyNameError, read_key, show_key
from benchconsole.topology.errors import TopologyError, find_near

if TYPE_CHECKING:
    from benchconsole.topology.description.document import Document, Location, ProblemReport

FILE = "keymap.yaml"

Keymap = Mapping[str, tuple[str, ...]]
"""Actions with their keys, as Textual names them; those that a file says nothing of are not in it."""

KEPT = {
    "enter": "enter", "escape": "back", "up": "up", "down": "down", "tab": "pane", "shift+tab": "pane_back",
}  # fmt: skip
"""Keys that sheets and lines of text answer; on pages they stay with these actions, whatever else is given to them."""

TYPING = {
    **KEPT, "left": "left", "right": "right", "home": "first", "end": "last", "delete": "remove", "backspace": "",
    "ctrl+u": "", "ctrl+w": "", "ctrl+c": "", "ctrl+q": "",
}  # fmt: skip
"""Keys that a line of text needs, or that leave the console, and the one action that may have them, too."""


def find_keymap() -> Path:
    """Where the file stands."""
    return find_config_path(FILE)


def read_keymap(path: Path) -> Keymap:
    """The keys of a file; none where it is not there. TopologyError lists its mistakes."""
    document = read_user_file(path)
    return {} if document is None else _read(document)


def read_own_keys() -> tuple[Keymap, str]:
    """The keys of this user; none, and the words for that, where their file is refused."""
    path = find_keymap()
    if not os.path.lexists(path):
        return {}, ""
    try:
        return read_keymap(path), ""
    except TopologyError as error:
        told = tell_first(error, is_short=True)
        return {}, f"The default keys are used: {told}; benchconsole keys says what to do"


def bind_keys(app: App[Any], keymap: Keymap) -> None:
    """Have ``app`` take the user's keys, also for its actions that have none by themselves."""
    app.set_keymap({name: ",".join(keys) for name, keys in keymap.items()})
    for name, keys in keymap.items():
        if not ACTIONS[name].keys:
            app.bind(",".join(keys), f"do('{name}')", show=False)


def _read(document: "Document") -> Keymap:
    from benchconsole.topology.description.document import ProblemReport, describe_value

    report = ProblemReport(document, document.problems)
    data = document.data
    if not isinstance(data, dict):
        report.add((), describe_value(data), "actions with their keys, such as findings: F4")
        data = {}
    keymap: dict[str, tuple[str, ...]] = {}
    places: dict[tuple[str, str], Location] = {}
    for name, written in data.items():
        if name not in ACTIONS:
            expected = "the id of an action; benchconsole keys lists them"
            report.add_key((name,), f"the action {name!r}", expected, find_near(name, ACTIONS))
            continue
        keys = dict(_read_keys(name, written, report))
        keymap[name] = (*keys, *(key for key, owner in KEPT.items() if owner == name and key not in keys))
        places |= {(name, key): place for key, place in keys.items()}
    _find_shared(keymap, places, report)
    if report.problems:
        raise TopologyError(report.problems)
    return keymap


def _read_keys(action: str, written: object, report: "ProblemReport") -> "Iterator[tuple[str, Location]]":
    """The keys of one action with their places."""
    from benchconsole.topology.description.document import describe_value

    several = written if isinstance(written, list) else [written]
    if not several:
        report.add((action,), "no key", f"{EXPECTED}; without the line the action keeps its own")
    for index, each in enumerate(several):
        place: Location = (action, index) if isinstance(written, list) else (action,)
        if not isinstance(each, str | int) or isinstance(each, bool):
            report.add(place, describe_value(each), f"{EXPECTED}, in quotes where YAML takes it for something else")
            continue
        try:
            key = read_key(str(each))
        except KeyNameError as error:
            report.add(place, error.found, error.expected, error.near)
            continue
        owner = TYPING.get(key, action)
        if owner != action:
            whose = f"or give it to {owner}" if owner else "which no action may have"
            report.add(place, f"{show_key(key)}, a key that typing needs", f"another key for {action}, {whose}")
        else:
            yield key, place


def _find_shared(keymap: Keymap, places: "Mapping[tuple[str, str], Location]", report: "ProblemReport") -> None:
    """Report each key that means two things on one page."""
    by_key: dict[str, list[str]] = {}
    for name, action in ACTIONS.items():
        for key in keymap.get(name, tuple(filter(None, action.keys.split(",")))):
            by_key.setdefault(key, []).append(name)
    doubled = {key: names for key, names in by_key.items() if len(names) > 1 and not keymap.keys().isdisjoint(names)}
    if not doubled:
        return
    pages = list_pages()
    for key, names in doubled.items():
        for one, other, page in _list_shared(names, pages):
            mapped, rest = (one, other) if (one, key) in places else (other, one)
            if (mapped, key) in places:
                found = f"{show_key(key)} for {mapped}, and {rest} has it on {page}, too"
                report.add(places[mapped, key], found, f"each key once on a page: another one here, or for {rest}")


def _list_shared(names: Sequence[str], pages: Mapping[str, frozenset[str]]) -> Iterator[tuple[str, str, str]]:
    """Two of ``names`` that are valid on one page, and the first such page."""
    for at, one in enumerate(names):
        for other in names[at + 1 :]:
            page = next((page for page, valid in pages.items() if {one, other} <= valid), None)
            if page is not None:
                yield one, other, page


def list_pages() -> Mapping[str, frozenset[str]]:
    """Every page by its name, tabs first, with the actions that are valid there. All pages are imported for it."""
    import importlib
    import pkgutil

    from benchconsole.console.tui import screens
    from benchconsole.console.tui.screens.base.page import Page
    from benchconsole.console.tui.screens.start import StartScreen

    for module in pkgutil.iter_modules(screens.__path__):
        importlib.import_module(f"{screens.__name__}.{module.name}")
    every, waiting = [], [Page]
    while waiting:
        page = waiting.pop(0)
        waiting += page.__subclasses__()
        every += [page] if page.__name__.endswith("Screen") or not page.__subclasses__() else []  # bases are none
    every.sort(key=lambda page: (not page.TAB, page.__name__))
    pages = {page.__name__.removesuffix("Screen"): frozenset((*page.VALID, *GLOBAL)) for page in every}
    return {**pages, "Start": frozenset(StartScreen.VALID)}
