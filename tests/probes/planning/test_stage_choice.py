"""Stages of a suite are taken and left by the names that plans give them, and an unknown name is no name of all."""

from pathlib import Path

import pytest

from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.stage_choice import choose_stages, list_stage_names, split_names
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.topology.model.fabric import Fabric
from tests.fabrics import SMALL, fabric

PROBES = load_probes(safe_mode=True).probes

SUITE = SMALL.replace(
    "  default:\n",
    "  default:\n    - {probe: inventory}\n    - {probe: inventory}\n    - {probe: iperf3, sweep: {streams: [1, 2]}}\n",
)
NAMES = ("inventory", "inventory (2)", "iperf3 neighbours over streams", "iperf3 neighbours", "iperf3 trunks")


@pytest.fixture
def described(tmp_path: Path) -> Fabric:
    return fabric(tmp_path, SUITE)


def test_names_are_those_of_the_plan(described: Fabric) -> None:
    suite = described.suites["default"]
    rounds = plan(described, suite, PROBES)
    assert list_stage_names(suite, PROBES) == NAMES == tuple(dict.fromkeys(each.stage for each in rounds))


@pytest.mark.parametrize(
    ("only", "without", "places"),
    [
        ("", "", (0, 1, 2, 3, 4)),
        ("inventory", "", (0, 1)),
        ("inventory (2)", "", (1,)),
        ("iperf3", "iperf3 trunks", (2, 3)),
        ("", "iperf3", (0, 1)),
        (" IPERF3 Trunks , inventory (2)", "", (1, 4)),
        ("", "inventory,iperf3 neighbours over streams", (3, 4)),
    ],
)
def test_what_is_taken_and_left(described: Fabric, only: str, without: str, places: tuple[int, ...]) -> None:
    suite = described.suites["default"]
    chosen = choose_stages(suite, PROBES, only, without)
    assert chosen.stages == tuple(suite.stages[place] for place in places)
    assert chosen.name == suite.name


@pytest.mark.parametrize(
    ("only", "without", "words"),
    [
        ("iperf3 trunk", "", "unknown stage of suite 'default' 'iperf3 trunk'.*did you mean iperf3 trunks"),
        ("", "fio", "unknown stage"),
        ("inventory", "inventory", "no stage left, expected one of inventory, "),
    ],
)
def test_what_cannot_be_meant_is_refused(described: Fabric, only: str, without: str, words: str) -> None:
    with pytest.raises(PlanError, match=words):
        choose_stages(described.suites["default"], PROBES, only, without)


def test_stages_that_run_at_once_are_taken_together_or_not_at_all(tmp_path: Path) -> None:
    text = SMALL.replace(
        "    - {probe: iperf3, design: neighbours}\n",
        "    - {probe: iperf3, design: neighbours, at_once: both}\n    - {probe: inventory, at_once: both}\n",
    )
    suite = fabric(tmp_path, text).suites["default"]
    with pytest.raises(PlanError, match="iperf3 neighbours runs at once with inventory"):
        choose_stages(suite, PROBES, "iperf3", "")
    assert len(choose_stages(suite, PROBES, "iperf3 neighbours, inventory").stages) == 2
    assert [stage.options["design"] for stage in choose_stages(suite, PROBES, "iperf3 trunks").stages] == ["trunks"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a, b", ["a", "b"]),
        ("x over a, b", ["x over a, b"]),
        ("a,x over a, b ,b", ["a", "x over a, b", "b"]),
        (" , ", []),
    ],
)
def test_a_known_name_may_hold_commas(text: str, names: list[str]) -> None:
    assert split_names(text, {"a", "b", "x over a, b"}) == names
