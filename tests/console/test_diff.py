"""Facts of nodes as what they saw of the wire, the comparison as text and JSON, and the command's endings."""

import json
from pathlib import Path

import pytest

from benchconsole.console.cli import main
from benchconsole.console.exits import Exit
from benchconsole.console.session.metadata import SessionChoice
from benchconsole.console.session.session import Session
from benchconsole.console.static_report.wire_diff import (
    NodeObservations,
    compare_wire,
    format_comparison,
    make_record,
    plan_inventory,
    read_observations,
    read_observed,
)
from benchconsole.console.view.events import SessionEnded
from benchconsole.probes.api import Fact, Node, Output, Probe, RemoteError, Unit, labels
from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.remote import Remote
from benchconsole.probes.testing import FakeRemote
from benchconsole.probes.tools.inventory.probe import Inventory
from benchconsole.probes.tools.inventory.script import Answer, make_command
from benchconsole.probes.tools.inventory.sources import SOURCES
from benchconsole.store.store import Store
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.wire.comparison import WireCoverage
from benchconsole.topology.wire.observations import BondSeen, HeardNeighbour, Member, ObservedPort
from tests.fabrics import fabric
from tests.probes.tools.inventory.cases import format_answers

TWO = """\
schema: 1
fabric: two
switches:
  spine1: {role: spine}
  leaf[1-2]: {role: leaf}
nodes:
  n[1-4]: {}
links:
  - {from: "n[1-2]", to: leaf1, speed: 10 Gb/s}
  - {from: "n[3-4]", to: leaf2, speed: 10 Gb/s}
  - {from: "leaf[1-2]", to: spine1, speed: 40 Gb/s}
"""


def heard(switch: str, port: str = "Eth1") -> str:
    """The output of ``lldpctl -f json0`` with one neighbour on eth0."""
    chassis = {"id": [{"type": "mac", "value": "0c:42:a1:00:00:01"}], "name": [{"value": switch}]}
    entry = {"name": "eth0", "chassis": [chassis], "port": [{"id": [{"type": "ifname", "value": port}]}]}
    return json.dumps({"lldp": [{"interface": [entry]}]})


# -- facts


def fact(name: str, value: str | float, **marks: str) -> Fact:
    return Fact(name, value, None if isinstance(value, str) else Unit.ONE, labels(**marks))


HEARD = fact("lldp.neighbours", 0.0)


def ports(*facts: Fact, address: str = "") -> dict[str, ObservedPort]:
    return {port.name: port for port in read_observed([HEARD, *facts], address).ports}


def test_neighbours_speed_and_carrier_of_a_port() -> None:
    found = read_observed(
        [
            *SOURCES["lldpctl"](heard("leaf1")),
            fact("nic.speed", 25e9 / 8, nic="eth0"),
            fact("nic.link", "yes", nic="eth0"),
            fact("nic.address", "10.0.0.1", nic="eth0"),
            fact("nic.state", "down", nic="eth1"),
        ],
        "10.0.0.1",
    )
    assert found.deaf == ""
    assert found.ports == (
        ObservedPort("eth0", (HeardNeighbour("leaf1", ("Eth1",)),), 25e9 / 8, carrier=True, data=True),
        ObservedPort("eth1", carrier=False),
    )


def test_a_speed_that_an_interface_makes_up_is_not_believed() -> None:
    made_up = fact("nic.speed", 10e9 / 8, nic="eth0", nominal="yes")
    assert ports(made_up)["eth0"].speed is None
    virtual = (fact("nic.kind", "veth", nic="eth1"), fact("nic.address", "10.0.0.1", nic="eth1"))
    assert ports(fact("nic.speed", 10e9 / 8, nic="eth1"), *virtual)["eth1"].speed is None


