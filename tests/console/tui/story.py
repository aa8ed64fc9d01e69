"""A session made by hand: what was planned, what each test gave, how it was judged, what was found."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from benchconsole.console.view.events import Event, RoundStarted, SessionEnded, SessionOpened, TestStarted
from benchconsole.console.view.reducer import advance, opened
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.judging.yardsticks import hardware
from benchconsole.probes.model.judgement import (
    ClosedRound,
    CloseReason,
    Confidence,
    Finding,
    Level,
    Suspect,
    Verdict,
    Yardstick,
)
from benchconsole.probes.model.measuring import (
    Bundle,
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
from benchconsole.probes.model.remark import Remark
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Direction, Fabric, LinkId, NodeId, NodeRole
from benchconsole.topology.units import Shown, Unit
from tests.console.tui.fabrics import G

EPOCH = 1_700_000_000.0


@dataclass
class Faults:
    """The ids of the elements that are wrong on purpose."""

    lag: str = ""
    nic: str = ""
    memory: str = ""
    disk: str = ""
    silent: str = ""
    slow: str = ""


MINI = Faults("leaf3--spine1", "n050", "n093", "st3", "n120", "n020")
CHASSIS = Faults("c07a--t2", "c12n05", "c15n11", "st14", "c18n09", "c03n10")
TEN_THOUSAND = Faults("p06l19--p06a", "p04l11n03", "p08l02n30", "p01l30n17", "p03l28n05", "p09l05n02")

IPERF = """Connecting to host {peer}.data, port 5201
[  5] local 10.12.12.105 port 50112 connected to 10.12.2.5 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-2.00   sec   710 MBytes  {early} Gbits/sec  8391    148 KBytes
[  5]   2.00-4.00   sec   706 MBytes  {early} Gbits/sec  8367    139 KBytes
[  5]   4.00-6.00   sec   708 MBytes  {early} Gbits/sec  8402    157 KBytes
[  5]   6.00-8.00   sec   708 MBytes  {early} Gbits/sec  8320    148 KBytes
[  5]   8.00-10.00  sec   708 MBytes  {early} Gbits/sec  8346    148 KBytes
[  5]   0.00-10.00  sec  3.46 GBytes  {value} Gbits/sec 41826             sender
[  5]   0.00-10.00  sec  3.45 GBytes  {value} Gbits/sec                  receiver

