"""Views to render: one hard session built by hand, and small ones at the edges. No store, no clock."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from console.view import LinkView, NodeView, RunView, State, state_of, worst
from probes.judging.verdict import Confidence, Finding, Kind, Level, Suspect, Verdict
from probes.model import (
    Fact,
    FailedAt,
    Failure,
    Measurement,
    Output,
    Reading,
    Result,
    Round,
    Target,
    Test,
    labels,
)
from topology.model import (
    Access,
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
from topology.units import Shown, Unit

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
        links += [Link(LinkId(f"{leaf}-{spine}"), leaf, spine, 40 * GBIT, 2) for spine in ("sp1", "sp2")]
    nodes += [node("st1", STORE, NodeRole.STORAGE), node("m1", HEAD, NodeRole.MANAGEMENT)]
    links += [Link(LinkId(f"{name}-sp1"), name, "sp1", 10 * GBIT, 2) for name in ("st1", "m1")]
    links.append(Link(LinkId("sp1-sp2"), "sp1", "sp2", 40 * GBIT, 3))
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

    def answer(
        self, test: Test, metric: str, value: float, unit: Unit, *, raw: str = "", **tags: object
    ) -> Measurement:
        """One number of one test, kept beside those it has."""
        before = self.results.get(test.id)
        kept = before.measurements if before else ()
        reading = Reading(metric, value, unit, labels(**tags), raw)
        measurement = Measurement(f"m{test.id}-{len(kept) + 1}", test, reading, START + test.round * 60)
        outputs = (Output((test.probe, "--of", test.target.key), (raw or "done").encode(), seconds=9.8),)
        self.results[test.id] = Result(
            test, outputs, (*kept, measurement), started=START + test.round * 60, seconds=9.8
        )
        return measurement

    def facts(self, test: Test, *facts: Fact) -> None:
        """What a node told of itself."""
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
        nodes = self._nodes()
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
        )
        return replace(whole, **changes)  # type: ignore[arg-type]

    def _nodes(self) -> dict[NodeId, NodeView]:
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
            name: _node_view(item, results.get(name, []), verdicts.get(name, []))
            for name, item in self.fabric.nodes.items()
        }


def _node_view(item: Node, results: list[Result], verdicts: list[Verdict]) -> NodeView:
    failures = tuple(result.failure for result in results if result.failure)
    states = [state_of(verdict) for verdict in verdicts]
    states += [State.UNREACHABLE if failure.stage.means_unreachable else State.UNKNOWN for failure in failures]
    return NodeView(item, worst(states), tuple(verdicts), tuple(results), failures)


def verdict(test: Test, measurement: Measurement | None, level: Level, **fields: object) -> Verdict:
    """A verdict on one measurement; fields not given come from the test and the reading."""
    reading = measurement.reading if measurement else None
    given: dict[str, object] = {
        "test": test.id,
        "round": test.round,
        "probe": test.probe,
        "subject": test.target.key,
        "nodes": tuple(item.id for item in test.target.nodes),
        "metric": reading.metric if reading else "",
        "labels": reading.labels if reading else (),
        "level": level,
        "kind": Kind.CAPACITY,
        "because": "",
        "unit": reading.unit if reading else None,
        "value": reading.value if reading else None,
        "evidence": (measurement.id,) if measurement else (),
    }
    return Verdict(**{**given, **fields})  # type: ignore[arg-type]


def links(broken: Mapping[str, LinkView]) -> Mapping[LinkId, LinkView]:
    """Link views by plain names."""
    return MappingProxyType({LinkId(name): seen for name, seen in broken.items()})


LAG = Finding(
    suspect=Suspect.LAG,
    element="leaf1-sp1",
    where="leaf1 to sp1",
    what="1 of 2 members up: leaf1 leaves at 118.8 of 158.4 Gb/s",
    level=Level.FAIL,
    confidence=Confidence.CERTAIN,
    nodes=("n01", "n02", "n03", "n04"),
    tests=("t3-n01>n05", "t3-n02>n06"),
    evidence=("mt3-n01>n05-1",),
    because=("round 3: n[01-02] to n[05-06], 2 pairs, 14.9 of 19.8 Gb/s", "4 of 4 nodes of leaf1 alike"),
    rules_out=("a node: all four alike", "sp1: leaf2 passes through it at 19.8 Gb/s"),
    cannot_tell="which of the two members, without the port counters of leaf1 or sp1",
    means="4 nodes get 7.4 instead of 9.9 Gb/s when all leave at once. A node alone still gets 9.9.",
    do="look at leaf1 ports 41 and 42, their optics and cables to sp1; then repeat these 2 tests",
    value=118.8 * GBIT,
    expected=158.4 * GBIT,
    unit=Unit.BYTE_RATE,
)
MEMORY = Finding(
    suspect=Suspect.NODE,
    element="n05",
    where="n05",
    what="112 of 128 GiB: one DIMM absent; STREAM 87.9, peers 100 GB/s",
    level=Level.FAIL,
    confidence=Confidence.LIKELY,
    nodes=("n05",),
    tests=("t1-n05", "t2-n05"),
    because=("memory.total 112 GiB, declared 128 GiB",),
    means="the node does not meet its declaration",
    do=f"reseat the DIMM; {HOSTILE}",
)
DECLARED = Finding(
    suspect=Suspect.FABRIC,
    element="fabric",
    where="end to end",
    what="declared 2:1; the cables give 2.00:1 at sp1 and 1.33:1 at sp2, a line long enough to be wrapped",
    level=Level.WATCH,
    confidence=Confidence.COMPUTED,
    nodes=(),
    tests=(),
    cannot_tell="",
)


def hard() -> RunView:
    """One session with everything in it that has gone wrong once."""
    story = Story(fabric())
    _inventory(story)
    _stream(story)
    _network(story)
    _storage(story)
    story.round("clean up", "clean", ["m1"], because="nothing of ours left")
    view = story.view(
        (DECLARED, LAG, MEMORY),
        complete=False,
        because="stopped by the operator",
        links=links({"leaf1-sp1": LinkView(State.FAIL, 14.9 * GBIT, 19.8 * GBIT, 1, LAG)}),
    )
    hurt = {NodeId(name): replace(view.nodes[NodeId(name)], state=State.AFFECTED) for name in LAG.nodes}
    return replace(view, nodes=MappingProxyType({**view.nodes, **hurt}))


def _inventory(story: Story) -> None:
    tests = story.round("inventory", "inventory", list(story.fabric.nodes))
    for test in tests:
        name = test.target.node.id
        if name == "n12":
            story.fail(test, FailedAt.UNREACHABLE, "no answer on port 22")
            continue
        small = name == "n05"
        memory = (112 if small else 128) * 2.0**30
        story.facts(
            test,
            Fact("memory.total", memory, Unit.BYTE),
            Fact("os.kernel", HOSTILE if name == "n03" else "5.14.0"),
            Fact("serial", f"S{name}"),
        )
        if test.target.node.hardware is BLADE:
            level = Level.FAIL if small else Level.PASS
            because = "112 GiB found, 128 GiB declared" if small else "as declared"
            story.judge(
                test,
                verdict(
                    test, None, level, metric="memory.total", kind=Kind.HARDWARE, because=because, unit=Unit.BYTE,
                    shown=Shown.MEMORY, value=memory, expected=128 * 2.0**30, source="blade",
                ),
            )  # fmt: skip
            story.judge(
                test,
                verdict(
                    test, None, Level.PASS, metric="cpu.model", kind=Kind.HARDWARE, because="as declared",
                    text="E5-2680v3", expected_text="E5-2680v3",
                ),
            )  # fmt: skip


def _stream(story: Story) -> None:
    for test in story.round("node", "stream", [f"n{number:02d}" for number in range(1, 13)]):
        name = test.target.node.id
        if name == "n12":
            story.fail(test, FailedAt.UNREACHABLE, "no answer on port 22")
        elif name == "n07":
            said = Output(
                ("stream", "-n", "80000000"), b"", f"stream: not found {HOSTILE}".encode("utf-8", "replace"), 127
            )
            story.fail(test, FailedAt.MISSING_TOOL, f"stream is not installed {HOSTILE}", said)
        else:
            value = 87.9e9 if name == "n05" else (100 + int(name[1:]) / 10) * 1e9
            level = Level.WATCH if name == "n05" else Level.PASS
            measured = story.answer(test, "stream.triad", value, Unit.BYTE_RATE, raw=f"Triad: {value / 1e6:.1f}")
            why = "12 % below 10 peers; above the criterion" if level is Level.WATCH else "above 65 GB/s"
            story.judge(
                test,
                verdict(
                    test, measured, level, kind=Kind.CRITERION, because=why, expected=65e9, required=65e9,
                    source="PEP 5.1.1.2", limiting="memory",
                ),
            )  # fmt: skip


def _network(story: Story) -> None:
    pairs = story.round("legs", "iperf3", ["n01>n05", "n02>n06", "n09>n10", "n10>n09"], because="four pairs at once")
    rates = {"n01>n05": 7.43, "n02>n06": 7.42, "n09>n10": 2.97, "n10>n09": 9.88}
    for test in pairs:
        rate = rates[test.target.key]
        measured = story.answer(
            test, "iperf3.throughput", rate * GBIT, Unit.BYTE_RATE, raw=f"{rate} Gbits/sec  sender", direction="out"
        )
        level = Level.PASS if rate > 9.8 else Level.FAIL
        cause = {"affected_by": "leaf1 to sp1"} if test.target.key[:3] in ("n01", "n02") else {}
        story.judge(
            test,
            verdict(
                test, measured, level, because=f"{rate} of 9.90 Gb/s", expected=9.9 * GBIT, required=9.4 * GBIT,
                shown=Shown.NETWORK, limiting="leaf1 to sp1" if cause else f"{test.target.node.id} out", **cause,
            ),
        )  # fmt: skip
    together = story.round("chassis", "iperf3", ["n01>n09", "n02>n10"], bundle="leaf1 to sp1")
    parts = [story.answer(test, "iperf3.throughput", 7.4 * GBIT, Unit.BYTE_RATE, direction="out") for test in together]
    story.judge(
        together[0],
        verdict(
            together[0], None, Level.UNKNOWN, subject="leaf1 to sp1", nodes=("n01", "n02", "n09", "n10"),
            metric="iperf3.throughput", because="only 2 of 4 flows ran", evidence=tuple(part.id for part in parts),
            unit=Unit.BYTE_RATE, shown=Shown.NETWORK, value=14.8 * GBIT,
        ),
    )  # fmt: skip


def _storage(story: Story) -> None:
    (test,) = story.round("storage", "dd", ["st1"])
    read = story.answer(test, "dd.rate", 0.69e9, Unit.BYTE_RATE, raw="690 MB/s", operation="read")
    write = story.answer(test, "dd.rate", 1.61e9, Unit.BYTE_RATE, operation="write")
    clause = {"kind": Kind.CRITERION, "source": "PEP 5.1.2", "expected": 1.64e9, "limiting": "disk sdh"}
    story.judge(test, verdict(test, read, Level.FAIL, because="0.69 of 1.64 GB/s; =SUM(A1)", required=1.5e9, **clause))
    story.judge(test, verdict(test, write, Level.PASS, because="at its declaration", **clause))


def empty() -> RunView:
    """A session in which nothing was planned or run."""
    return RunView(fabric(simulated=False))


def single() -> RunView:
    """One node alone in its fabric, with one number that nothing was expected of."""
    alone = node("only", HEAD)
    base = replace(
        fabric(simulated=False),
        nodes=MappingProxyType({alone.id: alone}),
        switches=MappingProxyType({}),
        links=MappingProxyType({}),
        criteria=(),
    )
    story = Story(base)
    (test,) = story.round("node", "stream", ["only"])
    measured = story.answer(test, "stream.triad", 0.0, Unit.BYTE_RATE)
    story.judge(
        test, verdict(test, measured, Level.PASS, kind=Kind.NONE, because="nothing to compare with", expected=0.0)
    )
    return story.view()


def all_failed() -> RunView:
    """Every test ran and none gave a number."""
    story = Story(fabric())
    for test in story.round("node", "stream", list(story.fabric.nodes)):
        story.fail(test, FailedAt.TOOL, "exit status 1", Output(("stream",), b"", b"boom", 1))
    return story.view()


def all_unreachable() -> RunView:
    """No node answered."""
    story = Story(fabric())
    for test in story.round("node", "stream", list(story.fabric.nodes)):
        story.fail(test, FailedAt.UNREACHABLE, "no route to host")
    return story.view()


def all_passed(leaves: int = 3, per_leaf: int = 4) -> RunView:
    """Everything planned gave a number and passed."""
    story = Story(fabric(leaves, per_leaf, simulated=False))
    names = [name for name, item in story.fabric.nodes.items() if item.hardware is BLADE]
    for test in story.round("node", "stream", names):
        measured = story.answer(test, "stream.triad", 100.5e9, Unit.BYTE_RATE)
        passed = {"kind": Kind.CRITERION, "expected": 65e9, "required": 65e9, "source": "PEP 5.1.1.2"}
        story.judge(test, verdict(test, measured, Level.PASS, because="above 65 GB/s", **passed))
    return story.view()


def all_below(leaves: int = 3, per_leaf: int = 4) -> RunView:
    """Every node is below its threshold, each with a reason and a finding of its own."""
    view = all_passed(leaves, per_leaf)
    verdicts = {
        name: tuple(replace(item, level=Level.FAIL, because=f"bad in its own way: {name}") for item in found)
        for name, found in view.verdicts.items()
    }
    findings = tuple(
        replace(MEMORY, element=name, where=name, nodes=(name,), tests=(test,), do="")
        for name, test in zip(view.nodes, verdicts, strict=False)
    )
    nodes = {name: replace(seen, state=State.FAIL) for name, seen in view.nodes.items()}
    return replace(
        view, verdicts=MappingProxyType(verdicts), findings=findings, nodes=MappingProxyType(nodes)
    )  # fmt: skip


EDGES = {
    "hard": hard,
    "empty": empty,
    "single": single,
    "all failed": all_failed,
    "all unreachable": all_unreachable,
    "all passed": all_passed,
    "all below": all_below,
}


def poisoned(text: str) -> RunView:
    """The hard session with ``text`` in every field that a node, a probe or a topology file can fill."""
    view = hard()
    tags = ((text, text),)
    results = {}
    for name, result in view.results.items():
        output = Output(
            (text, text), text.encode("utf-8", "replace"), text.encode("utf-8", "replace"), 1, text, 1.0, node=text
        )
        failure = replace(result.failure, detail=text) if result.failure else None
        facts = tuple(replace(fact, fact=text, value=text, labels=tags) for fact in result.facts)
        measurements = tuple(
            replace(item, id=text, reading=replace(item.reading, metric=text, labels=tags, raw=text))
            for item in result.measurements
        )
        results[name] = replace(
            result, outputs=(output,), failure=failure, facts=facts, measurements=measurements
        )  # fmt: skip
    words = dict.fromkeys(
        ("subject", "metric", "because", "text", "expected_text", "source", "limiting", "affected_by"), text
    )
    verdicts = {
        name: tuple(replace(item, **words, labels=tags, nodes=(text,), evidence=(text,)) for item in found)  # type: ignore[arg-type]
        for name, found in view.verdicts.items()
    }
    said = dict.fromkeys(("element", "where", "what", "cannot_tell", "means", "do"), text)
    findings = tuple(
        replace(item, **said, nodes=(text,), because=(text, text), rules_out=(text,))  # type: ignore[arg-type]
        for item in view.findings
    )
    criteria = tuple(replace(item, source=text, metric=text, where=tags) for item in view.fabric.criteria)
    rounds = tuple(replace(item, stage=text, because=text, probe=text) for item in view.plan)
    return replace(
        view,
        fabric=replace(view.fabric, name=text, criteria=criteria, text=text),
        session=text,
        label=text,
        suite=text,
        because=text,
        plan=rounds,
        results=MappingProxyType(results),
        verdicts=MappingProxyType(verdicts),
        findings=findings,
    )