def test_bonds_bridges_and_containers_are_no_ports() -> None:
    found = ports(
        fact("nic.kind", "bond", nic="bond0"),
        fact("nic.kind", "bridge", nic="docker0"),
        fact("nic.kind", "veth", nic="vethab12"),
        fact("nic.master", "docker0", nic="vethab12"),
        fact("nic.address", "10.9.9.9", nic="vethab12"),
        fact("nic.kind", "veth", nic="cali12"),
        fact("nic.link", "yes", nic="cali12"),
        fact("nic.address", "fe80::1", nic="cali12"),
        fact("nic.state", "up", nic="eth0"),
    )
    assert set(found) == {"eth0"}


def test_the_data_address_leads_through_vlan_and_bond_to_the_ports() -> None:
    found = ports(
        fact("nic.address", "10.1.0.1", nic="bond0.7"),
        fact("nic.parent", "bond0", nic="bond0.7"),
        fact("nic.kind", "vlan", nic="bond0.7"),
        fact("nic.kind", "bond", nic="bond0"),
        fact("nic.master", "bond0", nic="eth0"),
        fact("nic.master", "bond0", nic="eth1"),
        fact("nic.state", "up", nic="eth2"),
        address="10.1.0.1",
    )
    assert {name for name, port in found.items() if port.data} == {"eth0", "eth1"}


def test_interfaces_that_lead_to_each_other_end() -> None:
    found = ports(
        fact("nic.address", "10.1.0.1", nic="a"),
        fact("nic.parent", "b", nic="a"),
        fact("nic.parent", "a", nic="b"),
        address="10.1.0.1",
    )
    assert all(port.data for port in found.values())


def test_bonds_with_their_members() -> None:
    found = read_observed(
        [
            HEARD,
            fact("bond.mode", "802.3ad", bond="bond0"),
            fact("bond.aggregator", "1", bond="bond0"),
            fact("bond.member_state", "up", bond="bond0", nic="eth0"),
            fact("bond.member_aggregator", "1", bond="bond0", nic="eth0"),
            fact("bond.member_state", "going down", bond="bond0", nic="eth1"),
            fact("bond.member_speed", 1e9, bond="bond0", nic="eth2"),
        ]
    )
    members = (Member("eth0", up=True, aggregate="1"), Member("eth1", up=False))
    assert found.bonds == (BondSeen("bond0", "802.3ad", members, "1"),)


def test_a_node_that_could_not_be_asked_for_neighbours_says_why() -> None:
    assert read_observed([fact("lldp.skipped", "lldpctl is not installed")]).deaf == "lldpctl is not installed"
    assert read_observed([fact("os.id", "debian")]).deaf == "lldpctl told nothing that could be read"


# -- a session


class Inventoried:
    """Nodes that answer the inventory script with what ``lldpctl`` says there; None cannot be reached."""

    def __init__(self, says: dict[str, str | None]) -> None:
        self._says = says
        self.asked: list[str] = []

    async def remote(self, node: Node) -> Remote:
        self.asked.append(node.id)
        text = self._says.get(node.id)
        if text is None:
            raise RemoteError(Failure(FailedAt.UNREACHABLE, "connection refused", node.id))
        argv = make_command("0123abcd")
        stdout = format_answers("0123abcd", [Answer("lldpctl", 0, text)]).encode()
        return FakeRemote(node.id).when("sh", answers=Output(tuple(argv), stdout, node=node.id))

    async def close(self) -> None:
        return


