"""Stages that run at once: one round for each of theirs, one bundle, and refusals where they are no match."""

import pytest

from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.planning.plan_rounds import plan, rerun, split_into_waves
from benchconsole.probes.planning.plan_summary import summarise
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, NodeId

PROBES = load_probes().probes

HEAD = """\
schema: 1
fabric: two clusters
switches: {sw: {role: leaf}}
nodes:
  "a[1-4]": {address: "10.0.0.[1-4]"}
  "b[1-3]": {address: "10.0.0.[11-13]"}
  st1: {role: storage, address: 10.0.0.20}
links: [{from: "a[1-4],b[1-3],st1", to: sw, speed: 10 Gb/s}]
storage: {lake: {size: 100 TB, free: 50 %, servers: st1, clients: {all: {nodes: "a[1-4],b[1-3]"}}}}
suites:
  both:
"""
BOTH = (
    'probe: ior, nodes: "a[1-4]", shared: lake, slots: 2, at_once: both',
    'probe: ior, nodes: "b[1-3]", shared: lake, slots: 1, at_once: both',
)


def describe(*stages: str) -> Fabric:
    return load_text(HEAD + "".join(f"    - {{{stage}}}\n" for stage in stages), "both.yaml")


def make(*stages: str, nodes: str = "", most: int = 100) -> tuple[Round, ...]:
    described = describe(*stages)
    chosen = [NodeId(name) for name in nodes.split()] or None
    return plan(described, described.suites["both"], PROBES, nodes=chosen, most=most)


def test_two_sets_are_one_round_and_one_bundle() -> None:
    before, both, after = make("probe: stream, nodes: a1", *BOTH, "probe: stream, nodes: b1")
    assert [test.target.key for test in both.tests] == ["a[1-4]", "b[1-3]"]
    assert {test.bundle for test in both.tests} == {"both"}
    assert [test.target.options["slots"] for test in both.tests] == [2, 1]
    assert [each.number for each in (before, both, after)] == [1, 2, 3]
    assert [test.id.split("/")[:3] for test in both.tests] == [["0002", "ior", "0000"], ["0002", "ior", "0001"]]
    assert {test.round for test in both.tests} == {2}
    assert both.stage == "ior (both)"
    assert "at once" in both.because


def test_the_summary_does_not_take_what_is_shared_on_purpose_for_a_bound_of_two_rounds() -> None:
    rounds = make(*BOTH)
    assert summarise(describe(*BOTH), rounds, PROBES).total.bound == 1


def test_the_points_of_equal_sweeps_are_at_once() -> None:
    rounds = make(*(f"{each}, sweep: {{block: [1 MiB, 2 MiB]}}, repeat: 2" for each in BOTH))
    points = [(each.swept.point, each.swept.repetition) for each in rounds if each.swept is not None]
    assert points == [((("block", value),), turn) for value in ("1 MiB", "2 MiB") for turn in (1, 2)]
    assert all({test.target.options["block"] for test in each.tests} == {dict(point)["block"]}
               for each, (point, _) in zip(rounds, points, strict=True))  # fmt: skip
    assert [len(each.tests) for each in rounds] == [2, 2, 2, 2]


def test_a_later_stage_of_the_same_name_is_told_apart() -> None:
    rounds = make(
        *BOTH, "probe: stream, nodes: a1", *(each.replace("at_once: both", "at_once: again") for each in BOTH)
    )
    assert [each.stage for each in rounds] == ["ior (both)", "stream", "ior (again)"]


@pytest.mark.parametrize(
    ("stages", "nodes", "most", "said"),
    [
        (BOTH, "a1 a2 a3 a4", 100, "found 1 and 0 rounds on the selected nodes"),
        (BOTH, "", 1, "found 2 tests, expected at most 1 at once"),
        (('probe: iperf3, nodes: "a[1-4]", at_once: x', 'probe: iperf3, nodes: "b[1-3]", at_once: x'), "", 100,
         "tests two nodes"),
    ],
)  # fmt: skip
def test_what_is_no_match_on_the_selected_nodes_is_refused(
    stages: tuple[str, ...], nodes: str, most: int, said: str
) -> None:
    with pytest.raises(PlanError, match=said):
        make(*stages, nodes=nodes, most=most)


def test_a_selection_without_any_of_them_leaves_them_out() -> None:
    assert [each.stage for each in make("probe: stream, nodes: st1", *BOTH, nodes="st1")] == ["stream"]


UNLIKE = (
    'probe: fio, nodes: "a[1-4]", at_once: both',
    'probe: iperf3, nodes: "a[1-4]", design: one-way, from: "a[1-2]", to: "a[3-4]", at_once: both',
)


def test_stages_of_two_probes_are_one_round_whose_tests_keep_their_probe() -> None:
    _, both, after = make("probe: stream, nodes: a1", *UNLIKE, "probe: stream, nodes: b1")
    assert (both.probe, both.probes, both.is_mixed, after.is_mixed) == ("fio+iperf3", ("fio", "iperf3"), True, False)
    assert [(test.probe, test.target.key) for test in both.tests] == [
        ("fio", "a1"), ("fio", "a2"), ("fio", "a3"), ("fio", "a4"), ("iperf3", "a1>a3"), ("iperf3", "a2>a4"),
    ]  # fmt: skip
    assert {test.bundle for test in both.tests if test.probe == "fio"} == {""}
    assert {test.probe for test in both.firsts} == {"fio", "iperf3"}
    assert (both.stage, both.number, after.number) == ("fio + iperf3 one-way (both)", 2, 3)
    assert both.seconds == max(PROBES[test.probe].estimate(test.target.options) for test in both.tests)


def test_two_sets_of_one_probe_beside_another_are_a_bundle_of_their_own() -> None:
    (both,) = make(*BOTH, UNLIKE[1])
    assert [(test.probe, test.bundle) for test in both.tests] == [
        ("ior", "both"), ("ior", "both"), ("iperf3", ""), ("iperf3", ""),
    ]  # fmt: skip


def test_a_round_of_two_probes_is_repeated_resumed_and_widened_as_a_whole() -> None:
    (both,) = make(*UNLIKE)
    assert not both.is_resumable
    (again,) = rerun(both.tests[:1], [both], first=7)
    assert [test.id for test in again.tests] == [f"0007{test.id[4:]}" for test in both.tests]
    (wave,) = split_into_waves([both])
    assert wave == both


def test_its_summary_counts_the_time_once_and_what_each_probe_writes() -> None:
    described = describe(*UNLIKE)
    (both,) = rounds = make(*UNLIKE)
    total = summarise(described, rounds, PROBES).total
    alone = UNLIKE[0].removesuffix(", at_once: both")
    writes = summarise(describe(alone), make(alone), PROBES).total.writes
    assert (total.rounds, total.tests, total.seconds, total.writes) == (1, 6, both.seconds, writes)
    assert writes > 0


def test_the_caps_of_a_file_refuse_two_probes_at_once() -> None:
    text = HEAD + "".join(f"    - {{{stage}}}\n" for stage in UNLIKE) + "caps: {link: 50 %}\n"
    described = load_text(text, "both.yaml")
    with pytest.raises(PlanError, match=r"fio and iperf3 at once where loads are capped, expected one after the other"):
        plan(described, described.suites["both"], PROBES)
