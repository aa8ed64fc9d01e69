"""Nodes that somebody else needs are refused, left out, or named by whoever answers for it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchconsole.console.cli import command
from benchconsole.console.session.metadata import SessionChoice
from benchconsole.console.session.safety import InUseError, SafetyPolicy
from benchconsole.console.session.session import Session
from benchconsole.probes.api import Safety
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.running.guards.in_use import InUseOverride
from benchconsole.store.store import Store
from benchconsole.topology.model.fabric import NodeId
from tests.fabrics import SMALL, fabric
from tests.probes.played import PROBES as PLAYED
from tests.probes.played import Pair, PlayedReach

pytestmark = pytest.mark.fault("F45")

SUITE = SMALL.replace("  default:\n", "  default:\n    - {probe: inventory}\n").replace(
    "  n[1-4]: {role: compute}", "  n[1-3]: {role: compute}\n  n4: {role: compute, production: true}"
)


class Loading(Pair):
    """The played pair probe, which says that it loads its nodes."""

    safety = Safety.LOADS


PROBES = {**PLAYED, "iperf3": Loading()}


def loading(rounds: tuple[Round, ...]) -> set[str]:
    return {node.id for each in rounds if each.probe == "iperf3" for test in each.tests for node in test.target.nodes}


def test_a_plan_that_loads_production_is_refused_and_reading_it_is_not(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        session = Session(fabric(tmp_path, SUITE), PROBES, store)
        rounds = session.propose()
        with pytest.raises(InUseError, match=r"n4.*production.*iperf3"):
            session.choice.policy.refuse(session.fabric, rounds, PROBES)
        session.choice.policy.refuse(session.fabric, [each for each in rounds if each.probe == "inventory"], PROBES)
        meant = SafetyPolicy(InUseOverride(production=frozenset([NodeId("n4")]), who="ada"))
        meant.refuse(session.fabric, rounds, PROBES)


def test_a_console_on_the_screen_leaves_nodes_in_use_out_of_what_loads(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        policy = SafetyPolicy(occupied={"n1": "job 4711 of alice"}, sparing=True)
        session = Session(fabric(tmp_path, SUITE), PROBES, store, SessionChoice(policy=policy))
        rounds = session.propose()
        assert loading(rounds).isdisjoint({"n1", "n4"})
        assert loading(rounds) >= {"n2", "n3", "n5"}
        assert {test.target.node.id for test in rounds[0].tests} == set(session.fabric.nodes)
        assert set(policy.spared(session.fabric)) == {"n1", "n4"}


async def test_an_override_is_recorded_and_makes_the_run_careful(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        policy = SafetyPolicy(InUseOverride(production=frozenset([NodeId("n4")]), who="ada"))
        session = Session(
            fabric(tmp_path, SUITE), PROBES, store, SessionChoice(policy=policy), make_reach=lambda *_: PlayedReach()
        )
        rounds = session.propose()
        widths = [len(each.tests) for each in rounds if each.stage.startswith("iperf3 neighbours")]
        assert widths[:2] == [1, 2]
        session.start(rounds)
        await session.finished()
        options = store.session(session.id).describe().new.options
        assert options["override.production"] == "n4"
        assert options["override.by"] == "ada"


def test_the_command_refuses_with_exit_code_2_and_opens_no_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "benchconsole.console.session.node_access.make_ssh_reach", lambda *_: pytest.fail("a connection was opened")
    )
    path = tmp_path / "topology.yaml"
    path.write_text(SUITE)
    ran = CliRunner().invoke(command, ["run", str(path), "--db", str(tmp_path / "s.db")])
    assert ran.exit_code != 0
    assert "n4" in str(ran.exception)
    assert "--i-mean-production" in str(ran.exception)
    for wrong in ("n1", "nobody"):
        ran = CliRunner().invoke(
            command, ["run", str(path), "--db", str(tmp_path / "s.db"), "--i-mean-production", wrong, "--dry-run"]
        )
        assert wrong in str(ran.exception)


async def test_a_job_that_begins_meanwhile_ends_the_run_before_the_round_that_would_load_it(tmp_path: Path) -> None:
    taken: dict[str, str] = {}

    async def ask() -> dict[str, str]:
        return dict(taken)

    with Store.open(tmp_path / "s.db") as store:
        text = SUITE.replace(", production: true", "")
        session = Session(
            fabric(tmp_path, text),
            PROBES,
            store,
            SessionChoice(policy=SafetyPolicy(ask=ask)),
            make_reach=lambda *_: PlayedReach(),
        )
        rounds = session.propose()
        taken["n2"] = "job 12 of bob"
        session.start(rounds)
        await session.finished()
        stored = store.session(session.id).describe()
        assert "job 12 of bob" in stored.because
        assert {number for number, _ in store.session(session.id).list_closed_rounds()} == {
            each.number for each in rounds if each.probe == "inventory"
        }
        assert json.dumps(dict(stored.new.options)) == "{}"
