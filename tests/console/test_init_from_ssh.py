"""``init --from ssh`` over real SSH on loopback: the file, what is shown before it, consent, and its exit codes."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchconsole import topology
from benchconsole.console.cli import asked_topology
from benchconsole.console.exits import Exit
from benchconsole.console.session.asked_topology import AskedNodes, ToldTopology
from benchconsole.probes.testing.server import Manner
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric, NodeId
from tests.console.test_cli import run as run_command
from tests.console.test_init import Run
from tests.told_nodes import Sources, TellingCluster, describe_ports, describe_speeds, tell
from tests.topology.importers.sources import heard, told

HOSTILE = "\x1b]0;owned\x07leaf1\n# nodes: {evil: {}}"
NODES: dict[str, Sources | Manner] = {
    "n01": tell(1),
    "n02": tell(2),
    "st1": tell(9, switch="leaf2"),
    "n03": Manner.REFUSES,
    "n04": Manner.CHANGED_KEY,
    "n05": Manner.UNKNOWN_KEY,
    "n06": {**tell(6), "lldpctl": (1, "no daemon")},
    "n07": {**tell(7), "lldpctl": (0, told(heard("eth0", HOSTILE, "Eth7")))},
    "n08": {**tell(8), "ethtool": (0, ""), "lldpctl": (0, told(heard("eth0", "leaf1", "p8", current=HOSTILE)))},
    "n09": {**tell(9), "ip": (0, describe_ports({"eth0": ""}))},
    "n10": {
        **tell(10),
        "ip": (0, describe_ports({"eth0": "10.0.0.10", "eth1": "10.0.1.10"})),
        "ethtool": (0, describe_speeds({"eth0": 25_000, "eth1": 25_000})),
    },
}
Init = Callable[..., Run]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The home directory of a user whose ssh_config names the nodes, which answer while the tests run."""
    folder = tmp_path_factory.mktemp("home")
    with TellingCluster(folder, NODES):
        yield folder


