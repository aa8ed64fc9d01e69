"""A cluster described from the start page by asking its nodes, over real SSH on loopback: every step, and back."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from textual.pilot import Pilot

from benchconsole import topology
from benchconsole.console.cli import init
from benchconsole.console.exits import Exit
from benchconsole.console.session.asked_topology import TopologyAsking, read_fields
from benchconsole.console.tui.app import start_app
from benchconsole.console.tui.app.start_app import StartApp
from benchconsole.console.tui.rows.terminal import Terminal
from benchconsole.console.tui.screens.asked_fabric import AskedFabricPage
from benchconsole.console.tui.screens.asking import AskingSheet, AskNodesSheet, SaveSheet
from benchconsole.console.tui.screens.password import PasswordSheet
from benchconsole.console.tui.screens.start import StartScreen
from benchconsole.console.tui.start_model import Start, StartChoice, StartModel
from benchconsole.probes.model.remote import Reach, Remote
from benchconsole.probes.testing.server import Manner
from benchconsole.topology.model.fabric import Fabric, Node, NodeId
from tests.console.tui.looking import MOST_SECONDS, lines
from tests.told_nodes import Sources, TellingCluster, tell

NODES: dict[str, Sources | Manner] = {
    "n01": tell(1),
    "n02": tell(2),
    "n03": Manner.REFUSES,
    "n04": {**tell(4), "lldpctl": (1, "\x1b]0;owned\x07")},
}
Page = tuple[StartApp, Pilot[StartChoice]]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("home")
    with TellingCluster(folder, NODES):
        yield folder


@pytest.fixture(autouse=True)
def _at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)


class SilentReach:
    """A way to nodes that never answer; it says what became of the questions."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.cancelled: list[str] = []
        self.is_closed = asyncio.Event()

    async def remote(self, node: Node) -> Remote:
        self.asked.append(node.id)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.append(node.id)
            raise
        raise AssertionError

    async def close(self) -> None:
        self.is_closed.set()


@asynccontextmanager
async def start(
    size: tuple[int, int] = (80, 24), make_reach: Callable[[Fabric, str], Reach] | None = None
) -> AsyncIterator[Page]:
    """The start page with its form open."""
    app = StartApp(StartModel("1.0"), Terminal(), make_asking=lambda: TopologyAsking(make_reach))
    async with app.run_test(size=size) as pilot:
        await pilot.press("a")
        await wait_until(pilot, lambda: isinstance(app.screen, AskNodesSheet))
        try:
            yield app, pilot
        finally:
            await asyncio.to_thread(app.stop_asking)


