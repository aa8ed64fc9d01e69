"""Detectable faults of a run, in sentences: the words of each kind, and those of shipped and plain machines in full."""

from importlib.resources import files
from pathlib import Path

import pytest

from benchconsole import topology
from benchconsole.console.session.round_judging import make_judging_context
from benchconsole.console.view.detectable_text import list_detectable_sentences
from benchconsole.probes.judging.detectable_loss import list_planned_losses
from benchconsole.probes.model.detectable_loss import DetectableLoss, Fault
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.suites import find_suite
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric
from tests.probes.judging.rounds import star

PROBES = load_probes(safe_mode=True).probes

LEAF_SPINE = """\
schema: 1
fabric: leafspine
network: {mtu: 9000}
switches: {"leaf[1-4]": {role: leaf}, "spine[1-4]": {role: spine}}
nodes: {"a[1-16]": {}, "b[1-16]": {}, "c[1-16]": {}, "d[1-16]": {}}
links:
  - {from: "a[1-16]", to: leaf1, speed: 25G}
  - {from: "b[1-16]", to: leaf2, speed: 25G}
  - {from: "c[1-16]", to: leaf3, speed: 25G}
  - {from: "d[1-16]", to: leaf4, speed: 25G}
  - {from: "leaf[1-4]", to: "spine[1-4]", speed: 40G, count: 2}
"""

NEVER_HERE = "only where the file says `hash: steered` can `--suite lag` test a member by itself"


def jetstream(policy: str = "unknown") -> Fabric:
    path = Path(str(files("benchconsole.topology") / "examples/jetstream.yaml"))
    found = topology.load(path)
    return load_text(found.text.replace("hash: unknown", f"hash: {policy}"), "jetstream.yaml")


def say(described: Fabric, suite: str) -> list[str]:
    rounds = plan(described, find_suite(described, suite), PROBES)
    losses = list_planned_losses(make_judging_context(described, PROBES), rounds)
    return list(list_detectable_sentences(described, losses, suite, is_planned=True))


def test_the_default_suite_on_jetstream_sees_a_lost_member_and_not_a_slow_one() -> None:
    assert say(jetstream(), "default") == [
        "any NIC below 80 % one way and a lost leg of any bond would be seen",
        "a lost member of 2 would not be seen at 4 of 104",  # to the DMZ, where no node is
        "a switch at half speed would not be seen at 1 of 48",
        "slow links of an MLAG pair would not be seen at 2 of 52, at the others below 80 % one way",
        "a slow link between switches would not be seen at 4 of 104, at the others below 60 % one way",
        f"a member of 2 at half speed would not be seen: {NEVER_HERE}",
    ]


def test_the_suite_for_lags_sees_slow_members_where_tests_can_be_steered() -> None:
    assert "a member of 2 at half speed would not be seen at 4 of 104" in say(jetstream("steered"), "lag")
    assert "a member of 2 at half speed would not be seen" in say(jetstream(), "lag")


def test_a_plain_leaf_and_spine_says_that_one_of_eight_cables_is_never_seen() -> None:
    assert say(load_text(LEAF_SPINE, "leafspine.yaml"), "default") == [
        "any NIC below 80 % one way and any link between switches below 20 % one way would be seen",
        "a switch at half speed would not be seen at 4 of 8",
        f"a lost member of 2 would not be seen: {NEVER_HERE}",
        f"a member of 2 at half speed would not be seen: {NEVER_HERE}",
    ]


@pytest.mark.parametrize(
    ("losses", "said"),
    [
        ((), []),
        (
            (DetectableLoss(Fault.NIC, 4, 4, 0.2), DetectableLoss(Fault.MEMBER_LOST, 2, 2, 0.25, 4)),
            ["any NIC below 80 % one way and a lost member of any LAG would have been seen"],
        ),
        (
            (DetectableLoss(Fault.NIC, 4, 3, 0.2), DetectableLoss(Fault.SWITCH_HALF, 2, 0, None)),
            [
                "a switch at half speed would not have been seen",
                "a slow NIC would not have been seen at 1 of 4, at the others below 80 % one way",
            ],
        ),
        (
            tuple(DetectableLoss(fault, 2, 2, 0.5, 2) for fault in (Fault.NIC, Fault.LEG_LOST, Fault.SWITCH_HALF)),
            ["any NIC below 50 % one way, a lost leg of any bond and any switch at half speed would have been seen"],
        ),
    ],
)
def test_what_is_seen_everywhere_stands_first_then_the_rest_the_shortest_first(
    losses: tuple[DetectableLoss, ...], said: list[str]
) -> None:
    assert list(list_detectable_sentences(star(), losses, "default")) == said


@pytest.mark.parametrize(
    ("policy", "suite", "seen", "advice"),
    [
        ("unknown", "default", 0, f": {NEVER_HERE}"),
        ("steered", "default", 0, ": run `--suite lag`, with `--dry-run` it says what it sees"),
        ("steered", "lag", 0, ""),
        ("unknown", "lag", 0, ""),
        ("steered", "default", 1, " at 3 of 4"),
    ],
)
def test_a_suite_is_named_where_it_may_see_more(policy: str, suite: str, seen: int, advice: str) -> None:
    losses = (DetectableLoss(Fault.MEMBER_HALF, 4, seen, 0.125 if seen else None, 4),)
    (said,) = list_detectable_sentences(jetstream(policy), losses, suite)
    assert said == f"a member of 4 at half speed would not have been seen{advice}"