@pytest.fixture
def init(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, home: Path) -> Init:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    return lambda *arguments: Run(monkeypatch, capsys, *arguments)


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    typed = io.StringIO(answer)
    monkeypatch.setattr(typed, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", typed)


def load(folder: Path) -> Fabric:
    return topology.load(folder / "my.yaml")


def test_nodes_that_all_tell_their_cables_give_a_whole_file_and_0(init: Init, tmp_path: Path) -> None:
    run = init("my.yaml", "--from", "ssh", "n[01-02]", "st1")
    assert (run.code, run.err) == (Exit.PASSED, "asking 3 nodes over SSH\n3 of 3 nodes answered\n")
    fabric = load(tmp_path)
    assert set(fabric.links) == {"n01--leaf1", "n02--leaf1", "st1--leaf2"}
    assert {link.speed for link in fabric.links.values()} == {25e9 / 8}
    assert fabric.nodes[NodeId("n02")].data_address == "10.0.0.2"
    assert fabric.nodes[NodeId("n02")].hardware.facts["cpu.sockets"] == 2.0
    assert fabric.suites["default"].stages[0].probe == "inventory"


def test_the_fabric_is_shown_before_it_is_saved_and_check_takes_the_file(
    init: Init, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = init("my.yaml", "--from", "ssh", "n[01-02],st1").out.splitlines()
    assert lines[0].startswith("── Findings: ")
    assert "my: 3 nodes (2 compute, 1 storage)" in lines
    assert "2 switches (2 leaf), 3 cables, 0 LAGs" in lines
    assert any(line.startswith("Worst ratio: ") for line in lines)
    assert lines[-2:] == [
        "wrote my.yaml from ssh: 3 nodes, 2 switches, 3 links",
        "edit it, then: benchconsole check my.yaml",
    ]
    assert run_command(monkeypatch, "check", "my.yaml") == Exit.PASSED


def test_nodes_that_give_no_answer_are_named_with_their_reasons_and_counted(init: Init, tmp_path: Path) -> None:
    run = init("my.yaml", "--from", "ssh", "n[01-06]")
    assert run.code == Exit.UNTESTED
    first, *refused, last = run.err.splitlines()
    assert (first, last) == ("asking 6 nodes over SSH", "3 of 6 nodes answered")
    assert [line.split(": ")[:3] for line in refused] == [
        ["not asked", "n03", "unreachable"],
        ["not asked", "n04", "host key changed"],
        ["not asked", "n05", "host key unknown"],
    ]
    text = (tmp_path / "my.yaml").read_text()
    assert "#   nodes that could not be asked: n03: unreachable: " in text
    assert "#   nodes that could not be asked: n04: host key changed: " in text
    assert "#   nodes whose cables are not known: n06: lldpd does not run" in text
    fabric = load(tmp_path)
    assert set(fabric.nodes) == {f"n{number:02}" for number in range(1, 7)}
    assert set(fabric.links) == {"n01--leaf1", "n02--leaf1"}


def test_if_no_node_answers_nothing_is_written(init: Init, tmp_path: Path) -> None:
    run = init("my.yaml", "--from", "ssh", "n[03-05]")
    assert (run.code, run.out) == (Exit.UNTESTED, "")
    assert run.err.endswith("0 of 3 nodes answered\nno node answered: nothing was written\n")
    assert not (tmp_path / "my.yaml").exists()


def test_without_lldp_on_any_node_the_nodes_are_written_and_no_link(init: Init, tmp_path: Path) -> None:
    assert init("my.yaml", "--from", "ssh", "n06").code == Exit.UNTESTED
    fabric = load(tmp_path)
    assert (set(fabric.nodes), set(fabric.links), set(fabric.switches)) == ({"n06"}, set(), set())


def test_a_node_without_a_data_address_is_told_of_in_the_file_on_standard_error_and_by_the_exit_code(
    init: Init, tmp_path: Path
) -> None:
    run = init("my.yaml", "--from", "ssh", "n01", "n[09-10]")
    assert run.code == Exit.UNTESTED
    missing = "nodes whose data address is not known, tests go to their names: "
    none = f"{missing}n09: no port that is up has an address that tests can go to"
    several = f"{missing}n10: several addresses are on ports that are as fast"
    assert run.err.splitlines()[1:] == ["3 of 3 nodes answered", none, several]
    text = (tmp_path / "my.yaml").read_text()
    assert f"#   {none}\n#   {several}\n" in text
    (beside,) = [line for line in text.splitlines() if line.startswith("  n[09-10]: ")]
    assert beside.endswith("  # no data address was found: tests go to its name")
    assert "inferred: no data address" not in run.out
    fabric = load(tmp_path)
    assert [node.data_address for node in fabric.nodes.values()] == ["10.0.0.1", "n09", "n10"]


def test_what_a_hostile_node_tells_is_data(init: Init, tmp_path: Path) -> None:
    run = init("my.yaml", "--from", "ssh", "n01", "n07")
    assert run.code == Exit.UNTESTED
    fabric = load(tmp_path)
    assert (set(fabric.nodes), set(fabric.switches)) == ({"n01", "n07"}, {"leaf1"})
    for text in (run.out, run.err, (tmp_path / "my.yaml").read_text()):
        assert "\x1b" not in text
        assert "\x07" not in text
    assert "neighbours whose names our file cannot hold" in run.out


def test_a_speed_that_nobody_tells_is_asked_for_or_given(init: Init, tmp_path: Path) -> None:
    assert "links of unknown speed, left out" in init("my.yaml", "--from", "ssh", "n08").out
    assert not load(tmp_path).links
    run = init("my.yaml", "--from", "ssh", "n08", "--link-speed", "10G", "--force")
    assert (run.code, [link.speed for link in load(tmp_path).links.values()]) == (Exit.PASSED, [1.25e9])


@pytest.mark.parametrize(
    ("answer", "code", "is_there"), [("y\n", 0, True), ("n\n", 3, False), ("\n", 3, False), ("", 3, False)]
)
def test_at_a_terminal_it_is_written_with_consent_only(
    init: Init, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int, is_there: bool
) -> None:
    at_a_terminal(monkeypatch, answer)
    run = init("my.yaml", "--from", "ssh", "n01")
    assert (run.code, (tmp_path / "my.yaml").exists()) == (code, is_there)
    shown, _, asked = run.out.partition("write my.yaml?")
    assert "my: 1 node (1 compute)" in shown
    assert ("wrote my.yaml" in asked) is is_there


def test_yes_asks_nobody(init: Init, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_a_terminal(monkeypatch, "n\n")
    run = init("my.yaml", "--from", "ssh", "n01", "--yes")
    assert (run.code, "write my.yaml?" in run.out) == (Exit.PASSED, False)
    assert (tmp_path / "my.yaml").exists()


def test_all_hosts_are_those_that_the_ssh_config_names(init: Init, tmp_path: Path) -> None:
    run = init("my.yaml", "--from", "ssh", "--all-hosts", "--link-speed", "25G")
    assert run.err.startswith(f"asking {len(NODES)} nodes over SSH\n")
    assert set(load(tmp_path).nodes) == set(NODES)


def test_another_ssh_config_is_followed_and_named_in_the_file(
    init: Init, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    config = home / ".ssh" / "config"
    run = init("my.yaml", "--from", "ssh", "n01", "--ssh-config", config)
    assert run.code == Exit.PASSED
    assert load(tmp_path).access.config == str(config)


def test_sudo_asks_as_the_administrator_now_and_in_the_suite(
    init: Init, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def ask_nodes(nodes: AskedNodes, name: str) -> ToldTopology:
        asked.append(nodes.sudo)
        return replace(original(replace(nodes, sudo=False), name), nodes=nodes)

    original = asked_topology.ask_nodes
    monkeypatch.setattr(asked_topology, "ask_nodes", ask_nodes)
    assert init("my.yaml", "--from", "ssh", "n01", "--sudo").code == Exit.PASSED
    assert asked == [True]
    assert load(tmp_path).suites["default"].stages[0].options["sudo"] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--from", "ssh"], "no node, expected: benchconsole init FILE --from ssh NODES..., or --all-hosts"),
        (["--from", "ssh", "n[1-"], "is not a node set"),
        (["--from", "ssh", "@all"], "names a group, expected plain names here"),
        (["--from", "ssh", "n1;reboot"], "is not a host name"),
        (["--from", "ssh", "n01", "--ask", "n01"], "expected: benchconsole init FILE --from ib --ask HOST"),
        (["--from", "ssh", "n01", "--ssh-config", "absent"], "--ssh-config absent, expected a file"),
        (["--from", "ssh", "--all-hosts", "--ssh-config", "absent"], "absent:1:1: a file that cannot be read"),
        (["--from", "lldp", "x.json", "--yes"], "--all-hosts, --ssh-config or --yes, expected --from ssh"),
        (["--all-hosts"], "--all-hosts, --ssh-config or --yes, expected --from ssh"),
    ],
)
def test_misuse_ends_with_2_and_asks_nobody(init: Init, tmp_path: Path, arguments: list[str], said: str) -> None:
    run = init("my.yaml", *arguments)
    assert (run.code, run.out) == (Exit.BAD_INPUT, "")
    assert said in run.err
    assert "asking" not in run.err
    assert not (tmp_path / "my.yaml").exists()


def test_a_file_that_is_there_is_kept_and_nobody_is_asked(init: Init, tmp_path: Path) -> None:
    (tmp_path / "my.yaml").write_text("mine")
    run = init("my.yaml", "--from", "ssh", "n01")
    assert (run.code, "asking" in run.err) == (Exit.BAD_INPUT, False)
    assert (tmp_path / "my.yaml").read_text() == "mine"
