"""At most so many tests at once: rounds are split, and what only makes sense together is left out with its reason."""

from pathlib import Path

import pytest

from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.planning.plan_rounds import PlanParts, plan_parts
from benchconsole.probes.planning.plan_summary import summarise
from benchconsole.probes.planning.resource_use import MOST_TESTS
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.topology.description.resolve import load_text
from tests.fabrics import SMALL, fabric
from tests.probes.planning.suites import Played, Together, planned

HEAD = SMALL[: SMALL.index("suites:")]
PROBES = {"iperf3": Iperf3(), "played": Played()}


def lay_out(*stages: str, most: int) -> PlanParts:
    text = f"{HEAD}suites:\n  s:\n" + "".join(f"    - {{{stage}}}\n" for stage in stages)
    described = load_text(text, "small.yaml")
    suite = described.suites["s"]
    return plan_parts(described, suite, PROBES, nodes=None, first=1, most=most, cohorts=None)


def keys(rounds: tuple[Round, ...]) -> list[str]:
    return sorted(test.target.key for each in rounds for test in each.tests)


@pytest.mark.parametrize(("most", "rounds"), [(1, 10), (3, 4), (9, 2), (10, 1), (11, 1)])
def test_tests_of_nodes_are_split_and_none_is_lost(most: int, rounds: int) -> None:
    found = lay_out("probe: played", most=most)
    assert [len(each.tests) for each in found.rounds] == [most] * (10 // most) + [10 % most] * bool(10 % most)
    assert len(found.rounds) == rounds
    assert keys(found.rounds) == keys(lay_out("probe: played", most=MOST_TESTS).rounds)
    assert found.left_out == ()


def test_the_bound_of_a_plan_counts_them(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    for probe, design in ((None, "permutation"), (Played(), None), (Together(), None)):
        rounds = planned(described, design, probe=probe, most=3)
        probes = {"iperf3": Iperf3(), "played": probe or Played()}
        total = summarise(described, rounds, probes, most=3).total
        tests = sum(len(each.tests) for each in rounds)
        assert total.bound >= -(-tests // 3)
        assert total.bound <= total.rounds
    stage = summarise(described, planned(described, probe=Played(), most=3), {"played": Played()}, most=3).stages[0]
    assert (stage.bound, stage.bound_by, stage.ratio) == (4, "3 tests at once", 1.0)
    assert summarise(described, planned(described, probe=Played(), most=3), {"played": Played()}).total.bound == 1


def test_an_element_that_takes_more_is_not_filled_and_the_others_are() -> None:
    whole = lay_out("probe: iperf3, design: trunks", most=MOST_TESTS)
    bundles = {
        bundle.name: sum(test.bundle == bundle.name for test in each.tests)
        for each in whole.rounds
        for bundle in each.bundles
    }
    most = min(bundles.values())
    found = lay_out("probe: iperf3, design: trunks", "probe: played", most=most)
    assert {bundle.name for each in found.rounds for bundle in each.bundles} == {
        name for name, tests in bundles.items() if tests <= most
    }
    assert all(len(each.tests) <= most for each in found.rounds)
    wide = [tests for tests in bundles.values() if tests > most]
    assert len(found.left_out) == bool(wide)
    less = lay_out("probe: iperf3, design: trunks", "probe: played", most=most - 1)
    assert {each.probe for each in less.rounds} == {"played"}
    (words,) = less.left_out
    assert words.startswith("iperf3 trunks is not run: to fill ")
    assert words.endswith(f" takes up to {max(bundles.values())} tests at once, and at most {most - 1} may run")


CLIENTS = "probe: played, sweep: {clients: [2, 4]}"


def test_a_load_of_clients_that_is_too_wide_is_left_out_with_its_stage() -> None:
    found = lay_out(CLIENTS, "probe: played", most=3)
    assert [len(each.tests) for each in found.rounds] == [3, 3, 3, 1]
    assert found.left_out == ("played over clients is not run: clients=4: expected at most 3 tests at once",)
    assert lay_out(CLIENTS, most=4).left_out == ()


BOTH = (
    'probe: played, nodes: "n[1-2]", at_once: both',
    'probe: iperf3, nodes: "n[1-4]", design: one-way, from: "n[3-4]", to: "n[1-2]", at_once: both',
)


def test_stages_at_once_are_left_out_together() -> None:
    found = lay_out(*BOTH, "probe: played", most=3)
    assert {each.stage for each in found.rounds} == {"played"}
    assert [words.partition(":")[0] for words in found.left_out] == [
        "played is not run", "iperf3 one-way is not run"
    ]  # fmt: skip
    assert lay_out(*BOTH, most=4).left_out == ()


def test_where_nothing_else_is_left_the_plan_is_refused_with_the_reason() -> None:
    with pytest.raises(PlanError, match=r"nothing to run on the selected nodes; played over clients is not run"):
        lay_out(CLIENTS, most=3)
