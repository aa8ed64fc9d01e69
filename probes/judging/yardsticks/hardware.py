"""Judges what a node says of itself against what its class is declared to have.

A declared fact that the node does not report is unknown, never passed.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property, lru_cache

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.model.judgement import ClosedRound, Level, Verdict, Yardstick
from benchconsole.probes.model.load import PREFIX
from benchconsole.probes.model.measuring import Fact, Labels, Result
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.model.fact_rule import FactRule
from benchconsole.topology.units import Shown, Unit, disk_size, memory_size, network_rate, show

DOWN = frozenset((("nic.state", "down"), ("nic.state", "lowerlayerdown"), ("nic.link", "no")))
"""Facts of a port that carries nothing."""

KERNEL_KEEPS = 0.07
"""Share of the installed memory that firmware and kernel may keep for themselves."""

MEMORY_ABOVE = 0.005
"""Share of the declared memory by which a node may report more: sizes are rounded where they are declared."""

DISK_NEAR = 0.02
"""Share of its declared size by which a disk may differ: makers and tools round capacities."""

_DIMMS_UNTOLD = ": dmidecode tells it, and tells root only (option sudo: 1 of inventory)"

NUMBER_NEAR = 1e-6
"""Share by which any other number may differ: that of writing it as text and reading it back."""


def tells_of_node(probe: str, names: Iterable[str]) -> bool:
    """Whether the facts with these ``names`` say what a node is made of.

    Facts called after their probe (``traceroute.hop``), and those of load, are about a test.
    """
    return any(not name.startswith((f"{probe}.", PREFIX)) for name in names)


def give_verdicts(context: JudgingContext, closed: ClosedRound) -> Iterator[Verdict]:
    """One verdict for each declared fact of each node that reported of itself in this round."""
    for result in closed.results:
        hardware = result.test.target.node.hardware
        if not (hardware.facts or hardware.rules):
            continue
        told = _Told(result)
        if tells_of_node(result.test.probe, told.by_name):
            for name, declared in hardware.facts.items():
                yield _judge(told, name, declared)
            for key, rule in hardware.rules.items():
                yield _judge_rule(told, key.split()[0], rule)


class _Told:
    """The facts that a node told, by name, and the ports of its data address."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self.address = result.test.target.node.data_address
        self.by_name = group_by_key((fact.fact, fact) for fact in result.facts)

    @cached_property
    def ports(self) -> Set[str | None]:
        """The ports that carry the address."""
        return {
            dict(fact.labels).get("nic") for fact in self.by_name.get("nic.address", ()) if fact.value == self.address
        }

    @cached_property
    def down(self) -> str:
        """The port that carries the address, where every such port is known to have no link; else empty."""
        every = (fact for name, value in DOWN for fact in self.by_name.get(name, ()) if fact.value == value)
        down = {dict(fact.labels).get("nic") for fact in every}
        return ", ".join(sorted(filter(None, self.ports))) if self.ports and self.ports <= down else ""

    def list_relevant(self, name: str, where: Labels = ()) -> Sequence[Fact]:
        """The facts called ``name`` with the labels ``where``; of several ports only the one that carries the test
        traffic, if known.

        The speed that a virtual port names (``nominal``) says nothing and counts as not reported.
        """
        spoken = (fact for fact in self.by_name.get(name, ()) if set(where) <= set(fact.labels))
        reported = [fact for fact in spoken if ("nominal", "yes") not in fact.labels]
        return [fact for fact in reported if dict(fact.labels).get("nic") in self.ports] or reported


def _judge(told: _Told, name: str, declared: str | float) -> Verdict:
    reported = told.list_relevant(name)
    wanted = format_hardware(name, declared)
    down = told.down if name.startswith("nic.") else ""
    if down:
        address = told.address
        because = f"the data address {address} is not up: {down} has no link; declared {wanted}"
        level, text = Level.FAIL, f"{down} down"
    elif not reported:
        level, because, text = Level.UNKNOWN, "declared, but the node does not report it", ""
        because += _DIMMS_UNTOLD if name == "memory.dimms" else ""
    else:
        values = list(dict.fromkeys(fact.value for fact in reported))
        matching = [value for value in values if is_as_declared(name, value, declared)]
        text = ", ".join(format_hardware(name, value) for value in (matching or values)[:4])
        level = Level.PASS if matching else Level.FAIL
        because = "as declared" if matching else f"declared {wanted}"
        others = _list_other_disks(reported, name, declared) if matching else []
        if others:
            level, because = Level.UNKNOWN, f"as declared, but not of {', '.join(others[:4])}"
            because += f" and {len(others) - 4:,} more disks" if len(others) > 4 else ""
            because += f"; say under facts of the class what else there is: {name}: [{wanted}, ...]"
    return _make_verdict(told.result, name, level, because, text, wanted)


