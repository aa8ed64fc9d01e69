"""``check --session``: lines over distance against the TCP buffers that nodes told of themselves."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchconsole.console.cli import command as benchconsole
from benchconsole.console.exits import BadInput
from benchconsole.console.session.metadata import SessionChoice
from benchconsole.console.session.session import Session
from benchconsole.console.static_report.wire_diff import plan_inventory, read_node_facts
from benchconsole.console.view.events import SessionEnded
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.api import Node, Output, Probe, RemoteError
from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.remote import Remote
from benchconsole.probes.testing import FakeRemote
from benchconsole.probes.tools.inventory.probe import Inventory
from benchconsole.probes.tools.inventory.script import Answer, make_command
from benchconsole.store.store import Store
from benchconsole.topology.analysis.wan import find_window
from tests.fabrics import fabric
from tests.probes.tools.inventory.cases import format_answers

FAR = """\
schema: 1
fabric: far
switches: {west: {role: core}, east: {role: core}}
nodes: {"w[1-2]": {}, e1: {}}
links:
  - {from: "w[1-2]", to: west, speed: 10 Gb/s}
  - {from: e1, to: east, speed: 10 Gb/s}
  - {from: west, to: east, speed: 100 Gb/s, rtt: 50 ms}
"""
SETTINGS = "net.core.rmem_max = 212992\nnet.ipv4.tcp_rmem = 4096 131072 {0}\nnet.ipv4.tcp_wmem = 4096 16384 {0}\n"


class Tuned:
    """Nodes that answer the inventory script with their sysctl settings."""

    async def remote(self, node: Node) -> Remote:
        text = SETTINGS.format(6_291_456 if node.id == "w1" else 167_772_160)
        stdout = format_answers("0123abcd", [Answer("sysctl", 0, text)]).encode()
        argv = tuple(make_command("0123abcd"))
        return FakeRemote(node.id).when("sh", answers=Output(argv, stdout, node=node.id))

    async def close(self) -> None:
        return


class Gone(Tuned):
    """Nodes that cannot be reached."""

    async def remote(self, node: Node) -> Remote:
        raise RemoteError(Failure(FailedAt.UNREACHABLE, "connection refused", node.id))


async def ask(folder: Path, reach: Tuned) -> RunView:
    """An inventory of every node, stored as the session ``tuned``."""
    described = fabric(folder, FAR)
    probes: dict[str, Probe] = {"inventory": Inventory(lambda: "0123abcd")}
    with Store.open(folder / "s.db") as store:
        choice = SessionChoice(None, tuple(described.nodes), "tuned")
        running = Session(described, probes, store, choice, make_reach=lambda _fabric, _session: reach)
        running.start(plan_inventory(described, probes, tuple(described.nodes)))
        async for event in running.live():
            if isinstance(event, SessionEnded):
                break
        return running.view()


def arguments(folder: Path) -> list[str]:
    return ["check", str(folder / "topology.yaml"), "--json", "--session", "tuned", "--db", str(folder / "s.db")]


async def test_windows_come_from_what_nodes_told(tmp_path: Path) -> None:
    told = read_node_facts(await ask(tmp_path, Tuned()))
    assert {node: find_window(facts)[0] for node, facts in told.items()} == {
        "w1": 3_145_728.0, "w2": 83_886_080.0, "e1": 83_886_080.0,
    }  # fmt: skip
    found = json.loads(CliRunner().invoke(benchconsole, arguments(tmp_path)).stdout)
    windows = {each["nodes"]: each for each in found["wan"][0]["windows"]}
    assert windows["w1"]["stream_bps"] == pytest.approx(3_145_728 * 8 / 0.050)
    assert windows["e1,w2"]["stream_bps"] == pytest.approx(10e9)
    assert "wan-window" in {each["code"] for each in found["findings"]}
    without = json.loads(CliRunner().invoke(benchconsole, arguments(tmp_path)[:3]).stdout)
    assert without["wan"][0]["windows"][0]["window_B"] is None


async def test_a_session_in_which_nobody_told_is_refused(tmp_path: Path) -> None:
    await ask(tmp_path, Gone())
    result = CliRunner().invoke(benchconsole, arguments(tmp_path))
    assert isinstance(result.exception, BadInput)
    assert "no node told its TCP buffers" in str(result.exception)