iperf Done.
"""


@dataclass
class Story:
    """One session on one fabric, told round by round."""

    fabric: Fabric
    faults: Faults = field(default_factory=Faults)
    label: str = "acceptance 12"
    began: float = EPOCH
    rounds: list[Round] = field(default_factory=list)
    closed: list[ClosedRound] = field(default_factory=list)
    findings: tuple[Finding, ...] = ()
    remarks: tuple[Remark, ...] = ()

    def view(self) -> RunView:
        """Everything judged, folded from the events."""
        events = self.events(tests=False)
        first = next(events)
        assert isinstance(first, SessionOpened)
        view = opened(first)
        for event in events:
            view = advance(view, event)
        return view

    def events(self, *, tests: bool = True) -> Iterator[Event]:
        """The same, as it happened; without the start and end of each test where only the rounds matter."""
        fabric = self.fabric
        yield SessionOpened(
            "s12", self.label, fabric, "acceptance", tuple(self.rounds), self.began, remarks=self.remarks
        )
        for judged in self.closed:
            at = judged.started
            yield RoundStarted(judged.round, at)
            if tests:
                yield from (TestStarted(test, at) for test in judged.round.tests)
                yield from judged.results
            yield judged
        yield SessionEnded(self.began + 600, complete=True)


def told(memory: float) -> tuple[Fact, ...]:
    """The facts that a node tells of itself, with ``memory`` in bytes among them."""
    return (
        Fact("kernel.release", "6.1.0-28-amd64"),
        Fact("cpu.cores", 24.0, Unit.ONE),
        Fact("cpu.mhz_max", 3.3e9, Unit.PER_SECOND),
        Fact("memory.total", memory, Unit.BYTE),
        Fact("nic.speed", 12.5e9, Unit.BYTE_RATE, labels(nic="ens1f0")),
        Fact("nic.mtu", 9000.0, Unit.BYTE, labels(nic="ens1f0")),
    )


class Teller:
    """Writes the rounds of a story."""

    def __init__(self, fabric: Fabric, faults: Faults, label: str) -> None:
        self.story = Story(fabric, faults, label)
        self.at = EPOCH
        self.story.began = EPOCH
        self.affected = self._under(faults.lag)

    def _under(self, lag: str) -> set[str]:
        link = self.story.fabric.links.get(LinkId(lag))
        return {node.id for node in self.story.fabric.attached(link.a)} if link else set()

    def stage(self, name: str, probe: str, because: str, groups: list[list[Test]], seconds: float) -> None:
        """One stage: a round for each group of tests."""
        for tests in groups:
            number = len(self.story.rounds) + 1
            renumbered = tuple(replace(test, round=number) for test in tests)
            bundles = tuple(
                Bundle(name, self._uplinks([test for test in renumbered if test.bundle == name]))
                for name in dict.fromkeys(test.bundle for test in renumbered if test.bundle)
            )
            made = Round(number, name, probe, renumbered, seconds, because, bundles)
            self.story.rounds.append(made)
            results = tuple(self._result(test, seconds) for test in renumbered)
            verdicts = tuple(self._judge(results, number))
            closed = ClosedRound(made, results, CloseReason.COMPLETE, self.at, self.at + seconds)
            self.at += seconds
            self.story.closed.append(replace(closed, verdicts=verdicts, findings=()))

    def _uplinks(self, tests: list[Test]) -> tuple[Direction, ...]:
        fabric = self.story.fabric
        switches = dict.fromkeys(switch for test in tests for switch in fabric.switch_of(test.target.node.id))
        return tuple(
            Direction(link.id, switch)
            for switch in switches
            for link in fabric.links_at[switch]
            if fabric.tier(link.other(switch)) > fabric.tier(switch)
        )

    def _result(self, test: Test, seconds: float) -> Result:
        node = test.target.node.id
        if node == self.story.faults.silent:
            failure = Failure(FailedAt.UNREACHABLE, "no answer on port 22", node)
            return Result(test, failure=failure, started=self.at, seconds=5.0)
        value, unit, metric, raw, text = self._reading(test)
        reading = Reading(metric, value, unit, labels(), raw)
        measurement = replace(reading, id=f"{test.id}/0", at=self.at)
        output = Output(self._argv(test), text.encode(), seconds=seconds, node=node)
        facts = told(value) if test.probe == "memory" else ()
        return Result(test, (output,), (measurement,), facts, started=self.at, seconds=seconds - 0.1)

    def _argv(self, test: Test) -> tuple[str, ...]:
        if test.probe == "iperf3":
            assert test.target.peer
            return ("iperf3", "-c", test.target.peer.data_address, "-t", "10", "-i", "2", "-O", "1", "-P", "8")
        return {"memory": ("free", "-b"), "stream": ("stream_c", "-n", "24"), "fio": ("fio", "write.fio")}[test.probe]

    def _reading(self, test: Test) -> tuple[float, Unit, str, str, str]:
        name, faults = test.target.node.id, self.story.faults
        wobble = (sum(map(ord, name)) * 7 % 11 - 5) / 1000
        if test.probe == "memory":
            gib = (112 if name == faults.memory else 128) if name[0] not in "sm" else 64
            raw = f"{gib * 2**30}"
            return gib * 2.0**30, Unit.BYTE, "memory.total", raw, f"       total\nMem:  {raw}\n"
        if test.probe == "stream":
            value = 100.5e9 * (1 + wobble * 3)
            value = 87.9e9 if name == faults.memory else 92.4e9 if name == faults.slow else value
            raw = f"{value / 1e6:.1f}"
            text = f"Function    Best Rate MB/s  Avg time\nCopy:          99000.1  0.002\nTriad:  {raw}  0.003\n"
            return value, Unit.BYTE_RATE, "stream.triad", raw, text
        if test.probe == "fio":
            value = (
                (690e6 if name == faults.disk else 1.64e9 * (1 + wobble)) if name[0] == "s" else 148e6 * (1 + wobble)
            )
            raw = f"{value / 1e6:.0f}MB/s"
            return value, Unit.BYTE_RATE, "fio.write", raw, f"write: IOPS=147, BW={raw} (155MB/s)(1478MiB/10s)\n"
        gigabits = 9.90 * (1 - abs(wobble) / 4)
        slowed = name in self.affected and test.bundle
        gigabits = 2.97 if name == faults.nic else 7.43 if slowed else gigabits
        peer = test.target.peer.id if test.target.peer else ""
        raw = f"{gigabits:.2f} Gbits/sec"
        text = IPERF.format(peer=peer, early=f"{gigabits * 1.002:.2f}", value=f"{gigabits:.2f}")
        return gigabits * G, Unit.BYTE_RATE, "iperf3.throughput", raw, text

    def _judge(self, results: tuple[Result, ...], number: int) -> Iterator[Verdict]:
        """Lone tests by themselves, the tests of a bundle by their sum, as the judge does."""
        bundles: dict[str, list[Verdict]] = {}
        for result in results:
            for measurement in result.measurements:
                verdict = self._verdict(result.test, measurement, number)
                if result.test.bundle:
                    bundles.setdefault(result.test.bundle, []).append(verdict)
                else:
                    yield verdict
        for name, parts in bundles.items():
            yield self._summed(name, parts)

    def _summed(self, name: str, parts: list[Verdict]) -> Verdict:
        value = sum(each.value or 0.0 for each in parts)
        expected = sum(each.expected or 0.0 for each in parts)
        level = Level.PASS if value >= 0.8 * expected else Level.FAIL
        nodes = tuple(dict.fromkeys(node for each in parts for node in each.nodes))
        because = f"{value / expected:.0%} of expected, at least 80 % asked"
        return parts[0]._replace(subject=name, nodes=nodes, value=value, expected=expected, required=0.8 * expected, level=level,
            because=because, limiting=name, evidence=tuple(m for each in parts for m in each.evidence),
        )  # fmt: skip

    def _verdict(self, test: Test, measurement: Reading, number: int) -> Verdict:
        reading, faults, name = measurement, self.story.faults, test.target.node.id
        base = Verdict(
            test=test.id, round=number, probe=test.probe, subject=test.target.key,
            nodes=tuple(node.id for node in test.target.nodes), metric=reading.metric, labels=(),
            level=Level.PASS, kind=Yardstick.CRITERION, because="as asked", unit=reading.unit, value=reading.value,
            evidence=(measurement.id,), source="contract 4.1.1",
        )  # fmt: skip
        if reading.metric == "memory.total":
            want = test.target.node.hardware.facts["memory.total"]
            assert isinstance(want, (int, float))
            bad = reading.value < want
            return base._replace(kind=Yardstick.HARDWARE, source="declared", expected=float(want), shown=Shown.MEMORY,
                           text=hardware.format_hardware(reading.metric, reading.value),
                           level=Level.FAIL if bad else Level.PASS, limiting="memory",
                           because="16 GiB less than declared" if bad else "as declared")  # fmt: skip
        if reading.metric == "stream.triad":
            level = Level.FAIL if name == faults.memory else Level.WATCH if name == faults.slow else Level.PASS
            return base._replace(expected=100.5e9 if level is not Level.PASS else 65e9, required=65e9, level=level,
                           limiting="memory", because="8 % below peers" if level is not Level.PASS else "above 65 GB/s")  # fmt: skip
        if reading.metric == "fio.write":
            bad = name == faults.disk
            return base._replace(expected=1.64e9 if name[0] == "s" else 148e6, limiting="disk", kind=Yardstick.CRITERION,
                           level=Level.FAIL if bad else Level.PASS,
                           because="disk sdh 57.5 MB/s, peers 137" if bad else "as its peers")  # fmt: skip
        net = base._replace(kind=Yardstick.CAPACITY, source="capacity (fluid)", expected=9.9 * G, required=7.92 * G,
                      shown=Shown.NETWORK, limiting=f"{name} out")  # fmt: skip
        if name == faults.nic:
            return net._replace(level=Level.FAIL, because="30 % of expected, below 80 %")
        return net


def _leaf(fabric: Fabric, node: str) -> str:
    return fabric.switch_of(NodeId(node))[0]


def findings_of(story: Story, affected: set[str]) -> tuple[Finding, ...]:
    """The findings that a judge would make."""
    faults, made = story.faults, []
    tests = {name: tuple(t.id for r in story.rounds for t in r.tests if t.target.node.id == name)
             for name in (faults.nic, faults.memory, faults.disk, faults.slow, faults.silent)}  # fmt: skip
    if faults.lag:
        link = story.fabric.links[LinkId(faults.lag)]
        up, some = link.count // 2, tuple(sorted(affected))
        made.append(Finding(
            Suspect.LAG, link.id, f"{link.a} to {link.b}",
            f"{up} of {link.count} members up: {link.a} leaves at 118.8 of 158.4 Gb/s", Level.FAIL,
            Confidence.CERTAIN, some,
            tuple(t.id for r in story.rounds for t in r.tests if t.target.node.id in affected and t.bundle),
            evidence=tuple(f"{t.id}/0" for r in story.rounds for t in r.tests if t.target.node.id in affected and t.bundle),
            because=("round 31, 16 pairs × 8 streams: 118.8 of 158.4 Gb/s", "round 48, other partners: 118.6 of 158.4",
                     "confirmed alone, 3 of 3: 118.8 of 158.4"),
            rules_out=("a node: all 16 are alike", "the hash: 8 streams a pair lose under 1 %"),
            cannot_tell=f"which port of {link.a}; needs the port counters of {link.a} or {link.b}",
            means=f"{len(some)} nodes get 7.43 instead of 9.90 Gb/s when all leave at once; alone each still gets 19.8.",
            do=f"look at the ports of {link.a} to {link.b}, their optics and cables, then repeat these 6 tests",
            value=39.6 * G, expected=79.2 * G, unit=Unit.BYTE_RATE, probe="iperf3",
            links=(link.id,), members_up=up,
        ))  # fmt: skip
    rows = (
        (faults.disk, Suspect.STORAGE, "writes 0.69 of 1.64 GB/s: disk sdh 57.5 MB/s, its 11 peers 137", Level.FAIL,
         "fio", 0.69e9, 1.64e9),
        (faults.nic, Suspect.NIC, "gives 2.97 of 9.90 Gb/s with 4 of 4 partners, in and out", Level.FAIL,
         "iperf3", 2.97 * G, 9.9 * G),
        (faults.memory, Suspect.NODE, "112 of 128 GiB: a DIMM is absent; STREAM 87.9, peers 100.5 GB/s", Level.FAIL,
         "memory", 112.0 * 2**30, 128.0 * 2**30),
        (faults.slow, Suspect.NODE, "STREAM 92.4 GB/s, 8 % below 127 peers; above the contract", Level.WATCH,
         "stream", 92.4e9, 100.5e9),
    )  # fmt: skip
    for name, suspect, what, level, probe, value, expected in rows:
        if name:
            ids = tuple(t for t in tests[name] if f"-{probe}-" in t and not t.startswith("p-"))
            where = f"{name} out" if suspect is Suspect.NIC else name
            made.append(Finding(
                suspect, name, where, what, level, Confidence.CERTAIN if level is Level.FAIL else Confidence.LIKELY,
                (name,), ids, tuple(f"{test}/0" for test in ids), because=(what,), rules_out=("the path: peers are sound",),
                cannot_tell="which port, cable or optic", means=f"{name} is slower than it was declared",
                do="look at its counters, then repeat these tests", value=value, expected=expected,
                unit=Unit.BYTE_RATE, probe=probe, nodes_at=(name,),
                links=tuple(link.id for link in story.fabric.links_at[name]) if suspect is Suspect.NIC else (),
            ))  # fmt: skip
    return tuple(made)


def tell(fabric: Fabric, faults: Faults | None = None, *, label: str = "acceptance 12", most: int = 5) -> Story:
    """The story of a whole suite on ``fabric``; only as many stages as ``most``."""
    teller = Teller(fabric, faults or Faults(), label)
    nodes = list(fabric.nodes.values())
    compute = [node for node in nodes if node.role is NodeRole.COMPUTE]

    def alone(probe: str, some: list) -> list[Test]:  # type: ignore[type-arg]
        return [Test(f"{probe[0]}-{probe}-{node.id}", probe, Target(node), 0) for node in some]

    half = len(compute) // 2
    partners = list(zip(compute, compute[half:] + compute[:half], strict=True))
    lone = [Test(f"q-iperf3-{a.id}", "iperf3", Target(a, b), 0) for a, b in partners]
    pairs = [Test(f"p-iperf3-{a.id}", "iperf3", Target(a, b), 0, f"{_leaf(fabric, a.id)} up") for a, b in partners]
    stages = (
        ("inventory", "memory", "what every node says of itself", [alone("memory", nodes)], 52.0),
        ("node", "stream", "memory bandwidth of every compute node at once", [alone("stream", compute)], 110.0),
        ("disk", "fio", "write 1 MiB blocks on every node", [alone("fio", nodes)], 72.0),
        ("legs", "iperf3", "every node sends alone, then receives", [lone[:half], lone[half:]], 12.0),
        ("leave", "iperf3", "all nodes of a leaf send out at once", [pairs[:half], pairs[half:]], 12.0),
    )
    for name, probe, because, groups, seconds in stages[:most]:
        teller.stage(name, probe, because, groups, seconds)
    story = teller.story
    story.findings = findings_of(story, teller.affected)
    story.closed = [replace(judged, findings=story.findings) for judged in story.closed]
    return story
