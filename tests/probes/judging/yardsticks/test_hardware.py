"""How near a reported fact is to a declared one: at each bound, one step below it, one above it."""

from collections.abc import Sequence
from types import MappingProxyType

import pytest

from benchconsole.probes.api import Target, Unit
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.finding_text import make_hardware_finding
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.judging.yardsticks.hardware import is_as_declared
from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Level, Verdict
from benchconsole.probes.model.measuring import Fact, Result, Round, Test
from benchconsole.topology.model.fabric import Hardware, Node, NodeId, NodeRole
from benchconsole.topology.model.fact_rule import FactRule
from tests.probes.judging.rounds import star

GIB = 2.0**30


@pytest.mark.parametrize(
    ("name", "reported", "declared", "alike"),
    [
        ("memory.total", 0.93 * 128 * GIB, 128 * GIB, True),
        ("memory.total", 0.9299 * 128 * GIB, 128 * GIB, False),
        ("memory.total", 1.005 * 128 * GIB, 128 * GIB, True),
        ("memory.total", 1.0051 * 128 * GIB, 128 * GIB, False),
        ("disk.size", 980e9, 1e12, True),
        ("disk.size", 979.9e9, 1e12, False),
        ("disk.size", 1020e9, 1e12, True),
        ("disk.size", 1020.1e9, 1e12, False),
        ("cpu.sockets", 2.0, 2.0, True),
        ("cpu.sockets", 2.0000019, 2.0, True),
        ("cpu.sockets", 2.0000021, 2.0, False),
        ("cpu.sockets", "2", 2.0, True),
        ("cpu.sockets", "two", 2.0, False),
        ("cpu.model", " Xeon  E5 ", "xeon e5", True),
        ("cpu.model", "Xeon E5", "Xeon E7", False),
    ],
)
def test_a_fact_is_as_declared_within_what_rounding_and_the_kernel_take(
    name: str, reported: str | float, declared: str | float, alike: bool
) -> None:
    assert is_as_declared(name, reported, declared) is alike


TEN, ONE = 1.25e9, 0.125e9
FIRST, SECOND = (("nic", "eth0"),), (("nic", "eth1"),)
HERE = Fact("nic.address", "192.0.2.7", labels=SECOND)


@pytest.mark.parametrize(
    ("facts", "level"),
    [
        ([Fact("nic.speed", TEN, labels=FIRST)], Level.PASS),
        ([Fact("nic.speed", ONE, labels=FIRST)], Level.FAIL),
        ([Fact("nic.speed", ONE, labels=FIRST), Fact("nic.speed", TEN, labels=SECOND)], Level.PASS),  # one of them is
        ([Fact("nic.speed", ONE, labels=FIRST), Fact("nic.speed", TEN, labels=SECOND), HERE], Level.PASS),
        ([Fact("nic.speed", TEN, labels=FIRST), Fact("nic.speed", ONE, labels=SECOND), HERE], Level.FAIL),
        ([Fact("nic.speed", TEN, labels=FIRST), HERE], Level.PASS),  # the port of the tests told no speed
        ([Fact("nic.speed", TEN, labels=(*FIRST, ("nominal", "yes")))], Level.UNKNOWN),  # the port is virtual
        ([Fact("nic.speed", TEN, labels=(*FIRST, ("nominal", "no")))], Level.PASS),
        ([Fact("cpu.sockets", 2.0)], Level.UNKNOWN),
        ([Fact("nic.speed", TEN, labels=FIRST), HERE, Fact("nic.state", "down", labels=SECOND)], Level.FAIL),
        ([Fact("nic.speed", TEN, labels=FIRST), HERE, Fact("nic.state", "lowerlayerdown", labels=SECOND)], Level.FAIL),
        ([Fact("nic.speed", TEN, labels=FIRST), HERE, Fact("nic.link", "no", labels=SECOND)], Level.FAIL),
        ([Fact("nic.speed", TEN, labels=SECOND), HERE, Fact("nic.link", "no", labels=SECOND)], Level.FAIL),
        ([HERE, Fact("nic.link", "no", labels=SECOND)], Level.FAIL),
        ([Fact("nic.speed", TEN, labels=SECOND), HERE, Fact("nic.state", "unknown", labels=SECOND)], Level.PASS),
        ([Fact("nic.speed", TEN, labels=SECOND), HERE, Fact("nic.link", "no", labels=FIRST)], Level.PASS),
        (
            [Fact("nic.speed", TEN, labels=FIRST), Fact("nic.link", "no", labels=FIRST)],
            Level.PASS,
        ),  # which port, is open
    ],
)
def test_the_port_that_carries_the_tests_is_the_one_that_was_declared(facts: Sequence[Fact], level: Level) -> None:
    hardware = Hardware("b", MappingProxyType({"nic.speed": TEN}))
    node = Node(NodeId("n1"), NodeRole.COMPUTE, hardware, "192.0.2.1", "192.0.2.7")
    test = Test("t", "inventory", Target(node), 1)
    each = Round(1, "inventory", "inventory", (test,), 1.0, "")
    closed = ClosedRound(each, (Result(test, facts=tuple(facts)),), CloseReason.COMPLETE, 0.0, 1.0)
    (verdict,) = judge_round(JudgingContext(star(), {}), closed)
    assert verdict.level is level


