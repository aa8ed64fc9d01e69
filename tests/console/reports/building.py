"""Builds views by hand: a small fabric, and a story told test by test. No store, no clock."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.console.view.blame import Blame
from benchconsole.console.view.run_view import LinkView, NodeView, RunView, State, state_of, worst
from benchconsole.probes.model.judgement import Finding, Level, Verdict, Yardstick
from benchconsole.probes.model.measuring import (
    Fact,
    FailedAt,
    Failure,
    Output,
    Reading,
    Result,
    Round,
    Target,
    Test,
    labels,
)
from benchconsole.probes.model.repeats import make_test_key
from benchconsole.topology.copying import replace
from benchconsole.topology.model.access import Access
from benchconsole.topology.model.fabric import (
    Basis,
    Comparator,
    Criterion,
    Fabric,
    Hardware,
    Link,
    LinkId,
    Node,
    NodeId,
    NodeRole,
    Switch,
    SwitchId,
    SwitchRole,
)
from benchconsole.topology.units import Unit

START = 1_700_000_000.0
GBIT = 1e9 / 8
HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(1)> \"' javascript:alert(1) "
    "http://evil.example/x www.evil.example @root #12 `rm -rf` | pipe | **bold** [link](http://evil.example) "
    "\x1b]0;title\x07\x1b[31mred \x9b31m \u202egnp.exe \u2066 \ud800 =1+1 \r\n &lt; {{7*7}} {% raw %} $(id)"
)

BLADE = Hardware("blade", {"cpu.model": "E5-2680v3", "memory.total": 128 * 2.0**30}, 806.4e9, "24 cores at 2.1 GHz")
STORE = Hardware("store", {"memory.total": 64 * 2.0**30})
HEAD = Hardware("head")


def node(name: str, hardware: Hardware = BLADE, role: NodeRole = NodeRole.COMPUTE) -> Node:
    """A node with addresses that no report should need."""
    return Node(NodeId(name), role, hardware, f"{name}.mgmt", name)


def fabric(leaves: int = 3, per_leaf: int = 4, *, simulated: bool = True, name: str = "jetstream") -> Fabric:
    """Leaves with nodes under two spines, one storage server and one head on the spines."""
    nodes, links, switches = (
        [],
        [],
        [Switch(SwitchId("sp1"), SwitchRole.SPINE), Switch(SwitchId("sp2"), SwitchRole.SPINE)],
    )
    number = 0
    for leaf in (f"leaf{index + 1}" for index in range(leaves)):
        switches.append(Switch(SwitchId(leaf), SwitchRole.LEAF, "S6000"))
        for _ in range(per_leaf):
            number += 1
            nodes.append(node(f"n{number:02d}"))
            links.append(Link(LinkId(f"n{number:02d}-{leaf}"), f"n{number:02d}", leaf, 10 * GBIT))
        links += [Link(LinkId(f"{leaf}-{spine}"), leaf, spine, 40 * GBIT, count=2) for spine in ("sp1", "sp2")]
    nodes += [node("st1", STORE, NodeRole.STORAGE), node("m1", HEAD, NodeRole.MANAGEMENT)]
    links += [Link(LinkId(f"{name}-sp1"), name, "sp1", 10 * GBIT, count=2) for name in ("st1", "m1")]
    links.append(Link(LinkId("sp1-sp2"), "sp1", "sp2", 40 * GBIT, count=3))
    return Fabric(
        name=name,
        nodes=MappingProxyType({item.id: item for item in nodes}),
        switches=MappingProxyType({item.id: item for item in switches}),
        links=MappingProxyType({item.id: item for item in links}),
        criteria=CRITERIA,
        suites=MappingProxyType({}),
        access=Access(),
        mtu=9000,
        text="fabric: jetstream\n",
        simulated=simulated,
    )


CRITERIA = (
    Criterion(
        "stream.triad", Comparator.AT_LEAST, 65e9, Unit.BYTE_RATE, target=100e9, rounding=1e9,
        source="PEP 5.1.1.2", nodes=frozenset(NodeId(f"n{number:02d}") for number in range(1, 13)),
    ),
    Criterion("iperf3.throughput", Comparator.AT_LEAST, 0.95, Unit.BYTE_RATE, Basis.CAPACITY, source="PEP 5.1.1.3"),
    Criterion("hpl.rate", Comparator.AT_LEAST, 0.8, Unit.FLOP_RATE, Basis.PEAK, source="PEP 5.1.1.1"),
    Criterion(
        "dd.rate", Comparator.AT_LEAST, 1.5e9, Unit.BYTE_RATE, where=labels(operation="read"), source="PEP 5.1.2",
    ),
)  # fmt: skip


class Story:
    """Collects rounds, results and verdicts, and gives the view that they add up to."""

    def __init__(self, on: Fabric) -> None:
        self.fabric = on
        self.rounds: list[Round] = []
        self.results: dict[str, Result] = {}
        self.verdicts: dict[str, tuple[Verdict, ...]] = {}

    def round(
        self, stage: str, probe: str, targets: Sequence[str], *, bundle: str = "", because: str = ""
    ) -> list[Test]:
        """Plan one round; a target is a node or ``a>b``."""
        number = len(self.rounds) + 1
        tests = []
        for key in targets:
            source, _, sink = key.partition(">")
            target = Target(self.fabric.nodes[NodeId(source)], self.fabric.nodes[NodeId(sink)] if sink else None)
            tests.append(Test(f"t{number}-{key}", probe, target, number, bundle))
        self.rounds.append(Round(number, stage, probe, tuple(tests), 10.0, because or f"{stage} on {len(tests)}"))
        return tests

    def answer(self, test: Test, metric: str, value: float, unit: Unit, *, raw: str = "", **tags: object) -> Reading:
        """One number of one test, kept beside those it has."""
        before = self.results.get(test.id)
        kept = before.measurements if before else ()
        reading = Reading(metric, value, unit, labels(**tags), raw)
        measurement = replace(reading, id=f"m{test.id}-{len(kept) + 1}", at=START + test.round * 60)
        outputs = (Output((test.probe, "--of", test.target.key), (raw or "done").encode(), seconds=9.8),)
        self.results[test.id] = Result(
            test, outputs, (*kept, measurement), started=START + test.round * 60, seconds=9.8
        )
        return measurement

    def facts(self, test: Test, *facts: Fact) -> None:
        """The facts that a node told of itself."""
        self.results[test.id] = Result(test, (Output(("uname", "-a"), b"Linux"),), (), facts, started=START)

    def fail(self, test: Test, stage: FailedAt, detail: str, *outputs: Output) -> None:
        """A test without a number."""
        on = test.target.node.id
        self.results[test.id] = Result(test, outputs, failure=Failure(stage, detail, on), started=START, seconds=1.0)

    def judge(self, test: Test, verdict: Verdict) -> None:
        """A verdict on a test."""
        self.verdicts[test.id] = (*self.verdicts.get(test.id, ()), verdict)

    def view(self, findings: tuple[Finding, ...] = (), **changes: object) -> RunView:
        """The view after everything that was told."""
        nodes = self._nodes(Blame(findings))
        whole = RunView(
            fabric=self.fabric,
            session="20231114-221320-7f3a",
            label="acceptance 12",
            suite="acceptance",
            plan=tuple(self.rounds),
            nodes=MappingProxyType(nodes),
            findings=findings,
            results=MappingProxyType(self.results),
            verdicts=MappingProxyType(self.verdicts),
            closed=MappingProxyType({item.number: (START, START + 60) for item in self.rounds}),
            started=START,
            ended=START + 2286.0,
            complete=True,
            replaced=frozenset(self._repeated()),
        )
        return replace(whole, **changes)  # type: ignore[arg-type]

    def _repeated(self) -> list[str]:
        stages = {each.number: each.stage for each in self.rounds}
        newest = {make_test_key(result.test, stages[result.test.round]): name for name, result in self.results.items()}
        return [name for name in self.results if name not in newest.values()]

    def _nodes(self, blame: Blame) -> dict[NodeId, NodeView]:
        results: dict[str, list[Result]] = {}
        verdicts: dict[str, list[Verdict]] = {}
        for result in self.results.values():
            for item in result.test.target.nodes:
                results.setdefault(item.id, []).append(result)
        for judged in self.verdicts.values():
            for each in judged:
                for name in each.nodes:
                    verdicts.setdefault(name, []).append(each)
        return {
            name: _node_view(item, results.get(name, []), verdicts.get(name, []), blame)
            for name, item in self.fabric.nodes.items()
        }


def _node_view(item: Node, results: list[Result], verdicts: list[Verdict], blame: Blame) -> NodeView:
    failures = tuple(result.failure for result in results if result.failure)
    states = [State.AFFECTED if blame.affected_by(verdict) else state_of(verdict) for verdict in verdicts]
    states += [State.UNREACHABLE if failure.stage.means_unreachable else State.UNKNOWN for failure in failures]
    return NodeView(item, worst(states), tuple(verdicts), tuple(results), failures)


def verdict(test: Test, measurement: Reading | None, level: Level, **fields: object) -> Verdict:
    """A verdict on one measurement; fields not given come from the test and the reading."""
    given: dict[str, object] = {
        "test": test.id,
        "round": test.round,
        "probe": test.probe,
        "subject": test.target.key,
        "nodes": tuple(item.id for item in test.target.nodes),
        "metric": measurement.metric if measurement else "",
        "labels": measurement.labels if measurement else (),
        "level": level,
        "kind": Yardstick.CAPACITY,
        "because": "",
        "unit": measurement.unit if measurement else None,
        "value": measurement.value if measurement else None,
        "evidence": (measurement.id,) if measurement else (),
    }
    return Verdict(**{**given, **fields})  # type: ignore[arg-type]


def links(broken: Mapping[str, LinkView]) -> Mapping[LinkId, LinkView]:
    """Link views by plain names."""
    return MappingProxyType({LinkId(name): seen for name, seen in broken.items()})
