"""Judges what a node says of itself against what its class is declared to have.

A declared fact that the node does not report is unknown, never passed.
"""

from collections.abc import Iterator, Sequence

from probes.judging.bench import Bench
from probes.judging.verdict import Kind, Level, Verdict
from probes.model import ClosedRound, Fact, Result
from topology.units import disk_size, memory_size, network_rate

KERNEL_KEEPS = 0.07
"""Share of the installed memory that firmware and kernel may keep for themselves."""


def verdicts(bench: Bench, closed: ClosedRound) -> Iterator[Verdict]:
    """One verdict for each declared fact of each node that told of itself in this round.

    Facts called after their probe (``traceroute.hop``) are about a test, not about what a node is made of.
    """
    for result in closed.results:
        if any(not fact.fact.startswith(f"{result.test.probe}.") for fact in result.facts):
            for name, declared in result.test.target.node.hardware.facts.items():
                yield _judge(result, name, declared)


def _judge(result: Result, name: str, declared: str | float) -> Verdict:
    told = _relevant(result.facts, name, result.test.target.node.data_address)
    wanted = words(name, declared)
    if not told:
        level, because, text = Level.UNKNOWN, "declared, but the node does not report it", ""
    else:
        values = list(dict.fromkeys(fact.value for fact in told))
        matching = [value for value in values if same(name, value, declared)]
        text = ", ".join(words(name, value) for value in (matching or values)[:4])
        level = Level.PASS if matching else Level.FAIL
        because = "as declared" if matching else f"declared {wanted}"
    test = result.test
    return Verdict(
        test=test.id,
        round=test.round,
        probe=test.probe,
        subject=test.target.node.id,
        nodes=(test.target.node.id,),
        metric=name,
        labels=(),
        level=level,
        kind=Kind.HARDWARE,
        because=because,
        text=text,
        expected_text=wanted,
        source=f"class {test.target.node.hardware.name}",
    )


def _relevant(facts: Sequence[Fact], name: str, address: str) -> list[Fact]:
    """The facts called ``name``; of several ports only the one that carries the test traffic, if known.

    The speed that a virtual port names (``nominal``) says nothing and counts as not reported.
    """
    told = [fact for fact in facts if fact.fact == name and ("nominal", "yes") not in fact.labels]
    ports = {dict(fact.labels).get("nic") for fact in facts if fact.fact == "nic.address" and fact.value == address}
    carrying = [fact for fact in told if dict(fact.labels).get("nic") in ports]
    return carrying or told


def same(name: str, told: str | float, declared: str | float) -> bool:
    """Whether a told value is what was declared: memory less what the kernel keeps, text by its words."""
    if isinstance(declared, float) or isinstance(told, float):
        try:
            here, there = float(told), float(declared)
        except ValueError:
            return False
        if name == "memory.total":
            return there * (1 - KERNEL_KEEPS) <= here <= there * 1.005
        if name == "disk.size":
            return abs(here - there) <= 0.02 * there
        return abs(here - there) <= 1e-6 * abs(there)
    return " ".join(str(told).split()).casefold() == " ".join(str(declared).split()).casefold()


def words(name: str, value: str | float) -> str:
    """A fact for people: memory in GiB, ports in Gb/s, disks in TB, counts as they are."""
    if isinstance(value, str):
        return value
    if name == "nic.speed":
        return network_rate(value)
    if name == "disk.size":
        return disk_size(value)
    if name.startswith("memory.") and name != "memory.dimms":
        return memory_size(value)
    return f"{value:g}"
