"""Facts about the load of nodes while a test ran: their names, and how one is found among the facts of a result.

Each has the label ``node``; ``of`` says which statistic over the samples of the test it is (``median``, ``max``,
``min``). Shares are of all cores together (``load.cpu.busy``) or of one core (``load.core.*``).
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from benchconsole.probes.model.measuring import Fact

PREFIX = "load."
"""Begins the name of every fact of load; no probe may be called so."""


COUNTS = frozenset(("load.samples", "load.nfsd.threads"))
"""Facts that are numbers of something; the others without a unit are shares."""


class NodeLoad(Struct, frozen=True):
    """The load of a node over its last step between two samples: shares of its fullest ``core``, busy and by softirq.

    It is shown while tests run; their facts tell medians of all steps.
    """

    node: str
    core: str
    busy: float
    softirq: float


def is_load(fact: Fact) -> bool:
    """Whether a fact is about a test, and not about what a node is made of."""
    return fact.fact.startswith(PREFIX)


def group_load(facts: Iterable[Fact]) -> dict[str, dict[tuple[str, str], Fact]]:
    """The facts of load of one result, by node, then by name and statistic; the first of several disks or NICs."""
    found: dict[str, dict[tuple[str, str], Fact]] = {}
    for fact in facts:
        if is_load(fact):
            marks = dict(fact.labels)
            found.setdefault(marks.get("node", ""), {}).setdefault((fact.fact, marks.get("of", "")), fact)
    return found


def find_number(facts: Mapping[tuple[str, str], Fact], name: str, of: str = "median") -> float | None:
    """The number of one fact of a node; None where it was not sampled."""
    fact = facts.get((name, of))
    return fact.value if fact is not None and isinstance(fact.value, float) else None
