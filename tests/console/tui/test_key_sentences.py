"""No sentence of the screen names a key by hand: with a keymap it would be the wrong one."""

import ast
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from benchconsole.console.tui.actions import ACTIONS, GLOBAL, list_keys, tell_help, use_keymap
from benchconsole.console.tui.app.console_app import ConsoleApp
from benchconsole.console.tui.app.keymap import KEPT, Keymap
from benchconsole.console.tui.widgets.footer import COUNTERPARTS
from benchconsole.console.tui.widgets.tabs import TABS
from tests.console.tui.looking import PLAIN, Look
from tests.console.tui.playing import Player
from tests.console.tui.test_keys import PLACES, SMALL

ROOT = Path(__file__).parents[3]
ROOMS = ("console/tui", "console/view", "console/conclusions", "console/session", "console/text")
"""Where sentences of the screen are made."""

ELSEWHERE = (
    "actions.py", "key_names.py", "keymap.py", "textual_patches.py", "topology_writing.py", "typed_table.py",
)  # fmt: skip
"""The table itself, names of keys, and what stands in files that people write."""

OF_THE_TABLE = {
    action.shown: frozenset(each.id for each in ACTIONS.values() if each.shown == action.shown)
    for action in ACTIONS.values()
    if action.shown and action.keys.split(",")[0] not in KEPT and not action.shown.isdigit()
}
"""Keys that a keymap can take away, as sentences name them, with their actions. Digits are numbers first."""

WORDS = frozenset(("space", "home", "end", "delete"))
"""Keys whose names are words, too: a sentence with one says nothing."""

ARTICLE = frozenset(("a", "A"))
VERBS = frozenset(("adds", "accepts", "answers", "asks"))
"""The letter is a key before one of these, and else an article, or the first of two sessions."""

OF_STATES = frozenset(("-", "?"))
"""Signs of states, which stand before words on a page."""

ALLOWED = {
    ("fabric_area.py", "Fabric > "): (">", "a path"),
    ("change_map_text.py", "In percent of A"): ("?", "signs of a legend"),
    ("run_progress.py", "? 0"): ("?", "the sign of a state"),
    ("node_sets.py", "a [ "): ("[ ]", "brackets of what is typed"),
    ("node_sets.py", "a ] "): ("[ ]", "brackets of what is typed"),
    ("held_back.py", "R, then o"): ("o", "a letter of the plan, which no keymap moves"),
    ("held_back.py", "R plans what is left, with o"): ("o", "a letter of the plan, which no keymap moves"),
    ("held_back.py", "R, then c"): ("c", "a letter of the plan, which no keymap moves"),
    ("saved_filters.py", "# Filters of benchconsole"): ("/", "the head of a file"),
}
"""Sentences with a sign or a letter that is no key there: file and beginning; what is none, and the reason."""


class Sentence(NamedTuple):
    """A text with the keys that it names, the actions that it is given the keys of, and the constant that it is."""

    file: str
    text: str
    keys: frozenset[str]
    given: frozenset[str]
    constant: str


def find_named(text: str) -> frozenset[str]:
    """The keys of the table that ``text`` names; a word alone is no sentence."""
    parts = text.split()
    if not any(len(part) > 2 and part.isalpha() for part in parts):
        return frozenset()
    found = set()
    for before, part, after in zip(["", *parts], parts, [*parts[1:], ""], strict=False):
        key = part.rstrip(",;:.") or part
        is_unit = before[-1:].isdigit() or before.startswith("%")
        is_article = key in ARTICLE and after not in VERBS
        is_colon = key == ":" and not before  # of what stands before the text
        if key in OF_THE_TABLE and key not in WORDS and not (is_unit or is_article or is_colon):
            found.add(key)
    return frozenset(found)