async def test_a_comparison_is_stored_and_can_be_made_again_from_the_store(tmp_path: Path) -> None:
    described = fabric(tmp_path, TWO)
    probes: dict[str, Probe] = {"inventory": Inventory(lambda: "0123abcd")}
    reach = Inventoried({"n1": heard("leaf1"), "n2": heard("leaf2"), "n3": heard("leaf1"), "n4": None})
    with Store.open(tmp_path / "s.db") as store:
        choice = SessionChoice(None, tuple(described.nodes), "diff")
        running = Session(described, probes, store, choice, make_reach=lambda _fabric, _session: reach)
        running.start(plan_inventory(described, probes, tuple(described.nodes)))
        async for event in running.live():
            if isinstance(event, SessionEnded):
                break
        view = running.view()
        found = compare_wire(described, read_observations(view, described.nodes), view.session)
        assert reach.asked == 3 * ["n1", "n2", "n3", "n4"]  # what they have, the inventory, the search at the end
        assert found.code is Exit.BELOW
        assert [each.text for each in found.report.differences] == ["n2 and n3 are swapped"]
        assert found.why == {"n4": "unreachable: connection refused"}
        again = Session.stored(store, "diff", probes).view()
    assert compare_wire(described, read_observations(again, described.nodes), view.session).report == found.report
    mended = fabric(tmp_path, TWO.replace('"n[1-2]"', '"n[1,3]"').replace('"n[3-4]"', '"n[2,4]"'))
    assert compare_wire(mended, read_observations(again, mended.nodes)).code is Exit.UNTESTED
    only = [NodeId("n1"), NodeId("n2")]
    assert compare_wire(mended, read_observations(again, only)).code is Exit.PASSED


async def test_a_node_that_the_session_did_not_ask_is_not_compared(tmp_path: Path) -> None:
    described = fabric(tmp_path, TWO)
    with Store.open(tmp_path / "s.db") as store:
        view = Session(described, {}, store).view()
    answers = read_observations(view, described.nodes)
    assert set(answers.nodes.values()) == {None}
    assert compare_wire(described, answers).report.nodes(WireCoverage.NO_ANSWER) == ("n1", "n2", "n3", "n4")


# -- text and JSON


def test_nodes_with_the_same_trouble_are_told_once_and_one_alone_by_its_own_words(tmp_path: Path) -> None:
    described = fabric(tmp_path, TWO)
    refused = {node: f"unreachable: {node} at 127.0.0.{at} refused" for at, node in enumerate(("n1", "n2", "n3"), 1)}
    lost = {"n4": "unreachable: n4 at 127.0.0.4 is away"}
    silent = NodeObservations(dict.fromkeys(described.nodes), {**refused, **lost})
    lines = list(format_comparison(compare_wire(described, silent), 120))
    assert lines[2:5] == [
        "not compared",
        "  n[1-3]: no answer, unreachable: NODE at ADDRESS refused",
        "  n4: no answer, unreachable: n4 at 127.0.0.4 is away",
    ]


def told(**says: str) -> NodeObservations:
    """The observations of nodes, from their outputs of lldpctl."""
    return NodeObservations({node: read_observed(SOURCES["lldpctl"](text)) for node, text in says.items()})