def _list_other_disks(reported: Sequence[Fact], name: str, declared: str | float) -> list[str]:
    """The disks that are not as declared, each with what it is, where others are: ``sdc (4.00 TB)``.

    Sources write one model in several ways: a disk is as declared where one of them tells it so.
    """
    disks = group_by_key((dict(fact.labels)["disk"], fact.value) for fact in reported if "disk" in dict(fact.labels))
    return [
        f"{disk} ({format_hardware(name, values[0])})"
        for disk, values in disks.items()
        if not any(is_as_declared(name, value, declared) for value in values)
    ]


def _judge_rule(told: _Told, name: str, rule: FactRule) -> Verdict:
    """Every value of the fact must be asked for: of a port, those of the ports of the data address, where known."""
    reported = told.list_relevant(name, rule.where)
    values = list(dict.fromkeys(fact.value for fact in reported))
    wrong = [value for value in values if not _is_asked(rule, name, value)]
    unit_of = {fact.value: fact.unit for fact in reported}
    text = ", ".join(format_hardware(name, value, unit_of[value]) for value in (wrong or values)[:4])
    if not values:
        level, because = Level.UNKNOWN, "asked for, but the node does not report it"
    elif not wrong:
        level, because = Level.PASS, "as asked"
    elif len(wrong) < len(values) and name.startswith("nic.") and not told.ports:
        level, because = Level.UNKNOWN, f"of some ports only, and none is known to carry tests; asked {rule.text}"
    elif all(map(rule.leaves_open, wrong)):
        remedy = "put what is meant in quotes" if rule.values else "no bound can be held against such a text"
        level, because = Level.UNKNOWN, f"a text that may be meant or not; asked {rule.text}: {remedy}"
    else:
        level, because = Level.FAIL, f"asked {rule.text}"
    return _make_verdict(told.result, name, level, because, text, rule.text, rule.where)


def _is_asked(rule: FactRule, name: str, value: str | float) -> bool:
    """Whether a rule asks for a value; of sizes as near as where they are declared by themselves."""
    is_size = isinstance(value, float)
    return rule.accepts(value) or (is_size and any(is_as_declared(name, value, each) for each in rule.values))


def _make_verdict(
    result: Result, name: str, level: Level, because: str, text: str, wanted: str, where: Labels = ()
) -> Verdict:
    test, wanted = result.test, sys.intern(wanted)  # every node of a class is asked for the same
    return Verdict(
        test=test.id,
        round=test.round,
        probe=test.probe,
        subject=test.target.node.id,
        nodes=_make_nodes(test.target.node.id),
        metric=name,
        labels=where,
        level=level,
        kind=Yardstick.HARDWARE,
        because=because,
        text=wanted if text == wanted else text,
        expected_text=wanted,
        source=sys.intern(f"class {test.target.node.hardware.name}"),
    )


@lru_cache(maxsize=1)
def _make_nodes(node: NodeId) -> tuple[NodeId]:
    """The node alone, as one object for all verdicts on it."""
    return (node,)


def is_as_declared(name: str, reported: str | float, declared: str | float) -> bool:
    """Whether a reported value is what was declared: memory less what the kernel keeps, text by its words."""
    if isinstance(declared, float) or isinstance(reported, float):
        try:
            number, wanted = float(reported), float(declared)
        except ValueError:
            return False
        if name == "memory.total":
            return wanted * (1 - KERNEL_KEEPS) <= number <= wanted * (1 + MEMORY_ABOVE)
        if name == "disk.size":
            return abs(number - wanted) <= DISK_NEAR * wanted
        return abs(number - wanted) <= NUMBER_NEAR * abs(wanted)
    return " ".join(str(reported).split()).casefold() == " ".join(str(declared).split()).casefold()


def format_hardware(name: str, value: str | float, unit: Unit | None = None) -> str:
    """A fact for people: memory in GiB, ports in Gb/s, disks in TB, counts as they are, others in their ``unit``."""
    if isinstance(value, str):
        return value
    if name == "nic.speed":
        return network_rate(value)
    if name == "disk.size":
        return disk_size(value)
    if name.startswith("memory.") and name != "memory.dimms":
        return memory_size(value)
    if name in {"cpu.cores", "cpu.threads"}:
        return f"{value:g} over all sockets"
    return f"{value:g}" if unit is None else show(value, unit, Shown.STORAGE)