class Reader(ast.NodeVisitor):
    """Collects the sentences of a file, and by which names constants are given keys."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.sentences: list[Sentence] = []
        self.named: dict[str, set[str]] = defaultdict(set)
        self.bare: set[str] = set()
        self._given: frozenset[str] = frozenset()
        self._constant = ""

    @contextmanager
    def _giving(self, actions: Iterable[str]) -> Iterator[None]:
        before, self._given = self._given, self._given | frozenset(actions)
        yield
        self._given = before

    def _add(self, text: str) -> None:
        keys = find_named(text)
        if keys:
            self.sentences.append(Sentence(self.file, text, keys, self._given, self._constant))

    def _spell(self, name: str) -> str:
        """A constant by its name, and one of a file alone with that."""
        return f"{self.file}:{name}" if name.startswith("_") else name

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # those are what the code says of itself
            self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        names = [each.id for each in node.targets if isinstance(each, ast.Name)]
        if names not in (["DEFAULT_CSS"], ["CSS"]):
            self._visit_value(node.value, names)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._visit_value(node.value, [node.target.id] if isinstance(node.target, ast.Name) else [])

    def _visit_value(self, value: ast.expr, names: Sequence[str]) -> None:
        before, self._constant = self._constant, self._spell(names[0]) if names and names[0].isupper() else ""
        self.visit(value)
        self._constant = before

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        words = [str(each.value) for each in node.args if isinstance(each, ast.Constant)]
        actions = [each for each in words if each in ACTIONS] if called in ("name_keys", "offer") else []
        tones = {each.id for each in node.args[1:] if isinstance(each, ast.Name)}
        if called in ("put", "CellText") and tones & {"ACTIVE", "KEY"} and words and words[0] in OF_THE_TABLE:
            self.sentences.append(Sentence(self.file, words[0], frozenset(words[:1]), frozenset(), ""))
        with self._giving(actions):
            self.generic_visit(node)

    def visit_Tuple(self, node: ast.Tuple) -> None:
        first = node.elts[0] if node.elts else None
        pair = COUNTERPARTS.get(str(first.value)) if isinstance(first, ast.Constant) else None
        with self._giving([pair] if pair is not None else []):
            self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and self._given:
            self.named[self._spell(node.id)] |= self._given
        elif isinstance(node.ctx, ast.Load):
            self.bare.add(self._spell(node.id))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._add("".join(str(each.value) if isinstance(each, ast.Constant) else "0" for each in node.values))
        for each in node.values:
            if isinstance(each, ast.FormattedValue):
                self.visit(each.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self._add(node.value)


def find_by_hand(sources: Iterable[tuple[str, str]]) -> list[str]:
    """Sentences that name a key which no action gives them, in the files ``sources``: names with their text."""
    readers = [Reader(file) for file, _ in sources]
    for reader, (_, text) in zip(readers, sources, strict=True):
        reader.visit(ast.parse(text))
    bare = {name for reader in readers for name in reader.bare}
    found = []
    for sentence in (each for reader in readers for each in reader.sentences):
        later = {action for reader in readers for action in reader.named.get(sentence.constant, ())}
        given = sentence.given | (later if sentence.constant not in bare else set())
        name = Path(sentence.file).name
        no_keys = {
            key
            for (f, t), (keys, _) in ALLOWED.items()
            if f == name and sentence.text.startswith(t)
            for key in keys.split()
        }
        wrong = {key for key in sentence.keys - no_keys if not OF_THE_TABLE[key] & given}
        if wrong:
            found.append(f"{sentence.file}: {' '.join(sorted(wrong))} in {sentence.text!r}")
    return found


def test_every_sentence_is_given_the_keys_that_it_names() -> None:
    paths = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")) if path.name not in ELSEWHERE]
    assert len(paths) > 150
    assert find_by_hand([(str(path.relative_to(ROOT)), path.read_text()) for path in paths]) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('say("Nothing yet. R plans a run.")', "R"),
        ('say(name_keys("Nothing yet. R plans a run.", "plan"))', ""),
        ('say(name_keys("Nothing yet. R plans a run.", "stop"))', "R"),
        ('say(name_keys(": R plans on them, r repeats", "plan"))', "r"),
        ('say(offer("plan", ": R plans on them, r repeats", refused, "repeat"))', ""),
        ('HINT = "R plans a run"\nsay(name_keys(HINT, "plan"))', ""),
        ('HINT = "R plans a run"\nsay(name_keys(f"  {HINT}", "plan"))', ""),
        ('HINT = "R plans a run"\nsay(HINT)', "R"),
        ('HINT = "R plans a run"\nsay(name_keys(HINT, "plan"))\nsay(HINT)', "R"),
        ('_BY = {True: "then r again", False: "again"}\nsay(name_keys(_BY[may], "repeat"))', ""),
        ('KEYS = (("column_left", "and > column"), "help")', ""),
        ('KEYS = (("column_right", "and > column"), "help")', ">"),
        ('KEYS = (("left", "and → value"), "help")', ""),
        ('say(f"{more} lines more, pgdn scrolls")', "pgdn"),
        ('say("After / has filtered something")', "/"),
        ('say("type a name after :")', ":"),
        ('line.put("No test yet. ", MUTED).put("R", ACTIVE).put(" plans a run", MUTED)', "R"),
        ('line.put(find_key("plan"), ACTIVE).put("F", TEXT).put("enter", KEY)', ""),
        ('say(f"{seconds} s of {all}, 5 x 10 Gb/s, a row, A and B")', ""),
        ('say("There is none; a adds one")', "a"),
        ('"""The docstring: R plans a run."""', ""),
        ('say("enter opens it, esc leaves, up and down scroll, tab completes")', ""),
    ],
)  # fmt: skip
def test_a_key_that_is_named_by_hand_is_found(source: str, found: str) -> None:
    told = find_by_hand([("page.py", textwrap.dedent(source))])
    assert [each.partition(" in ")[0] for each in told] == ([f"page.py: {found}"] if found else [])


def test_every_exception_is_still_one(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = dict(ALLOWED)
    monkeypatch.setattr("tests.console.tui.test_key_sentences.ALLOWED", {})
    paths = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")) if path.name not in ELSEWHERE]
    told = find_by_hand([(path.name, path.read_text()) for path in paths])
    for file, text in allowed:
        assert any(each.startswith(f"{file}: ") and text in each for each in told), (file, text)


def test_what_the_help_says_of_an_action_names_the_key_that_there_is() -> None:
    assert {name for name, action in ACTIONS.items() if find_named(action.help)} == {"filters", "save_filter"}
    use_keymap({"filter": ("f5",)})
    try:
        assert "@NAME after F5" in tell_help(ACTIONS["save_filter"])
    finally:
        use_keymap({})


def move_keys() -> Keymap:
    """Every action with a key on another one: letters that nothing on the screen is written in."""
    letters = map(chr, range(0x430, 0x500))
    moved: dict[str, tuple[str, ...]] = {}
    for name, action in ACTIONS.items():
        if action.keys or name in GLOBAL:
            kept = tuple(key for key, owner in KEPT.items() if owner == name)
            moved[name] = (next(letters), *kept)
    return moved


OTHERWISE = {
    **dict.fromkeys(("plan", "diff", "export", "stop", "quit"), "a sheet has letters of its own, which are answers"),
    **dict.fromkeys(("help", "command"), "keys stand beside words, and no sentence names them"),
    "jump": "letters stand on rows",
}
"""Places that are not read for old keys, with the reason."""


@pytest.fixture
def moved() -> Iterator[Keymap]:
    yield move_keys()
    use_keymap({})


def list_old_keys(lines: Iterable[str]) -> list[str]:
    """Lines that name a key of the table before the word for what it does."""
    found = []
    for line in lines:
        parts = line.split()
        for before, key, word in zip(["", *parts], parts, parts[1:], strict=False):
            named = find_named(f"{before} {key} {word}") - OF_STATES if word[:1].islower() else ()
            is_named = key.rstrip(",;:.") in named
            found += [line] if is_named and f" {key} {word}" in f" {line}" else []  # apart stand columns
    return found


@pytest.mark.parametrize("place", [place for place in PLACES if place not in OTHERWISE])
async def test_no_page_names_a_key_that_a_keymap_took_away(place: str, moved: Keymap) -> None:
    player = Player(SMALL, until=1)
    app = ConsoleApp(lambda: player, PLAIN, now=lambda: 1_700_000_100.0, analyse=lambda _: (), keymap=moved)
    async with app.run_test(size=(200, 60)) as pilot:
        look = Look(app, pilot, player)
        await look.until(lambda: app.session.latest.generation >= 1)
        for _ in ("before anything was measured", "with results"):
            PLACES[place](app)
            await look.settle()
            assert list_old_keys(look.lines) == []
            assert not any(f" {number} {tab} " in look.text for number, tab in enumerate(TABS, 1))
            player.feed(*player.waiting)
            await look.settle()
            if app.screen is not app.navigation.frame and len(app.screen_stack) > 1:
                app.pop_screen()


async def test_the_keys_that_were_moved_are_named_where_the_old_ones_stood(moved: Keymap) -> None:
    player = Player(SMALL, until=1)
    app = ConsoleApp(lambda: player, PLAIN, now=lambda: 1_700_000_100.0, analyse=lambda _: (), keymap=moved)
    async with app.run_test(size=(120, 40)) as pilot:
        look = Look(app, pilot, player)
        await look.until(lambda: "Nothing has run" in look.text)
        assert f"{moved['plan'][0]} plans a run" in look.text
        assert all(f" {moved[tab.lower()][0]} {tab} " in look.lines[0] for tab in TABS)
        assert f"{moved['next_fault'][0]} next fault" in look.lines[-1]
        await look.press(moved["nodes"][0])
        assert f"{moved['column_left'][0]} and {moved['column_right'][0]} column" in look.lines[-1]
        x = look.lines[0].index("Run")
        await pilot.click(offset=(x, 0))
        await look.settle()
        assert app.screen is app.navigation.tabs.run


def test_actions_that_have_exchanged_their_keys_are_named_right() -> None:
    from benchconsole.console.tui.actions import name_keys, offer

    use_keymap({"plan": ("r",), "repeat": ("R",)})
    try:
        assert name_keys("R plans on them, r repeats", "plan", "repeat") == "r plans on them, R repeats"
        assert offer("plan", "R plans, r repeats", frozenset(), "repeat") == "r plans, R repeats"
        assert offer("plan", "R plans, r repeats", frozenset(("plan",)), "repeat") == ""
        assert list_keys(ACTIONS["plan"]) == ("r",)
    finally:
        use_keymap({})
