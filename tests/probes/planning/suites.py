"""Helpers for tests of planning: one stage planned on a fabric, probes that demand things, random fabrics."""

from types import MappingProxyType

from hypothesis import strategies as st

from benchconsole.probes.api import Demands, Output, Part, Probe, Reading, Safety, Shape, Target
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.model.round_bounds import MOST_TESTS
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.topology.model.fabric import Fabric, NodeId, Stage, Suite

Value = str | int | float


class Played(Probe):
    """A probe that is planned, never run; ``wanted`` is what each of its tests demands."""

    name = "played"
    summary = "nothing"
    safety = Safety.LOADS
    options = MappingProxyType({"seconds": 5})

    def __init__(self, wanted: Demands | None = None) -> None:
        self.wanted = wanted

    def demands(self, target: Target) -> Demands:
        return super().demands(target) if self.wanted is None else self.wanted

    def parse(self, output: Output) -> list[Reading]:
        return []


class Together(Played):
    """The same on a set of nodes."""

    shape = Shape.SET


class Both(Played):
    """The same between two nodes."""

    shape = Shape.PAIR


ALONE = Demands(frozenset((Part.CPU,)))


def planned(
    fabric: Fabric,
    design: str | None = None,
    *,
    probe: Probe | None = None,
    nodes: list[str] | None = None,
    most: int = MOST_TESTS,
    **options: Value,
) -> tuple[Round, ...]:
    """The rounds of one stage: iperf3 by ``design``, or another ``probe``."""
    chosen = probe or Iperf3()
    written: dict[str, Value] = {**({"design": design} if design else {}), **options}
    stage = Stage(chosen.name, tuple(fabric.nodes), MappingProxyType(written))
    names = None if nodes is None else [NodeId(name) for name in nodes]
    return plan(fabric, Suite("one", (stage,)), {chosen.name: chosen}, nodes=names, most=most)


@st.composite
def clos(draw: st.DrawFn, *, steered: bool = False, ceilings: bool = False) -> str:
    """Leaves and spines of random size and speed, perhaps with bonded nodes, pairs of leaves and servers on a spine.

    With ``ceilings`` any of them may pass less inside than over its cables.
    """

    def limit() -> str:
        rate = draw(st.sampled_from(["", "7G", "16G", "30G", "90G"])) if ceilings else ""
        return f"ceilings: {{inside: {{rate: {rate}}}}}" if rate else ""

    leaves, spines, each = draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.integers(1, 5))
    members, speed = draw(st.integers(1, 3)), draw(st.sampled_from(["10G", "25G", "40G"]))
    network = "network: {hash: steered}" if steered else "network: {mtu: 9000}"
    lines = ["schema: 1", "fabric: drawn", network, "switches:"]
    tiers = [
        f"  {role}[1-{count}]: {{role: {role}, {limit()}}}" for role, count in (("leaf", leaves), ("spine", spines))
    ]
    lines += [*(tier.replace(", }", "}") for tier in tiers), "nodes:"]
    links = [f'  - {{from: "leaf[1-{leaves}]", to: "spine[1-{spines}]", speed: {speed}, count: {members}}}']
    for leaf in range(1, leaves + 1):
        lines.append(f"  l{leaf}n[1-{each}]: {{{limit()}}}")
        cables = draw(st.sampled_from(["", ", count: 2"]))
        nic = draw(st.sampled_from(["10G", "25G"]))
        links.append(f'  - {{from: "l{leaf}n[1-{each}]", to: leaf{leaf}, speed: {nic}{cables}}}')
    if draw(st.booleans()):
        lines.append("  st[1-2]: {role: storage}")
        links.append(f'  - {{from: "st[1-2]", to: spine1, speed: {draw(st.sampled_from(["10G", "100G"]))}}}')
    return "\n".join([*lines, "links:", *links]) + "\n"
