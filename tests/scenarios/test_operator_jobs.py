"""The ten jobs of `docs/howto/ten-jobs.md`, each done with its keys in a real terminal, and the number of keys counted."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fabrics import SMALL
from tests.lab import wait_for
from tests.scenarios.commands import benchconsole
from tests.scenarios.terminal import Terminal
from tests.scenarios.test_judging_trials import WEAK, Site, stream
from tests.told_nodes import TellingCluster, tell

pytestmark = pytest.mark.lab

PAGE = Path("docs/howto/ten-jobs.md")
SIZE = (120, 40)
LEAF3 = [*"under=leaf3"]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of a demo that ran through: 134 nodes with five planted faults."""
    folder = tmp_path_factory.mktemp("demo")
    home = str(folder)
    ran = benchconsole(
        "demo", "--headless", "--db", folder / "s.db", XDG_DATA_HOME=home, XDG_STATE_HOME=home, seconds=300
    )
    assert ran.code == 0, ran.out + ran.err
    return folder / "s.db"


@pytest.fixture
def stored(demo: Path, tmp_path: Path) -> Iterator[Terminal]:
    with Terminal(tmp_path, SIZE, "open", "last", "--db", demo, cwd=tmp_path) as terminal:
        terminal.wait("leaf3 to spine1 gives")
        yield terminal


def count_keys(title: str) -> int:
    """The number of keys that the page says of a job."""
    found = re.search(rf"^\| \[[0-9]+\. {re.escape(title)}\]\([^)]*\) \| ([0-9]+) \|", PAGE.read_text(), re.MULTILINE)
    assert found is not None, title
    return int(found[1])


def press(terminal: Terminal, title: str, *steps: str | tuple[str, str]) -> None:
    """Press the keys of a job, as many as the page says; with a key may come the text that is waited for after it."""
    assert len(steps) == count_keys(title), f"{title}: {len(steps)} keys"
    for step in steps:
        key, text = (step, "") if isinstance(step, str) else step
        terminal.press(key)
        if text:
            terminal.wait(text)


def test_open_a_fabric_and_see_its_oversubscription(tmp_path: Path) -> None:
    with Terminal(tmp_path, SIZE, "open", "topology/examples/jetstream.yaml", "--db", tmp_path / "s.db") as terminal:
        assert "down:up" in terminal.wait(":1")
        press(terminal, "Open a fabric and see its oversubscription", "4")
        terminal.wait("description")


def test_a_colleague_looks_on_and_acceptance_is_run_on_marked_nodes(tmp_path: Path) -> None:
    mine, theirs, db = tmp_path / "mine", tmp_path / "theirs", tmp_path / "s.db"
    mine.mkdir()
    theirs.mkdir()
    with Terminal(mine, SIZE, "demo", "--db", db) as terminal:
        terminal.wait("leaf1")
        terminal.press("3")
        terminal.wait("round 1 started", 120)
        with Terminal(theirs, SIZE, "open", "last", "--db", db) as colleague:
            colleague.wait("READ-ONLY")
            press(colleague, "Follow a colleague", "3")
            colleague.wait("nothing of ours is left on 133 of 134 nodes", 120)
        terminal.wait("nothing of ours is left on 133 of 134 nodes", 120)
        press(
            terminal, "Run acceptance on marked nodes", ("2", "sorted by"), "/", *LEAF3, ("Enter", "16 of 134"),
            ("*", "16 marked"), ("R", "covers"), "Enter",
        )  # fmt: skip
        terminal.wait("nothing of ours is left on 16 of 16 nodes", 120)


def test_why_a_node_fails(stored: Terminal) -> None:
    press(
        stored,
        "Why a blade fails",
        ("2", "sorted by"),
        ("Enter", "2 of 13 declared facts differ"),
        ("Enter", "raw inventory"),
    )
    assert "n021" in stored.screen()


def test_which_member_of_a_lag_is_down(stored: Terminal) -> None:
    press(stored, "Which LAG member", "4")
    assert "1 of 2 members" in stored.wait("rules out")


def test_before_against_after(tmp_path: Path) -> None:
    site = Site(tmp_path, [WEAK])
    for label, rates in (("before", (60.0, 61.0, 60.5)), ("after", (80.0, 81.0, 80.5))):
        for number, rate in enumerate(rates, 1):
            more = ("--label", label) if number == 1 else ("--session", "last")
            site.ingest("stream", stream(rate), "--node", f"n{number}", *more)
    with Terminal(tmp_path, SIZE, "compare", "before", "after", "--db", tmp_path / "s.db") as terminal:
        press(terminal, "Before against after")
        assert "better" in terminal.wait("stream.triad")
        terminal.wait("EXIT=0")


