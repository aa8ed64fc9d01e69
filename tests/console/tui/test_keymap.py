"""The user's keymap: it binds and is shown, and one with a mistake changes nothing and is told."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner
from textual.keys import Keys

from benchconsole.console.cli import command
from benchconsole.console.tui.actions import ACTIONS, GLOBAL, find_key, list_keys, name_keys, offer, use_keymap
from benchconsole.console.tui.app import console_app
from benchconsole.console.tui.app.console_app import ConsoleApp
from benchconsole.console.tui.app.keymap import (
    KEPT,
    TYPING,
    find_keymap,
    list_pages,
    read_keymap,
    read_own_keys,
)
from benchconsole.console.tui.key_names import NAMES, KeyNameError, read_key, show_key
from benchconsole.console.tui.screens.command import CommandSheet
from benchconsole.console.tui.screens.help import HelpSheet
from benchconsole.topology.errors import TopologyError
from tests.console.tui.looking import PLAIN, Look, faulty
from tests.console.tui.playing import Player


@pytest.fixture(autouse=True)
def _no_keymap() -> Iterator[None]:
    yield
    use_keymap({})


def write(text: str) -> Path:
    path = find_keymap()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o600)
    return path


@pytest.mark.parametrize(
    ("written", "key", "shown"),
    [
        ("F4", "f4", "F4"),
        ("f12", "f12", "F12"),
        ("k", "k", "k"),
        ("K", "K", "K"),
        ("/", "slash", "/"),
        ("slash", "slash", "/"),
        ("+", "plus", "+"),
        ("esc", "escape", "esc"),
        ("PgUp", "pageup", "pgup"),
        ("space", "space", "space"),
        ("ctrl+K", "ctrl+k", "ctrl+k"),
        ("shift+F5", "shift+f5", "shift+F5"),
        ("shift+ctrl+up", "ctrl+shift+up", "ctrl+shift+↑"),
        ("alt+x", "alt+x", "alt+x"),
        ("é", "é", "é"),
    ],
)
def test_a_key_is_read_as_people_write_it(written: str, key: str, shown: str) -> None:
    assert (read_key(written), show_key(key)) == (key, shown)
    assert read_key(shown) == key


@pytest.mark.parametrize(
    "written", ["", "nope", "F99", "ctrl+", "hyper+x", "shift+a", "ctrl+5", "ctrl+i", "ab", "\x1b"]
)
def test_what_is_no_key_is_refused(written: str) -> None:
    with pytest.raises(KeyNameError):
        read_key(written)


def test_every_name_is_one_of_textual() -> None:
    assert set(NAMES) <= {key.value for key in Keys} | {"space"}


def test_keys_of_the_table_are_read_as_they_are_shown() -> None:
    for action in ACTIONS.values():
        shown = list_keys(action)
        assert {read_key(key) for key in shown} == set(filter(None, action.keys.split(","))), action.id


def test_no_two_actions_of_a_page_have_one_key() -> None:
    for page, valid in list_pages().items():
        keys = [key for name in valid for key in ACTIONS[name].keys.split(",") if key]
        assert len(keys) == len(set(keys)), page


def test_keys_of_sheets_and_lines_belong_to_actions_that_have_them() -> None:
    for key, owner in {**TYPING, **KEPT}.items():
        assert not owner or key in ACTIONS[owner].keys.split(","), key


def test_a_file_is_read_into_keys() -> None:
    path = write("findings: F4\nup: [up, k]\npairs: ctrl+p\nnodes: 9\nback: u\nrun: ['5', F3]\n")
    assert read_keymap(path) == {
        "findings": ("f4",), "up": ("up", "k"), "pairs": ("ctrl+p",), "nodes": ("9",), "back": ("u", "escape"),
        "run": ("5", "f3"),
    }  # fmt: skip


def test_keys_may_be_exchanged_and_shared_by_pages() -> None:
    assert read_keymap(write("copy: Y\ncopy_all: y\n")) == {"copy": ("Y",), "copy_all": ("y",)}
    assert read_keymap(write("sweeps: x\n")) == {"sweeps": ("x",)}  # no page has both


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fnidings: F4\n", ":1:1: the action 'fnidings', expected the id of an action; benchconsole keys lists them; did you mean findings?"),
        ("findings: F99\n", ":1:11: the key 'F99', expected a character"),
        ("nodes: 2\nfindings: [F4, nope]\n", ":2:16: the key 'nope'"),
        ("findings: escape\n", ":1:11: esc, a key that typing needs, expected another key for findings, or give it to back"),
        ("findings: ctrl+u\n", "expected another key for findings, which no action may have"),
        ("quit: ctrl+c\n", "ctrl+c, a key that typing needs"),
        ("findings: 3\n", ":1:11: 3 for findings, and run has it on Fabric, too, expected each key once on a page: another one here, or for run"),
        ("run: F4\nfindings: F4\n", "F4 for run, and findings has it on Fabric, too"),
        ("freeze: s\n", "s for freeze, and sort has it on Nodes, too"),
        ("findings: {a: b}\n", ":1:11: a mapping"),
        ("findings:\n", "nothing, expected a character"),
        ("findings: []\n", "no key, expected a character"),
        ("findings: yes\n", "the key 'yes'"),
        ("findings: true\n", "True, expected a character"),
        ("- up\n", ":1:1: a list, expected actions with their keys, such as findings: F4"),
        ("findings: [F4\n", "broken YAML"),
        ("findings: F4\nfindings: F5\n", ":2:1: key 'findings' a second time"),
        ('findings: "\\e[31m"\n', "the key '\\x1b[31m'"),
        ('"\\e]52;c;x\\a": F4\n', "the action '\\x1b]52;c;x\\x07'"),
        ("findings: !!python/object:os.system x\n", "the tag"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_place_and_what_to_do(text: str, said: str) -> None:
    path = write(text)
    with pytest.raises(TopologyError) as caught:
        read_keymap(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_every_mistake_is_told_at_once() -> None:
    with pytest.raises(TopologyError) as caught:
        read_keymap(write("fnidings: F4\nrun: nope\nnodes: 1\n"))
    assert len(caught.value.problems) == 3


def test_without_a_file_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchconsole.console.tui.app.keymap.read_keymap", lambda _: pytest.fail("read"))
    assert read_own_keys() == ({}, "")


def test_a_refused_file_leaves_the_default_keys() -> None:
    path = write("run: nope\n")
    keymap, said = read_own_keys()
    assert keymap == {}
    assert said == "The default keys are used: keymap.yaml:1: the key 'nope'; benchconsole keys says what to do"
    write("run: nope\nup: nope\nnodes: nope\n")
    assert "the key 'nope' (and 2 more); " in read_own_keys()[1]
    path.chmod(0o666)
    assert "others can write" in read_own_keys()[1]


def test_sentences_name_the_keys_that_there_are() -> None:
    assert offer("plan", "  R plans what is left.", frozenset()) == "  R plans what is left."
    use_keymap({"plan": ("f6",), "stop": ("f7",), "fold": ("Z",)})
    assert offer("plan", "  R plans what is left.", frozenset()) == "  F6 plans what is left."
    assert name_keys("A run is going; S stops it first.", "stop") == "A run is going; F7 stops it first."
    assert name_keys("10 alike folded, z shows them", "fold") == "10 alike folded, Z shows them"
    assert name_keys("no key here", "fold") == "no key here"
    assert find_key("plan") == "F6"


class Seen(NamedTuple):
    """The type of the screen in front after the keys, the name of the page below it, and the lines of the screen."""

    front: type
    page: str
    lines: list[str]


async def look_with(keymap: str, *keys: str) -> Seen:
    """The console with a keymap after some keys."""
    write(keymap)
    read, refused = read_own_keys()
    player = Player(faulty())
    app = ConsoleApp(lambda: player, PLAIN, now=lambda: 1_700_000_100.0, analyse=lambda _: (), keymap=read)
    app.on_first_frame = refused
    async with app.run_test(size=(120, 40)) as pilot:
        look = Look(app, pilot, player)
        await look.until(lambda: app.session.latest.generation >= player.until)
        await look.press(*keys)
        lines = look.lines
        return Seen(type(app.screen), type(app.navigation.frame).__name__, lines)


async def test_mapped_keys_do_what_they_are_mapped_to_and_others_nothing() -> None:
    seen = await look_with("findings: F4\nnodes: [F2, '8']\npairs: F8\n", "f4")
    assert seen.page == "FindingsScreen"
    seen = await look_with("findings: F4\n", "4")
    assert seen.page == "FabricScreen"
    seen = await look_with("nodes: [F2, '8']\n", "8")
    assert seen.page == "NodesScreen"
    seen = await look_with("pairs: F8\n", "f8")
    assert seen.page == "AreaScreen"


async def test_exchanged_keys_do_each_others_work() -> None:
    seen = await look_with("nodes: '3'\nrun: '2'\n", "2")
    assert seen.page == "RunScreen"
    seen = await look_with("nodes: '3'\nrun: '2'\n", "3")
    assert seen.page == "NodesScreen"


async def test_footer_help_and_commands_show_the_mapped_keys() -> None:
    keymap = "filter: F5\nhelp: [F1, '?']\nplan: F6\ncommand: [F2, ':']\n"
    seen = await look_with(keymap, "2")
    assert " F5 filter " in seen.lines[-1]
    assert "F1 help" in seen.lines[-1]
    assert "/ filter" not in seen.lines[-1]
    seen = await look_with(keymap, "f1", *"plan")
    assert seen.front is HelpSheet
    assert any("F6" in line and ":plan" in line for line in seen.lines)
    seen = await look_with(keymap, "f2", *"plan")
    assert seen.front is CommandSheet
    assert any("F6" in line and "plan SUITE" in line for line in seen.lines)


async def test_esc_leaves_whatever_the_keymap_says() -> None:
    seen = await look_with("back: u\n", "2", "enter", "u")
    assert seen.page == "NodesScreen"
    seen = await look_with("back: u\n", "2", "enter", "escape")
    assert seen.page == "NodesScreen"


async def test_a_letter_that_is_mapped_is_still_typed_into_a_line() -> None:
    seen = await look_with("findings: x\nremove: F9\n", "2", "slash", "x")
    assert seen.page == "NodesScreen"
    assert "/ x" in seen.lines[3]


async def test_a_refused_keymap_is_said_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console_app, "TOLD_SECONDS", 0.001)
    player = Player(faulty())
    app = ConsoleApp(lambda: player, PLAIN, now=lambda: 1_700_000_100.0, analyse=lambda _: ())
    app.on_first_frame = "The default keys are used."
    async with app.run_test(size=(120, 40)) as pilot:
        look = Look(app, pilot, player)
        await look.until(lambda: "? help" in look.lines[-1])


async def test_a_refused_keymap_is_said_in_one_line() -> None:
    seen = await look_with("run: nope\n", "3")
    assert seen.page == "RunScreen"
    seen = await look_with("run: nope\n")
    assert "The default keys are used: " in seen.lines[-1]


def invoke(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(command, ["keys", *arguments])
    return done.exit_code, done.output


def test_what_is_printed_is_a_keymap_that_changes_nothing() -> None:
    code, text = invoke()
    assert code == 0
    assert "\nup: [up, k] " in text
    assert "\nback: escape " in text
    assert all(f"{name}:" in text for name in ACTIONS)
    default = {name: tuple(filter(None, action.keys.split(","))) for name, action in ACTIONS.items() if action.keys}
    read = read_keymap(write(text))
    assert {name: set(keys) for name, keys in read.items()} == {name: set(keys) for name, keys in default.items()}


def test_keys_of_the_file_are_printed_unless_the_default_ones_are_asked_for() -> None:
    write("findings: F4\n")
    assert "findings: F4 " in invoke()[1]
    assert 'findings: "4" ' in invoke("--default")[1]
    assert '"keys": [\n' in invoke("--json")[1]


def test_mistakes_are_told_by_the_command(tmp_path: Path) -> None:
    write("fnidings: F4\n")
    done = CliRunner().invoke(command, ["keys"])
    assert isinstance(done.exception, TopologyError)
    assert invoke("--default")[0] == 0


def test_actions_without_a_key_of_their_own_are_done_by_the_application() -> None:
    assert {name for name, action in ACTIONS.items() if not action.keys} <= set(GLOBAL)