async def wait_until(pilot: Pilot[StartChoice], is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(MOST_SECONDS):
        while not is_so():
            await pilot.pause()
            await asyncio.sleep(0.01)
    await pilot.pause()


async def ask(page: Page, nodes: str) -> None:
    """Type ``nodes`` and wait for the fabric."""
    app, pilot = page
    await pilot.press(*nodes, "enter")
    await wait_until(pilot, lambda: isinstance(app.screen, AskedFabricPage))


def list_files(folder: Path) -> list[Path]:
    return [*folder.iterdir()]


def text_of(app: StartApp) -> str:
    return "\n".join(lines(app))


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_the_fabric_is_shown_with_what_is_missing_and_written_with_consent_alone(
    size: tuple[int, int], tmp_path: Path
) -> None:
    async with start(size) as (app, pilot):
        await ask((app, pilot), "n[01-04]")
        shown = text_of(app)
        assert "4 nodes, 1 switch, 2 links.  Nothing is written yet" in shown
        assert "nodes that could not be asked: n03: unreachable" in shown
        assert "nodes whose cables are not known: n04" in shown
        assert "leaf1" in shown
        assert "\x1b" not in shown
        assert not list_files(tmp_path)
        await pilot.press("w")
        await wait_until(pilot, lambda: isinstance(app.screen, SaveSheet))
        assert not list_files(tmp_path)
        await pilot.press("enter")
        await wait_until(pilot, lambda: app.return_value is not None)
    assert app.return_value == StartChoice(Start.OPEN, "cluster.yaml")
    fabric = topology.load(tmp_path / "cluster.yaml")
    assert set(fabric.nodes) == set(NODES)
    assert fabric.nodes[NodeId("n02")].data_address == "10.0.0.2"


async def test_the_file_is_that_of_the_command(tmp_path: Path) -> None:
    command = ["same.yaml", "--from", "ssh", "n[01-04]", "--yes"]
    assert (await asyncio.to_thread(CliRunner().invoke, init.command, command)).exit_code == Exit.UNTESTED
    before = (tmp_path / "same.yaml").read_text()
    (tmp_path / "same.yaml").unlink()
    async with start() as (app, pilot):
        await ask((app, pilot), "n[01-04]")
        await pilot.press("w", "ctrl+u", *"same.yaml", "enter")
        await wait_until(pilot, lambda: app.return_value is not None)
    assert (tmp_path / "same.yaml").read_text() == before


async def test_escape_comes_back_at_every_step_with_the_fields_as_they_were(tmp_path: Path) -> None:
    async with start() as (app, pilot):
        await pilot.press("down", "down", "down", "down", *"10G", "up", "up", "up", "up")
        await ask((app, pilot), "n01")
        await pilot.press("w", "ctrl+u", *"mine.yaml")
        await pilot.pause()
        for expected in (AskedFabricPage, AskNodesSheet, StartScreen):
            await pilot.press("escape")
            await pilot.pause()
            assert isinstance(app.screen, expected)
        await pilot.press("a")
        await pilot.pause()
        assert isinstance(app.screen, AskNodesSheet)
        assert app.screen.form.typed["nodes"] == "n01"
        assert app.screen.form.typed["link-speed"] == "10G"
        await ask((app, pilot), "")
        await pilot.press("w")
        await pilot.pause()
        assert isinstance(app.screen, SaveSheet)
        assert app.screen.form.typed["file"] == "mine.yaml"
    assert not list_files(tmp_path)


async def test_a_file_that_is_there_is_replaced_after_a_question_alone(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text("mine")
    async with start() as (app, pilot):
        await ask((app, pilot), "n01")
        await pilot.press("w")
        await pilot.pause()
        assert "It is there already" in text_of(app)
        for answer in ("enter", "k", "escape"):
            await pilot.press("enter")
            await pilot.pause()
            assert "cluster.yaml is there already." in text_of(app)
            await pilot.press(answer)
            await pilot.pause()
            assert isinstance(app.screen, SaveSheet)
            assert file.read_text() == "mine"
        await pilot.press("enter", "r")
        await wait_until(pilot, lambda: app.return_value is not None)
    assert set(topology.load(file).nodes) == {"n01"}


async def test_a_file_below_a_home_directory_is_written_there_and_seen_where_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with start() as (app, pilot):
        await ask((app, pilot), "n01")
        monkeypatch.setenv("HOME", str(tmp_path))
        await pilot.press("w", "ctrl+u", *"~/lab.yaml")
        await pilot.pause()
        assert "It is there already" not in text_of(app)
        (tmp_path / "lab.yaml").write_text("mine")
        await pilot.press("backspace", "l")
        await pilot.pause()
        assert "It is there already" in text_of(app)
        await pilot.press("enter", "r")
        await wait_until(pilot, lambda: app.return_value is not None)
        assert app.return_value == StartChoice(Start.OPEN, str(tmp_path / "lab.yaml"))
    assert set(topology.load(tmp_path / "lab.yaml").nodes) == {"n01"}
    assert list_files(tmp_path) == [tmp_path / "lab.yaml"]


async def test_a_file_that_comes_while_one_agrees_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "cluster.yaml"
    async with start() as (app, pilot):
        await ask((app, pilot), "n01")
        await pilot.press("w")
        await pilot.pause()
        file.write_text("mine")
        monkeypatch.setattr("benchconsole.console.tui.screens.asking._is_there", lambda _: False)
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, SaveSheet)
        assert "cluster.yaml cannot be written" in text_of(app)
    assert file.read_text() == "mine"


async def test_a_name_that_is_none_of_a_topology_is_refused_by_the_sentence_of_the_command(tmp_path: Path) -> None:
    async with start() as (app, pilot):
        await ask((app, pilot), "n01")
        await pilot.press("w", "ctrl+u", *"a.txt", "enter")
        await pilot.pause()
        assert "a.txt as the file to be written, expected a name that ends in .yaml" in text_of(app)
    assert not list_files(tmp_path)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ([], "no node, expected node names such as n[01-16]"),
        ([*"n[1-"], "is not a node set"),
        ([*"@all"], "names a group, expected plain names here"),
        ([*"n1;reboot"], "is not a host name"),
        ([*"n01", "down", *"maybe"], "--all-hosts: 'maybe', expected yes or no"),
        ([*"n01", "down", "down", *"absent"], "--ssh-config absent, expected a file"),
        ([*"n01", "up", *"fast"], "--link-speed: "),
    ],
)
async def test_fields_are_refused_by_the_sentences_of_the_command_and_nobody_is_asked(
    keys: list[str], said: str
) -> None:
    reach = SilentReach()
    async with start(make_reach=lambda _fabric, _session: reach) as (app, pilot):
        await pilot.press(*keys, "enter")
        await pilot.pause()
        assert isinstance(app.screen, AskNodesSheet)
        assert said in text_of(app)
    assert reach.asked == []