def test_export_this_view_and_the_report(stored: Terminal, tmp_path: Path) -> None:
    press(stored, "Export this view and the report", ("2", "sorted by"), ("Y", "134 rows"), ("e", "html"), "Enter")
    stored.wait("demo-default.html")
    wait_for((tmp_path / "demo-default.html").is_file, 30, "the report")
    assert (tmp_path / "demo-default.html").stat().st_size > 10_000


def test_replay_last_night(demo: Path, tmp_path: Path) -> None:
    with Terminal(tmp_path, SIZE, "open", "last", "--replay", "60", "--db", demo) as terminal:
        terminal.wait("READ-ONLY")
        press(
            terminal, "Replay last night", ("3", "session complete"), ("p", "PAUSED"), ("[", "▸ running"),
            ("p", "session complete"),
        )  # fmt: skip
        assert "PAUSED" not in terminal.screen()
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    with Terminal(wrong, SIZE, "open", "topology/examples/sc11.yaml", "--replay", "5") as terminal:
        terminal.wait("--replay with a topology file, expected a stored session")
        terminal.wait("EXIT=2")


def test_look_at_a_session_and_change_nothing(demo: Path, tmp_path: Path) -> None:
    with Terminal(tmp_path, SIZE, "open", "last", "--read-only", "--db", demo) as terminal:
        terminal.wait("READ-ONLY")
        terminal.press("2")
        terminal.wait("sorted by")
        for key in "Re":
            terminal.press(key)
            terminal.wait("it shows, and takes no orders")
            terminal.press("3" if key == "R" else "2")
    assert not list(tmp_path.glob("demo-default.*"))


def test_look_at_a_topology_file_and_change_nothing(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(SMALL)
    with Terminal(tmp_path, SIZE, "open", file, "--read-only", "--db", tmp_path / "none.db") as terminal:
        terminal.wait("READ-ONLY")
        terminal.wait("Nothing has run on this fabric yet")
        for key in "Re":
            terminal.press(key)
            terminal.wait("it shows, and takes no orders")
            terminal.press("2" if key == "R" else "1")
        terminal.press("q")
        terminal.wait("EXIT=0")
    assert [path.name for path in tmp_path.iterdir() if path.suffix in (".yaml", ".db", ".html")] == ["cluster.yaml"]


def test_add_a_criterion(tmp_path: Path) -> None:
    site = Site(tmp_path, [WEAK])
    site.ingest("stream", stream(50.0), "--node", "n1")
    before = site.topology.read_text()
    db = tmp_path / "s.db"
    with Terminal(tmp_path, SIZE, "open", "last", "--db", db) as terminal:
        terminal.wait("4 nodes")
        press(
            terminal, "Add a criterion", ":", *"criteria", ("Enter", "at least 40.0 GB/s"), ("a", "add a criterion"), *"tri",
            ("Tab", "metric stream.triad"), "Down", *"65 GB/s", "Down", "Down", *"4.1.1", ("Enter", "@@"),
            ("w", "at least 65.0 GB/s"),
        )  # fmt: skip
        assert "1 fail" in terminal.screen()
    written = site.topology.read_text()
    assert written == f'{before}  - {{metric: stream.triad, at_least: 65 GB/s, source: "4.1.1"}}\n'
    ran = benchconsole("judge", "last", "--criteria", site.topology, "--db", db)
    assert ran.code == 1, ran.out


def test_write_the_topology_from_the_nodes(tmp_path: Path) -> None:
    topology = tmp_path / "cluster.yaml"
    nodes = {f"n{number:02}": tell(number) for number in range(1, 5)} | {"st1": tell(9, switch="leaf2")}
    with (
        TellingCluster(tmp_path, nodes),
        Terminal(tmp_path, SIZE, "init", topology, "--from", "ssh", "n[01-04]", "st1", HOME=str(tmp_path)) as terminal,
    ):
        assert "5 nodes (4 compute, 1 storage)" in terminal.wait("cluster.yaml? [y/N]")
        assert not topology.exists()
        press(terminal, "Write the topology from the nodes", "y", ("Enter", "EXIT=0"))
    opened = tmp_path / "opened"
    opened.mkdir()
    with Terminal(opened, SIZE, "open", topology, "--db", tmp_path / "s.db") as terminal:
        terminal.wait("leaf2")