@pytest.mark.parametrize(
    ("name", "because"),
    [
        (
            "memory.dimms",
            "declared, but the node does not report it: dmidecode tells it, and tells root only (option sudo: 1 of inventory)",
        ),
        ("cpu.sockets", "declared, but the node does not report it"),
    ],
)
def test_a_fact_that_only_root_is_told_is_missed_with_that_reason(name: str, because: str) -> None:
    (verdict,) = judge_declared({name: 8.0}, Fact("cpu.model", "Xeon"))
    assert (verdict.level, verdict.because) == (Level.UNKNOWN, because)


@pytest.mark.parametrize(
    ("declared", "reported", "means", "do"),
    [
        ({"nic.mtu": 9000.0}, 1500.0, "a setting is not", "change it on the node, or correct the class in the file"),
        (
            {"kernel.release": "6.1"},
            "5.10",
            "a setting is not",
            "change it on the node, or correct the class in the file",
        ),
        ({"cpu.sockets": 2.0}, 1.0, "the machine is not", "look at the hardware, or correct the class in the file"),
        (
            {"cpu.sockets": 2.0, "nic.mtu": 9000.0},
            1.0,
            "the machine is not",
            "look at the hardware, or correct the class in the file",
        ),
    ],
)
def test_a_setting_is_changed_and_a_part_is_looked_at(
    declared: dict[str, str | float], reported: str | float, means: str, do: str
) -> None:
    verdicts = judge_declared(declared, *(Fact(name, reported) for name in declared))
    parts = [((each.metric, each.text, each.expected_text), [each]) for each in verdicts]
    found = make_hardware_finding(["n1"], parts)
    assert found.means.startswith(means)
    assert found.do == do


def test_threads_and_cores_say_that_they_are_those_of_all_sockets() -> None:
    (verdict,) = judge_declared({"cpu.threads": 48.0}, Fact("cpu.threads", 24.0))
    assert (verdict.text, verdict.because) == ("24 over all sockets", "declared 48 over all sockets")


def judge_declared(declared: dict[str, str | float], *facts: Fact) -> Sequence[Verdict]:
    node = Node(NodeId("n1"), NodeRole.COMPUTE, Hardware("b", MappingProxyType(declared)), "192.0.2.1", "192.0.2.7")
    test = Test("t", "inventory", Target(node), 1)
    each = Round(1, "inventory", "inventory", (test,), 1.0, "")
    return judge_round(
        JudgingContext(star(), {}), ClosedRound(each, (Result(test, facts=facts),), CloseReason.COMPLETE, 0.0, 1.0)
    )


def tell_disk(name: str, disk: str, value: str | float) -> Fact:
    return Fact(name, value, labels=(("disk", disk),))


@pytest.mark.parametrize(
    ("sizes", "level", "said"),
    [
        ((8e12, 8e12, 8.1e12), Level.PASS, "as declared"),
        ((4e12, 4e12), Level.FAIL, "declared 8.00 TB"),
        ((8e12, 4e12, 8e12), Level.UNKNOWN, "as declared, but not of sdb (4.00 TB); say under facts"),
        ((8e12, *[480e9] * 6), Level.UNKNOWN, "sde (480 GB) and 2 more disks;"),
    ],
)
def test_a_disk_that_is_not_as_declared_among_others_that_are_is_no_pass(
    sizes: Sequence[float], level: Level, said: str
) -> None:
    facts = [tell_disk("disk.size", f"sd{letter}", size) for letter, size in zip("abcdefg", sizes, strict=False)]
    (verdict,) = judge_declared({"disk.size": 8e12}, *facts)
    assert verdict.level is level
    assert said in verdict.because


