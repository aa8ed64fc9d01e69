"""The facts that simulated nodes tell of themselves, read by the real inventory and held against their class."""

import re
from collections.abc import Mapping

import pytest

from benchconsole.console.simulator.inventory import SOURCES
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.yardsticks import hardware
from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Level, Verdict
from benchconsole.probes.model.measuring import Fact, Output, Result, Round, Target, Test
from benchconsole.probes.tools.inventory.probe import Inventory
from benchconsole.probes.tools.inventory.script import SCRIPT
from benchconsole.topology.model.fabric import Fabric, NodeId
from tests.console.simulator.conftest import Simulate


async def survey(simulate: Simulate, fabric: Fabric, scenario: str, name: str) -> tuple[Fact, ...]:
    node, probe = fabric.nodes[NodeId(name)], Inventory()
    argv = tuple(probe.command(Target(node)))
    reply = await simulate(scenario).answer(node.address, argv, b"")
    return tuple(probe.parse(Output(argv, reply.stdout, reply.stderr, reply.exit_status)))


async def verdicts(simulate: Simulate, fabric: Fabric, scenario: str, name: str) -> Mapping[str, Verdict]:
    facts = await survey(simulate, fabric, scenario, name)
    test = Test("t", "inventory", Target(fabric.nodes[NodeId(name)]), 0)
    asked = Round(0, "inventory", "inventory", (test,), 1.0, "")
    closed = ClosedRound(asked, (Result(test, facts=facts),), CloseReason.COMPLETE, 0.0, 1.0)
    return {verdict.metric: verdict for verdict in hardware.give_verdicts(JudgingContext(fabric, {}), closed)}


def test_every_source_of_the_script_is_answered_in_its_order() -> None:
    asked = [line.split()[1] for line in SCRIPT.splitlines() if re.match(r"answer [a-z-]+ \S", line)]
    perhaps = [line.split()[1] for line in SCRIPT.splitlines() if re.match(r"perhaps [a-z-]+ \S", line)]
    absent = ["ibstat", "perfquery", "storcli", "omreport"]
    assert list(SOURCES) == asked + [name for name in perhaps if name not in absent]
    assert set(absent) < set(perhaps)


@pytest.mark.parametrize("name", ["n001", "n128", "st1", "mgmt2"])
async def test_a_healthy_node_is_as_declared(fabric: Fabric, simulate: Simulate, name: str) -> None:
    found = await verdicts(simulate, fabric, "healthy", name)
    assert found.keys() == fabric.nodes[NodeId(name)].hardware.facts.keys()
    assert {verdict.level for verdict in found.values()} == {Level.PASS}


async def test_every_source_tells_something(fabric: Fabric, simulate: Simulate) -> None:
    told = {fact.fact.partition(".")[0] for fact in await survey(simulate, fabric, "healthy", "n001")}
    hardware = {"bios", "bmc", "cpu", "disk", "kernel", "memory", "nic", "numa", "os", "sensor", "system", "virt"}
    software = {"fc", "gcc", "irqbalance", "module", "mpi", "tuned"}
    assert told == hardware | software | {"fs", "irq", "lldp", "softirq", "sysctl"}


async def test_a_storage_server_says_how_it_is_set_up(fabric: Fabric, simulate: Simulate) -> None:
    facts = await survey(simulate, fabric, "healthy", "st1")
    told = {(fact.fact, *(value for _, value in fact.labels)): fact.value for fact in facts}
    disks = [f"sd{letter}" for letter in "abcdefghijklmn"]
    assert [told["disk.health", disk] for disk in disks] == ["passed"] * 14
    assert told["raid.members", "md0"] == "12/12 UUUUUUUUUUUU"
    assert told["fs.size", "/scratch"] == told["raid.size", "md0"] == 10 * 3_998_614_552_576
    assert told["fs.device", "/scratch"] == "/dev/md0"
    assert told["virt.machine",] == "bare metal"
    assert (told["irq.affinity", "ens1f0"], told["irq.vectors", "ens1f0"]) == ("0..23", 24.0)
    assert told["softirq.ksoftirqd_time",] == sum(cpu % 7 for cpu in range(24))
    assert told["sensor.fan", "Fan1A"] == "4680 RPM"


async def test_a_missing_dimm_shows_twice_and_nothing_else_does(fabric: Fabric, simulate: Simulate) -> None:
    found = await verdicts(simulate, fabric, "default", "n021")
    assert {metric for metric, verdict in found.items() if verdict.level is not Level.PASS} == {
        "memory.total",
        "memory.dimms",
    }
    assert found["memory.dimms"].text == "7"


async def test_nodes_differ_where_machines_do(fabric: Fabric, simulate: Simulate) -> None:
    def serial(facts: tuple[Fact, ...]) -> set[object]:
        return {fact.value for fact in facts if fact.fact in ("system.serial", "nic.mac")}

    first = serial(await survey(simulate, fabric, "healthy", "n001"))
    second = serial(await survey(simulate, fabric, "healthy", "n002"))
    assert len(first) == len(second) == 2
    assert first.isdisjoint(second)


async def test_a_hostile_node_is_read_and_believed_in_nothing(fabric: Fabric, simulate: Simulate) -> None:
    found = await verdicts(simulate, fabric, "hostile", "n005")
    assert found["cpu.model"].level is Level.FAIL
    facts = await survey(simulate, fabric, "hostile", "n005")
    words = " ".join(str(fact.value) for fact in facts)
    for poison in ("[bold red]", "<script>", "=HYPERLINK", "�"):
        assert poison in words
