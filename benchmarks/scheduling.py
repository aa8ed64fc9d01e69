"""Schedules beside lower bounds and peers of the same run: rounds, ratios, seconds of processor time, violations.

    python -m benchmarks.scheduling [RUNS [MOST]]      (3 runs; fabrics of more than MOST nodes are left out)

All pairs of the 347 nodes of the Jetstream example at one 10 Gb/s stream a test: with links between
switches that never bind, with only the chassis as described, and as described (four chassis to a
rack switch). The peers are serial pairs, one after the other, and the textbook's first-fit in plain
Python, which looks at one round after the other, on the same flows and resources in the same order.
Permutations are of 10,032 hosts on 209 leaves, drawn, at 2:1, 3:1 and 4:1, against first-fit alone.
The default suite is planned on 16, 347 and 10,000 nodes. Every plan is checked by
``tests.probes.planning.plan_referee``, which shares no code with what made it. Medians of RUNS (3), in seconds
of this process: the machine may be busy.
"""

import statistics
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib.resources import as_file, files
from types import MappingProxyType
from typing import TypeVar

from benchconsole import topology
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.planning.flow_classes import FlowClasses
from benchconsole.probes.planning.packing import FULL_AT, Uses, first_fit
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.plan_summary import summarise
from benchconsole.probes.planning.resource_use import ResourceUse
from benchconsole.probes.planning.suites import find_suite
from benchconsole.probes.tools.inventory.probe import Inventory
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, Link, Stage, Suite
from benchconsole.topology.routing.routes import Routes
from tests.probes.planning.plan_referee import missing, violations

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
MOST = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
"""Fabrics of more nodes are left out."""
PROBES = {"iperf3": Iperf3(), "inventory": Inventory()}
SECONDS = 10.0
"""Length of a test in the comparison with serial pairs."""

UNBOUND = 1000.0
LIMITS: Mapping[str, Mapping[str, float]] = {
    "no internal limit": {"chassis": UNBOUND, "leaf": UNBOUND, "spine": UNBOUND},
    "chassis limits": {"leaf": UNBOUND, "spine": UNBOUND},
    "rack switch limits": {},
}
"""Factors by which links between switches carry more than described, by the role of their lower end."""


def jetstream(factors: Mapping[str, float]) -> Fabric:
    with as_file(files("benchconsole.topology").joinpath("examples", "jetstream.yaml")) as path:
        fabric = topology.load(path)
    roles = {switch.id: switch.role.value for switch in fabric.switches.values()}

    def scaled(link: Link) -> Link:
        return replace(link, speed=link.speed * factors.get(roles.get(link.a, ""), 1.0))  # type: ignore[call-overload]

    return replace(fabric, links=MappingProxyType({key: scaled(link) for key, link in fabric.links.items()}))


def leaves(count: int, hosts: int, spines: int, trunk: float, nic: float = 10) -> Fabric:
    lines = ["schema: 1", "fabric: leaves", "switches:", f'  "spine[1-{spines}]": {{role: spine}}']
    lines += [f'  "leaf[1-{count}]": {{role: leaf}}', f'nodes: {{"n[1-{count * hosts}]": {{}}}}', "links:"]
    lines.append(f'  - {{from: "leaf[1-{count}]", to: "spine[1-{spines}]", speed: {trunk:g} Gb/s}}')
    lines += [
        f'  - {{from: "n[{leaf * hosts + 1}-{(leaf + 1) * hosts}]", to: leaf{leaf + 1}, speed: {nic:g} Gb/s}}'
        for leaf in range(count)
    ]
    return load_text("\n".join(lines) + "\n", "leaves.yaml")


T = TypeVar("T")


def timed(call: Callable[[], T]) -> tuple[float, T]:
    times = []
    for _ in range(RUNS):
        started = time.process_time()
        found = call()
        times.append(time.process_time() - started)
    return statistics.median(times), found


def staged(fabric: Fabric, most: int, **options: str | int) -> tuple[Round, ...]:
    stage = Stage("iperf3", tuple(fabric.nodes), options)
    return plan(fabric, Suite("one", (stage,)), PROBES, most=most)


def resources(fabric: Fabric, rounds: tuple[Round, ...], streams: int) -> Uses:
    """The flows of a plan with all that they share, in the order of cyclic shifts, for the peers."""
    ledger = ResourceUse(FlowClasses(Routes(fabric)).sending(streams), most=1 << 30)
    number = {node: index for index, node in enumerate(fabric.nodes)}
    pairs = [(flow.source, flow.sink) for each in rounds for flow in each.flows]
    pairs.sort(key=lambda pair: ((number[pair[1]] - number[pair[0]]) % len(number), number[pair[0]]))
    ledger.pairs(pairs)
    return ledger.closed()