def test_a_disk_is_as_declared_where_one_of_its_sources_says_so() -> None:
    models = ["ST8000NM0055-1RM112", "ATA ST8000NM0055-1RM"]
    facts = [tell_disk("disk.model", disk, model) for disk in ("sda", "sdb") for model in models]
    (verdict,) = judge_declared({"disk.model": models[0]}, *facts)
    assert verdict.level is Level.PASS
    (other,) = judge_declared({"disk.model": models[0]}, *facts, tell_disk("disk.model", "sdc", "ST4000NM0035"))
    assert (other.level, "sdc (ST4000NM0035)" in other.because) == (Level.UNKNOWN, True)


@pytest.mark.parametrize(
    ("size", "level"), [(8.0016e12, Level.PASS), (480.1e9, Level.PASS), (8.2e12, Level.FAIL), (4e12, Level.FAIL)]
)
def test_a_size_among_several_that_are_asked_for_is_as_near_as_one_alone(size: float, level: Level) -> None:
    rules = {"disk.size": FactRule((8e12, 480e9), text="8 TB or 480 GB")}
    hardware = Hardware("b", rules=MappingProxyType(rules))
    node = Node(NodeId("n1"), NodeRole.COMPUTE, hardware, "192.0.2.1", "192.0.2.7")
    test = Test("t", "inventory", Target(node), 1)
    each = Round(1, "inventory", "inventory", (test,), 1.0, "")
    facts = (tell_disk("disk.size", "sda", 8e12), tell_disk("disk.size", "sdb", size))
    closed = ClosedRound(each, (Result(test, facts=facts),), CloseReason.COMPLETE, 0.0, 1.0)
    (verdict,) = judge_round(JudgingContext(star(), {}), closed)
    assert verdict.level is level, verdict.because


def test_the_number_of_disks_is_of_no_disk() -> None:
    (verdict,) = judge_declared({"disk.count": 12.0}, Fact("disk.count", 12.0))
    assert verdict.level is Level.PASS


@pytest.mark.parametrize(("fact", "verdicts"), [("inventory.seconds", 0), ("nic.speed", 1)])
def test_a_node_that_told_nothing_of_its_hardware_is_not_held_against_it(fact: str, verdicts: int) -> None:
    hardware = Hardware("b", MappingProxyType({"nic.speed": TEN}))
    node = Node(NodeId("n1"), NodeRole.COMPUTE, hardware, "192.0.2.1", "192.0.2.7")
    test = Test("t", "inventory", Target(node), 1)
    each = Round(1, "inventory", "inventory", (test,), 1.0, "")
    closed = ClosedRound(each, (Result(test, facts=(Fact(fact, TEN),)),), CloseReason.COMPLETE, 0.0, 1.0)
    assert len(judge_round(JudgingContext(star(), {}), closed)) == verdicts


@pytest.mark.fault("F18c")
def test_a_data_port_without_a_link_is_said_to_be_down_and_the_speed_of_another_port_is_not_its_own() -> None:
    hardware = Hardware("b", MappingProxyType({"nic.speed": TEN, "cpu.sockets": 2.0}))
    node = Node(NodeId("n1"), NodeRole.COMPUTE, hardware, "192.0.2.1", "192.0.2.7")
    test = Test("t", "inventory", Target(node), 1)
    facts = (
        Fact("nic.speed", 2 * TEN, labels=FIRST), Fact("cpu.sockets", 2.0), HERE, Fact("nic.link", "no", labels=SECOND),
    )  # fmt: skip
    each = Round(1, "inventory", "inventory", (test,), 1.0, "")
    closed = ClosedRound(each, (Result(test, facts=facts),), CloseReason.COMPLETE, 0.0, 1.0)
    speed, sockets = judge_round(JudgingContext(star(), {}), closed)
    assert (speed.text, speed.expected_text) == ("eth1 down", "10.0 Gb/s")
    assert speed.because == "the data address 192.0.2.7 is not up: eth1 has no link; declared 10.0 Gb/s"
    assert sockets.level is Level.PASS


PORTS = [Fact("nic.address", "192.0.2.7", labels=SECOND)]


