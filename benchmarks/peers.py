"""Peers on played machines: who is named of planted deviants, and how often a healthy machine is silent.

320 nodes of one class under eight leaf switches give one number of STREAM each. Two groups (112 and 98 GB/s) are parted
by a fact of the inventory, by their switches, or by nothing; five nodes are at 88 % of their own group. The rounds go
through judging as those of a run do. ``python -m benchmarks.peers [--played N]`` prints a table.
"""

import argparse
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, CloseReason
from benchconsole.probes.model.measuring import Fact, Metric, Reading, Result, Round, Target, Test
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.units import Unit

NODES, DEVIANTS = 320, 5
LEVELS = (112e9, 98e9)
LEFT = 0.88
NOISES = (0.005, 0.01, 0.015, 0.02)
PARTED_BY = ("fact", "switch", "nothing")

MACHINE = """\
schema: 1
fabric: played
classes: {blade: {cpu: {sockets: 2}}}
switches: {"leaf[1-8]": {role: leaf}}
nodes: {"n[001-320]": {class: blade}}
links:
"""


class Score(NamedTuple):
    """Counts over played machines."""

    right: int
    named: int
    planted: int
    groups: int
    explained: int


def build() -> Fabric:
    """The machine: forty nodes on each leaf switch."""
    lines = [
        f'  - {{from: "n[{leaf * 40 + 1:03}-{leaf * 40 + 40:03}]", to: leaf{leaf + 1}, speed: 10 Gb/s}}\n'
        for leaf in range(8)
    ]
    return load_text(MACHINE + "".join(lines), "played.yaml")


def find(fabric: Fabric, values: Mapping[str, float], facts: Mapping[str, str]) -> tuple[set[str], set[str], str]:
    """The nodes that findings name by themselves, those of the lower group, and the words on the groups."""
    tests = {name: Test(f"t-{name}", "stream", Target(fabric.nodes[NodeId(name)]), 1) for name in values}
    results = tuple(
        Result(tests[name], measurements=(Reading("stream.triad", value, Unit.BYTE_RATE, id=f"m-{name}"),))
        for name, value in values.items()
    )
    measured = ClosedRound(
        Round(1, "stream", "stream", tuple(tests.values()), 1.0, ""), results, CloseReason.COMPLETE, 0.0, 1.0
    )
    asked = {name: Test(f"i-{name}", "inventory", Target(fabric.nodes[NodeId(name)]), 2) for name in facts}
    told = ClosedRound(
        Round(2, "inventory", "inventory", tuple(asked.values()), 1.0, ""),
        tuple(Result(asked[name], facts=(Fact("memory.dimms", value),)) for name, value in facts.items()),
        CloseReason.COMPLETE,
        0.0,
        1.0,
    )
    context = JudgingContext(fabric, {"stream.triad": Metric("stream.triad", Unit.BYTE_RATE, "memory")})
    rounds = [told, measured] if facts else [measured]
    found = list_findings(context, [replace(each, verdicts=judge_round(context, each)) for each in rounds])
    groups = [each for each in found if "groups of nodes" in each.what]
    named = {node for each in found if each not in groups for node in each.nodes_at}
    lower = {node for each in groups for node in each.nodes}
    return named, lower, " ".join(text for each in groups for text in each.because)


def examine(fabric: Fabric, rng: np.random.Generator, noise: float, parted: str, played: int) -> Score:
    """Play machines with two groups and deviants."""
    names = [str(name) for name in fabric.nodes]
    score = Score(0, 0, 0, 0, 0)
    for _ in range(played):
        order = np.arange(NODES) if parted == "switch" else rng.permutation(NODES)
        upper = np.zeros(NODES, bool)
        upper[order[: NODES // 2]] = True
        values = np.where(upper, *LEVELS) * np.exp(rng.normal(0, noise, NODES))
        planted = rng.choice(NODES, DEVIANTS, replace=False)
        values[planted] *= LEFT
        facts = (
            {name: "8" if high else "7" for name, high in zip(names, upper, strict=True)} if parted == "fact" else {}
        )
        named, lower, words = find(fabric, dict(zip(names, values.tolist(), strict=True)), facts)
        truth = {names[place] for place in planted.tolist()}
        expected = {"fact": "memory.dimms 7", "switch": "switch leaf[5-8]", "nothing": ""}[parted]
        score = Score(
            score.right + len(named & truth),
            score.named + len(named),
            score.planted + DEVIANTS,
            score.groups + bool(lower),
            score.explained + bool(lower and expected in words),
        )
    return score


def count_false(fabric: Fabric, rng: np.random.Generator, noise: float, played: int) -> int:
    """Healthy machines of one group on which anything is said."""
    return sum(
        any(find(fabric, {str(name): 100e9 * float(np.exp(rng.normal(0, noise))) for name in fabric.nodes}, {})[:2])
        for _ in range(played)
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--played", type=int, default=100, help="machines of each kind")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng, fabric = np.random.default_rng(given.seed), build()
    print(f"{NODES} nodes at {LEVELS[0] / 1e9:.0f} and {LEVELS[1] / 1e9:.0f} GB/s, {DEVIANTS} of them at {LEFT:.0%}; "
          f"{given.played} machines of each kind, seed {given.seed}")  # fmt: skip
    print("noise  parted by  precision  recall  two groups told  with their name | healthy, anything said")
    for noise in NOISES:
        healthy = count_false(fabric, rng, noise, given.played)
        for parted in PARTED_BY:
            score = examine(fabric, rng, noise, parted, given.played)
            precision = score.right / score.named if score.named else float("nan")
            print(
                f"{noise:5.1%}  {parted:9}  {precision:9.3f}  {score.right / score.planted:6.3f}"
                f"  {score.groups / given.played:15.1%}  {score.explained / given.played:15.1%} |"
                f" {healthy} of {given.played}"
            )


if __name__ == "__main__":
    main()
