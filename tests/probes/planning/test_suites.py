"""The suites that come with the console: planned on any machine, described by what the file says of it."""

from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from benchconsole import topology
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.suites import OURS, find_suite, list_suite_names
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.topology.model.fabric import Fabric
from tests.fabrics import SMALL, fabric
from tests.probes.planning.plan_referee import violations

PROBES = load_probes(safe_mode=True).probes


def jetstream() -> Fabric:
    return topology.load(Path(str(files("benchconsole.topology") / "examples/jetstream.yaml")))


@pytest.mark.parametrize("name", OURS)
def test_each_is_planned_on_a_small_and_on_a_published_machine(tmp_path: Path, name: str) -> None:
    for described in (fabric(tmp_path, SMALL.partition("suites:")[0]), jetstream()):
        rounds = plan(described, find_suite(described, name), PROBES)
        assert {each.probe for each in rounds} <= set(PROBES)
        assert rounds[0].probe == "inventory"


@pytest.mark.parametrize("name", ["quick", "network", "acceptance"])
def test_what_they_run_together_shares_nothing(tmp_path: Path, name: str) -> None:
    described = fabric(tmp_path)
    assert list(violations(described, plan(described, find_suite(described, name), PROBES), PROBES)) == []


def test_the_quick_one_takes_five_minutes_at_most_on_jetstream() -> None:
    described = jetstream()
    rounds = plan(described, find_suite(described, "quick"), PROBES)
    assert sum(each.seconds for each in rounds) < 300


def test_packets_are_as_large_as_the_file_says(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    (each, *_) = (one for one in plan(described, find_suite(described, "quick"), PROBES) if one.probe == "ping")
    assert {test.target.options["payload"] for test in each.tests} == {"1472 B"}


def test_a_suite_of_the_file_counts_before_ours(tmp_path: Path) -> None:
    own = fabric(tmp_path, SMALL.replace("  default:\n", "  quick:\n    - {probe: inventory}\n  default:\n"))
    assert [stage.probe for stage in find_suite(own, "quick").stages] == ["inventory"]


def test_an_unknown_name_is_refused_with_all_that_are_known(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"'fast'.*acceptance, burn-in, default, lag, network, quick, storage"):
        find_suite(fabric(tmp_path), "fast")


def test_a_machine_without_links_to_fill_burns_in_all_the_same() -> None:
    """A stage that has nothing to run is left out with its repetitions, as it is without them."""
    described = topology.load(Path(str(files("benchconsole.topology") / "examples/desy.yaml")))
    rounds = plan(described, find_suite(described, "burn-in"), PROBES)
    counted = Counter(each.probe for each in rounds)
    assert counted == {"inventory": 2, "hpl": 3, "stream": 3, "fio": 3}


def test_the_default_of_the_file_is_offered_first_and_ours_last(tmp_path: Path) -> None:
    stages = "[{probe: inventory}]"
    described = fabric(
        tmp_path, SMALL.split("suites:")[0] + f"suites: {{lag: {stages}, mine: {stages}, default: {stages}}}\n"
    )
    names = list_suite_names(described)
    assert names == ("default", "lag", "mine", "quick", "network", "storage", "acceptance", "burn-in")
    assert list_suite_names(fabric(tmp_path, SMALL.split("suites:")[0])) == tuple(OURS)
    assert all(find_suite(described, name).name == name for name in names)