def saved(folder: Path, **says: str) -> Path:
    """A directory of saved outputs."""
    place = folder / "saved"
    place.mkdir(exist_ok=True)
    for node, text in says.items():
        (place / f"{node}.json").write_text(text)
    return place


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> int:
    monkeypatch.setattr("sys.argv", ["benchconsole", "diff", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


@pytest.fixture
def topology(tmp_path: Path) -> Path:
    path = tmp_path / "two.yaml"
    path.write_text(TWO)
    return path


GOOD = {"n1": heard("leaf1"), "n2": heard("LEAF1.example.org"), "n3": heard("leaf2"), "n4": heard("leaf2")}


def test_saved_outputs_as_described(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, topology, "--from", saved(tmp_path, **GOOD)) == Exit.PASSED
    said = capsys.readouterr().out
    assert "4 of 4 nodes compared" in said
    assert "no difference" in said
    assert "4 of 6 links can be seen from nodes" in said
    assert "nobody told the speed of 4 cables" in said


def test_files_named_one_by_one_and_a_selection(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = saved(tmp_path, **GOOD)
    files = [place / "n1.json", place / "n2.json"]
    assert run(monkeypatch, topology, "-w", "n[1-2]", "--from", *files) == Exit.PASSED
    assert run(monkeypatch, topology, "--from", *files) == Exit.UNTESTED
    assert run(monkeypatch, topology, "-x", "n[3-4]", "--from", *files) == Exit.PASSED


def test_differences_are_folded_and_win_over_what_was_not_compared(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = saved(tmp_path, n1=heard("core7"), n2=heard("core7"), n3="bash: lldpctl: command not found\n")
    assert run(monkeypatch, topology, "--from", place) == Exit.BELOW
    said = capsys.readouterr().out
    assert "n[1-2]" in said
    assert said.count("core7: not in the file") == 1
    assert "n3: no LLDP, found nothing that could be read, expected the JSON of lldpctl" in " ".join(said.split())
    assert "n4: no answer, no saved output" in said


def test_json_has_everything_in_bits(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = saved(tmp_path, **(GOOD | {"n2": heard("leaf2"), "n3": heard("leaf1")}))
    assert run(monkeypatch, topology, "--json", "--from", place) == Exit.BELOW
    found = json.loads(capsys.readouterr().out)
    assert found["links"] == {"described": 6, "seen_from_nodes": 4}
    assert found["coverage"]["as described"] == ["n1", "n4"]
    assert [(each["kind"], each["nodes"]) for each in found["differences"]] == [("swapped", ["n2", "n3"])]
    cable = next(each for each in found["cables"] if each["node"] == "n2")
    assert cable["described"] == {"device": "leaf1", "port": "", "speed_bps": 10e9}
    assert cable["seen"] == {"device": "leaf2", "ports": ["Eth1"]}
    assert (cable["state"], cable["port"], cable["speed_bps"]) == ("wrong switch", "eth0", None)


@pytest.mark.fault("F49", "I03", "I12")
def test_names_from_the_wire_do_nothing_to_the_terminal(tmp_path: Path) -> None:
    described = fabric(tmp_path, TWO)
    hostile = heard("\x1b[31mleaf1\x1b[0m\u202e", "\x1b]0;x\x07")
    with_port = heard("leaf2", "\x1b]0;x\x07")
    found = compare_wire(described, told(n1=hostile, n2=with_port))
    shown = "\n".join(format_comparison(found, 80))
    assert all(letter.isprintable() or letter == "\n" for letter in shown)
    assert json.dumps(make_record(found), allow_nan=False)


@pytest.mark.parametrize("width", [72, 80, 200])
def test_no_line_is_wider_than_the_terminal(tmp_path: Path, width: int) -> None:
    described = fabric(tmp_path, TWO)
    found = compare_wire(described, told(n1=heard("x" * 150), n2=heard("leaf2"), n3=heard("leaf1")))
    assert max(map(len, format_comparison(found, width))) <= width


# -- bad input


def test_a_saved_output_of_no_node_is_told_and_the_others_are_compared(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = saved(tmp_path, x9=heard("leaf1"), n1=heard("leaf1"))
    assert run(monkeypatch, topology, "--from", place) != Exit.BAD_INPUT
    said = capsys.readouterr()
    assert "'x9' is no node of the file; it is left out" in said.err
    assert "1 of " in said.out


def test_bad_input_ends_with_2_and_says_everything_at_once(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = saved(tmp_path, nn1=heard("leaf1"), leaf1=heard("leaf2"), n1=heard("leaf1"))
    (place / "n1.txt").write_text(heard("leaf1"))
    (place / "n2").mkdir()
    assert run(monkeypatch, topology, "--from", place) == Exit.BAD_INPUT
    said = capsys.readouterr().err
    assert "'nn1' is no node of the file; did you mean n1?" in said
    assert "'leaf1' is no node of the file" in said
    assert "a second output of n1" in said
    assert "n2: cannot be read" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ["extra.json"],
        ["--from", "absent.json"],
        ["--from", "empty"],
        ["--from", "empty", "--session", "last"],
        ["-w", "n9"],
        ["--session", "last"],
    ],
)
def test_what_cannot_be_meant_is_refused(
    arguments: list[str],
    topology: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    assert run(monkeypatch, topology, *arguments) == Exit.BAD_INPUT
    said = capsys.readouterr().err
    assert said.strip()
    assert "Traceback" not in said