async def test_if_no_node_answers_the_reasons_stay_and_nothing_can_be_written() -> None:
    async with start() as (app, pilot):
        await pilot.press(*"n03", "enter")
        await wait_until(pilot, lambda: "no node answered: nothing was written" in text_of(app))
        assert "0 of 1 node answered, 1 failed" in text_of(app)
        assert "n03: unreachable" in text_of(app)
        await pilot.press("enter", "w", "escape")
        await pilot.pause()
        assert isinstance(app.screen, AskNodesSheet)


@pytest.mark.parametrize("key", ["escape", "ctrl+q"])
async def test_leaving_stops_the_questions(key: str) -> None:
    reach = SilentReach()
    async with start(make_reach=lambda _fabric, _session: reach) as (app, pilot):
        await pilot.press(*"n[01-02]", "enter")
        await wait_until(pilot, lambda: len(reach.asked) == 2)
        assert isinstance(app.screen, AskingSheet)
        assert "0 of 2 nodes answered, 2 still asked" in text_of(app)
        await pilot.press(key)
        if key == "escape":
            await wait_until(pilot, reach.is_closed.is_set)
            assert isinstance(app.screen, AskNodesSheet)
    assert sorted(reach.cancelled) == ["n01", "n02"]
    assert reach.is_closed.is_set()


async def test_the_password_of_sudo_is_asked_for_on_the_screen_and_shown_nowhere() -> None:
    answers: list[str | None] = []
    asking: list[TopologyAsking] = []

    class AskingReach(SilentReach):
        async def remote(self, node: Node) -> Remote:
            answers.append(await asking[0].passwords.ask("password of sudo on n01"))
            return await super().remote(node)

    def make_asking() -> TopologyAsking:
        asking.append(TopologyAsking(lambda _fabric, _session: AskingReach()))
        return asking[0]

    app = StartApp(StartModel("1.0"), Terminal(), make_asking=make_asking)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("a", *"n01", "down", "down", "down", *"yes", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, PasswordSheet))
        await pilot.press(*"s3cret")
        await pilot.pause()
        assert "s3cret" not in text_of(app)
        await pilot.press("enter")
        await wait_until(pilot, lambda: bool(answers))
        assert isinstance(app.screen, AskingSheet)
        await asyncio.to_thread(app.stop_asking)
    assert answers == ["s3cret"]


def test_the_questions_end_with_the_page_however_it_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[TopologyAsking] = []

    def run(app: StartApp) -> None:
        app._asking = TopologyAsking()
        monkeypatch.setattr(app._asking, "close", lambda: closed.append(app._asking))
        raise ZeroDivisionError

    monkeypatch.setattr(StartApp, "run", run)
    with pytest.raises(ZeroDivisionError):
        start_app.run_start(StartModel("1.0"), terminal=Terminal())
    assert len(closed) == 1


def test_names_are_taken_as_the_shell_parts_them_for_the_command() -> None:
    empty = {"all-hosts": "", "ssh-config": "", "sudo": "yes", "link-speed": "25G"}
    nodes = read_fields({"nodes": " n[01-02]  st1 ", **empty})
    assert (nodes.list_names(), nodes.sudo, nodes.speed) == (["n01", "n02", "st1"], True, "25 Gb/s")


def test_an_ssh_config_below_a_home_directory_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "lab_config").write_text("Host lab1\n")
    fields = {"nodes": "n1", "all-hosts": "yes", "ssh-config": "~/lab_config", "sudo": "", "link-speed": ""}
    nodes = read_fields(fields)
    assert nodes.config_path == str(tmp_path / "lab_config")
    assert nodes.list_names() == ["n1", "lab1"]
