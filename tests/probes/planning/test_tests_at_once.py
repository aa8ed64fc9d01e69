"""At most so many tests at once: rounds are split, and what only makes sense together is left out with its reason."""

from pathlib import Path

import pytest

from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import LeftOutPoint, Round
from benchconsole.probes.model.omission import OmissionReason
from benchconsole.probes.model.round_bounds import MOST_TESTS
from benchconsole.probes.planning.plan_rounds import PlanParts, plan_parts
from benchconsole.probes.planning.plan_summary import summarise
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


def list_words(found: PlanParts) -> list[str]:
    """The omissions in words; all of them for one reason."""
    assert {each.reason for each in found.left_out} <= {OmissionReason.TESTS_AT_ONCE}
    return [each.words for each in found.left_out]


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
    (words,) = list_words(less)
    assert words.startswith("iperf3 trunks is not run: to fill ")
    limit = f"and the limit is --tests-at-once {most - 1}"
    assert words.endswith(f" takes up to {max(bundles.values())} tests at once, {limit}")


CLIENTS = "probe: played, sweep: {clients: [1, 2, 4, 8]}"


def list_points(rounds: tuple[Round, ...]) -> list[str]:
    return [" ".join(value for _, value in each.swept.point) for each in rounds if each.swept is not None]


@pytest.mark.parametrize(
    ("most", "points", "left", "words"),
    [
        (8, ["1", "2", "4", "8"], [], ""),
        (7, ["1", "2", "4"], [8], "clients=8 takes 8 tests at once"),
        (4, ["1", "2", "4"], [8], "clients=8 takes 8 tests at once"),
        (3, ["1", "2"], [4, 8], "clients=4 and clients=8 take up to 8 tests at once"),
        (1, ["1"], [2, 4, 8], "clients=2 and 2 more take up to 8 tests at once"),
    ],
)
def test_points_of_clients_above_the_limit_are_left_out_and_the_others_run(
    most: int, points: list[str], left: list[int], words: str
) -> None:
    found = lay_out(CLIENTS, "probe: played", most=most)
    swept = [each for each in found.rounds if each.swept is not None]
    assert list_points(found.rounds) == points
    assert [len(each.tests) for each in swept] == list(map(int, points))
    told = tuple(LeftOutPoint((("clients", str(each)),), each, most) for each in left)
    assert all(each.swept is not None and each.swept.left_out == told for each in swept)
    reason = f"a part of played over clients is not run: {words}, and the limit is --tests-at-once {most}"
    assert list_words(found) == ([reason] if left else [])
    assert [each.number for each in found.rounds] == list(range(1, len(found.rounds) + 1))


def test_every_repetition_of_a_point_that_may_run_is_there_in_each_order() -> None:
    down = lay_out("probe: played, sweep: {clients: [1, 2, 4]}, repeat: 2, order: down", most=2)
    assert list_points(down.rounds) == ["2", "2", "1", "1"]
    assert {each.swept.sweep for each in down.rounds if each.swept is not None} == {1}
    mixed = lay_out("probe: played, sweep: {clients: [1, 2, 4]}, repeat: 3, order: shuffled", most=2)
    assert sorted(list_points(mixed.rounds)) == ["1", "1", "1", "2", "2", "2"]


def test_of_several_axes_only_the_points_above_the_limit_are_left_out() -> None:
    found = lay_out("probe: played, sweep: {seconds: [5, 6], clients: [2, 4]}", most=3)
    assert list_points(found.rounds) == ["5 2", "6 2"]
    (words,) = list_words(found)
    assert "seconds=5 clients=4 and seconds=6 clients=4 take up to 4 tests at once" in words


def test_a_point_whose_elements_are_all_too_wide_is_left_out_alone() -> None:
    stage = "probe: iperf3, sweep: {design: [neighbours, trunks]}"
    whole = lay_out(stage, most=MOST_TESTS)
    bundles = [(bundle.name, each.tests) for each in whole.rounds for bundle in each.bundles]
    least = min(sum(test.bundle == name for test in tests) for name, tests in bundles)
    found = lay_out(stage, most=least - 1)
    assert set(list_points(found.rounds)) == {"neighbours"}
    (words,) = list_words(found)
    assert words.startswith("a part of iperf3 over design is not run: design=trunks takes ")


def test_a_sweep_of_which_no_point_may_run_is_left_out_whole() -> None:
    found = lay_out("probe: played, sweep: {clients: [2, 4]}", "probe: played", most=1)
    assert not list_points(found.rounds)
    (words,) = list_words(found)
    assert words == (
        "played over clients is not run: clients=2 and clients=4 take up to 4 tests at once, "
        "and the limit is --tests-at-once 1"
    )


@pytest.mark.parametrize("most", [1, 4, MOST_TESTS])
def test_clients_that_no_limit_keeps_apart_are_refused_as_without_one(most: int) -> None:
    with pytest.raises(PlanError, match="clients=2: expected at most 1 tests at once"):
        lay_out("probe: iperf3, bidir: 1, sweep: {clients: [1, 2]}", most=most)


BOTH = (
    'probe: played, nodes: "n[1-2]", at_once: both',
    'probe: iperf3, nodes: "n[1-4]", design: one-way, from: "n[3-4]", to: "n[1-2]", at_once: both',
)


def test_stages_at_once_are_left_out_together() -> None:
    found = lay_out(*BOTH, "probe: played", most=3)
    assert {each.stage for each in found.rounds} == {"played"}
    assert [words.partition(":")[0] for words in list_words(found)] == [
        "played is not run", "iperf3 one-way is not run"
    ]  # fmt: skip
    assert lay_out(*BOTH, most=4).left_out == ()


def test_stages_at_once_run_all_points_or_none() -> None:
    half = 'probe: played, nodes: "{nodes}", sweep: {{clients: [1, 4]}}, at_once: both'
    stages = half.format(nodes="n[1-4]"), half.format(nodes="n[5-8]")
    assert len(lay_out(*stages, most=8).rounds) == 2
    found = lay_out(*stages, "probe: played", most=3)
    assert {each.stage for each in found.rounds} == {"played"}
    (words,) = list_words(found)
    assert words.startswith("played over clients is not run: clients=4 takes 4 tests at once")


def test_where_nothing_else_is_left_the_plan_is_refused_with_the_reason() -> None:
    with pytest.raises(PlanError, match=r"nothing to run on the selected nodes; played over clients is not run"):
        lay_out("probe: played, sweep: {clients: [2, 4]}", most=1)