def textbook(uses: Uses) -> int:
    """Rounds of first-fit, looking at one round after the other for each flow."""
    rounds: list[dict[int, float]] = []
    for job in uses.jobs:
        taken = [(uses.resource[slot], uses.weight[slot]) for slot in job]
        for load in rounds:
            if all(load.get(resource, 0.0) + weight <= FULL_AT for resource, weight in taken):
                break
        else:
            load = {}
            rounds.append(load)
        for resource, weight in taken:
            load[resource] = load.get(resource, 0.0) + weight
    return len(rounds)


def all_pairs() -> None:
    print("all pairs of Jetstream, 347 nodes, 120,062 tests of one stream (bars: ratio 1.03, 2 s)")
    print(f"{'':22}{'bound':>7}{'rounds':>8}{'ratio':>8}{'plan s':>8}{'hours':>7}{'violations':>11}{'missing':>8}"
          f"   {'textbook':>9}{'s':>8}{'x ours':>8}{'serial h':>10}{'x ours':>8}")  # fmt: skip
    for name, factors in LIMITS.items():
        fabric = jetstream(factors)
        took, rounds = timed(partial(staged, fabric, 512, design="all-pairs", streams=1))
        summary = summarise(fabric, rounds, PROBES)
        broken = sum(1 for _ in violations(fabric, rounds, PROBES))
        wanted = {(one, other) for one in fabric.nodes for other in fabric.nodes if one != other}
        uses = resources(fabric, rounds, 1)
        started = time.process_time()
        peer = textbook(uses)
        peer_took = time.process_time() - started
        hours, serial = len(rounds) * SECONDS / 3600, summary.total.tests * SECONDS / 3600
        print(f"{name:22}{summary.total.bound:7,}{len(rounds):8,}{summary.total.ratio:8.4f}{took:8.2f}{hours:7.2f}"
              f"{broken:11}{len(missing(rounds, wanted)):8}   {peer:9,}{peer_took:8.1f}{peer_took / took:8.1f}"
              f"{serial:10.0f}{serial / hours:8.0f}")  # fmt: skip


def permutations() -> None:
    print("\ndrawn permutations of 10,032 hosts, 209 leaves of 48, all of a round at once")
    print(f"{'':8}{'seed':>6}{'bound':>7}{'rounds':>8}{'plan s':>8}{'violations':>11}   {'first-fit':>10}{'x ours':>8}")
    for ratio in (2, 3, 4):
        fabric = leaves(209, 48, 8, 48 * 10 / ratio / 8)
        for seed in (1, 2):
            took, rounds = timed(partial(staged, fabric, 1 << 30, design="permutation", seed=seed))
            uses = resources(fabric, rounds, 4)
            broken = sum(1 for _ in violations(fabric, rounds, PROBES))
            peer = max(first_fit(uses, range(len(uses.jobs)))) + 1
            print(f"{ratio}:1     {seed:6}{uses.bound()[0]:7}{len(rounds):8}{took:8.2f}{broken:11}   {peer:10}"
                  f"{peer / len(rounds):8.2f}")  # fmt: skip


def suites() -> None:
    print("\nthe default suite (bars: 2 s for 347 nodes, 10 s for 10,000)")
    print(f"{'nodes':>8}{'plan s':>8}{'sum s':>8}{'violations':>11}{'rounds':>8}{'bound':>7}   plan")
    made = {
        16: partial(leaves, 2, 8, 2, 20),
        347: partial(jetstream, {}),
        10_000: partial(leaves, 250, 40, 16, 100, nic=25),
    }
    for fabric in (make() for nodes, make in made.items() if nodes <= MOST):
        took, rounds = timed(partial(plan, fabric, find_suite(fabric, "default"), PROBES))
        summing, summary = timed(partial(summarise, fabric, rounds, PROBES))
        broken = sum(1 for _ in violations(fabric, rounds, PROBES))
        print(f"{len(fabric.nodes):8,}{took:8.2f}{summing:8.2f}{broken:11}{len(rounds):8,}{summary.total.bound:7,}"
              f"   {len(rounds)} rounds, {sum(len(each.tests) for each in rounds):,} tests")  # fmt: skip


def main() -> None:
    """Measure and print the tables."""
    if MOST >= 347:
        all_pairs()
    if MOST >= 10_032:
        permutations()
    suites()


if __name__ == "__main__":
    main()
