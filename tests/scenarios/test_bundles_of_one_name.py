"""A lost half of a LAG, seen in one round only, beside a passing bundle that has the same name in the next round.

From the file to the sentence: the fault is a finding, and the healthy nodes above and below it are not drawn as failed.
"""

import json
from pathlib import Path

import pytest

from benchconsole.console.exits import Exit
from benchconsole.console.view.run_view import State
from benchconsole.probes.api import Output, Probe
from benchconsole.probes.model.remote import Remote
from benchconsole.probes.plugins.registry import ProbeCatalogue
from benchconsole.probes.testing import FakeRemote
from benchconsole.topology.model.fabric import Node
from tests.probes.judging.test_low_verdicts import FOUR_LEAVES, NAME, Wide
from tests.probes.played import PlayedReach
from tests.scenarios.test_judging_trials import Site
from tests.scenarios.test_session_verdicts import read_view

SHARE = 5.88e8
"""byte/s of each of eight flows that fill the 4 x 10 Gb/s of a leaf."""


class Halved(PlayedReach):
    """Nodes of four leaves; what crosses ``leaf2`` arrives at half of its rate."""

    async def remote(self, node: Node) -> Remote:
        if node.id not in self.remotes:
            self.remotes[node.id] = played = FakeRemote(node.id)
            for leaf in "abcd":
                for number in range(1, 9):
                    rate = SHARE / 2 if "b" in (leaf, node.id[0]) else SHARE
                    answer = Output(("iperf3",), f"{rate} bytes per second\n".encode(), node=node.id)
                    played.when("iperf3", f"{leaf}{number}", answers=answer)
        return self.remotes[node.id]


def test_the_lost_half_is_a_finding_and_no_node_is_blamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    probes: dict[str, Probe] = {"iperf3": Wide()}
    common = "benchconsole.console.cli.common"
    monkeypatch.setattr(f"{common}.load_catalogue", lambda: ProbeCatalogue(probes, (), {}))
    monkeypatch.setattr(f"{common}.load_installed_probes", lambda: probes)
    monkeypatch.setattr(f"{common}.make_asking_reach", lambda *_: Halved())
    site = Site(tmp_path, text=FOUR_LEAVES)
    code, said = site.call("run", site.topology, "--no-confirm")
    assert code == Exit.BELOW, said
    assert "which of leaf2 to spine1, leaf2 to spine2" in said, said
    assert site.call("report", "-o", tmp_path / "r.json")[0] == Exit.PASSED
    told = json.loads((tmp_path / "r.json").read_text())
    named = {each["round"]: each for each in told["verdicts"] if each["subject"] == NAME}
    assert [each["level"] for each in named.values()] == ["fail", "pass"]
    assert [each["where"] for each in told["findings"]] == ["leaf2 to spine1 or leaf2 to spine2"]
    assert all(each["affected_by"] for each in told["verdicts"] if each["level"] == "fail")
    states = {seen.state for seen in read_view(tmp_path / "s.db").nodes.values()}
    assert State.FAIL not in states