@pytest.mark.parametrize(
    ("rule", "facts", "level"),
    [
        (FactRule((10000.0,), text="10000"), [Fact("nic.txqueuelen", 10000.0, labels=SECOND), *PORTS], Level.PASS),
        (FactRule((10000.0,), text="10000"), [Fact("nic.txqueuelen", 1000.0, labels=SECOND), *PORTS], Level.FAIL),
        # the port of the tests counts, where it is known
        (
            FactRule((10000.0,), text="10000"),
            [Fact("nic.txqueuelen", 1000.0, labels=FIRST), Fact("nic.txqueuelen", 10000.0, labels=SECOND), *PORTS],
            Level.PASS,
        ),
        (
            FactRule((10000.0,), text="10000"),
            [Fact("nic.txqueuelen", 1000.0, labels=FIRST), Fact("nic.txqueuelen", 10000.0, labels=SECOND)],
            Level.UNKNOWN,
        ),
        (
            FactRule((10000.0,), text="10000"),
            [Fact("nic.txqueuelen", 1000.0, labels=FIRST), Fact("nic.txqueuelen", 500.0, labels=SECOND)],
            Level.FAIL,
        ),
        (FactRule((10000.0,), text="10000"), [Fact("cpu.sockets", 2.0)], Level.UNKNOWN),
    ],
)
def test_a_rule_on_a_fact_is_met_by_every_value_that_counts(
    rule: FactRule, facts: Sequence[Fact], level: Level
) -> None:
    (verdict,) = judge_rules({"nic.txqueuelen": rule}, facts)
    assert (verdict.level, verdict.expected_text) == (level, "10000")


@pytest.mark.parametrize(
    ("rule", "told", "level", "because"),
    [
        (FactRule(("8.10",), text="8.10"), "8.1", Level.FAIL, "asked 8.10"),
        (FactRule(("8.10",), text="8.10"), "8.10", Level.PASS, "as asked"),
        (FactRule((8.1,), text="8.1"), "8.10", Level.UNKNOWN, "asked 8.1: put what is meant in quotes"),
        (FactRule((8.1,), text="8.1"), "8.1", Level.PASS, "as asked"),
        (
            FactRule(at_least=5.1, text="at least 5.10"),
            "5.9",
            Level.UNKNOWN,
            "no bound can be held against such a text",
        ),
        (FactRule(at_most=5000.0, text="at most 5000"), "4560 RPM", Level.UNKNOWN, "no bound can be held"),
        (FactRule(at_least=4096.0, text="at least 4096"), "1024", Level.FAIL, "asked at least 4096"),
    ],
)
def test_a_version_is_no_decimal_number(rule: FactRule, told: str, level: Level, because: str) -> None:
    (verdict,) = judge_rules({"os.version": rule}, [Fact("os.version", told)])
    assert verdict.level is level
    assert because in verdict.because


def test_one_of_two_governors_is_not_enough() -> None:
    facts = [Fact("cpu.governor", "performance"), Fact("cpu.governor", "powersave")]
    (verdict,) = judge_rules({"cpu.governor": FactRule(("performance",), text="performance")}, facts)
    assert (verdict.level, verdict.text, verdict.because) == (Level.FAIL, "powersave", "asked performance")


def judge_rules(rules: dict[str, FactRule], facts: Sequence[Fact]) -> Sequence[Verdict]:
    hardware = Hardware("b", rules=MappingProxyType(rules))
    node = Node(NodeId("n1"), NodeRole.COMPUTE, hardware, "192.0.2.1", "192.0.2.7")
    test = Test("t", "inventory", Target(node), 1)
    each = Round(1, "inventory", "inventory", (test,), 1.0, "")
    closed = ClosedRound(each, (Result(test, facts=tuple(facts)),), CloseReason.COMPLETE, 0.0, 1.0)
    return judge_round(JudgingContext(star(), {}), closed)


@pytest.mark.parametrize(
    ("free", "level", "because"),
    [
        (3e12, Level.PASS, "as asked"),
        (2.9e12, Level.FAIL, "asked at least 3 TB"),
        (None, Level.UNKNOWN, "does not report"),
    ],
)
def test_a_rule_speaks_of_the_parts_that_it_names(free: float | None, level: Level, because: str) -> None:
    """The room of the root file system is not meant."""
    rule = FactRule(at_least=3e12, text="at least 3 TB", where=(("mount", "/data"),))
    facts = [Fact("fs.available", 1e9, Unit.BYTE, (("mount", "/"),))]
    facts += [] if free is None else [Fact("fs.available", free, Unit.BYTE, (("mount", "/data"),))]
    (verdict,) = judge_rules({"fs.available mount=/data": rule}, facts)
    assert (verdict.metric, verdict.labels, verdict.level) == ("fs.available", (("mount", "/data"),), level)
    assert verdict.text == {3e12: "3.00 TB", 2.9e12: "2.90 TB", None: ""}[free]
    assert because in verdict.because
