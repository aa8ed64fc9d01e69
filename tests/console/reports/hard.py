"""One session in which everything has gone wrong once."""

from types import MappingProxyType

from benchconsole.console.reports.content import SessionDetails
from benchconsole.console.view.run_view import LinkView, RunView, State
from benchconsole.probes.model.checklist import Attachment, Checked, CheckedList, Mark, Step, StepState
from benchconsole.probes.model.judgement import Confidence, Finding, Level, Suspect, Yardstick
from benchconsole.probes.model.measuring import Fact, FailedAt, Output, Proof
from benchconsole.store.model import SessionNote
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.units import Shown, Unit
from tests.console.reports.building import BLADE, GBIT, HOSTILE, START, Story, fabric, links, verdict

LAG = Finding(
    suspect=Suspect.LAG,
    element="leaf1-sp1",
    where="leaf1 to sp1",
    what="1 of 2 members up: leaf1 leaves at 118.8 of 158.4 Gb/s",
    level=Level.FAIL,
    confidence=Confidence.CERTAIN,
    nodes=("n01", "n02", "n03", "n04"),
    tests=("t3-n01>n05", "t3-n02>n06"),
    evidence=("mt3-n01>n05-1", "mt3-n02>n06-1"),
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
    confidence=Confidence.POSSIBLE,
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
        checklists=(CHECKLIST,),
        complete=False,
        because="stopped by the operator",
        links=links({"leaf1-sp1": LinkView(State.FAIL, 14.9 * GBIT, 19.8 * GBIT, 1, LAG)}),
        proofs=_proofs(story),
        stopped=STOPPED,
    )
    hurt = {NodeId(name): replace(view.nodes[NodeId(name)], state=State.AFFECTED) for name in LAG.nodes}
    return replace(view, nodes=MappingProxyType({**view.nodes, **hurt}))


STOPPED = MappingProxyType({4: "canary n01>n02 fell to 40 % of what it gave before"})
CHECKLIST = CheckedList(
    "cloud",
    "PEP 4.2",
    (
        Checked(
            Step("log-in", "A user logs in.", "4.2.1"),
            Mark(StepState.PASS, "alice", START + 900.0, "two users, one of them from outside"),
            (Attachment("log in.png", 48_213, "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),),
        ),
        Checked(
            Step("launch", f"A machine starts; {HOSTILE}", HOSTILE, ("openstack", "server", "create"), 60.0),
            Mark(StepState.FAIL, HOSTILE, START + 960.0, HOSTILE),
            (Attachment(HOSTILE, 12, "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"),),
            2,
        ),
        Checked(Step("move", "An image moves to the other system.", "4.2.3")),
        Checked(
            Step("tablet", "A desktop opens on a tablet."),
            Mark(StepState.NOT_APPLICABLE, "bob", START + 1000.0, "no such service here"),
        ),
    ),
)
TOLD = SessionDetails(
    options=MappingProxyType({"allow_untested": 1, "suite from": "the command line"}),
    notes=(
        SessionNote("override", f"alice means production nodes st1; {HOSTILE}", START + 5.0),
        SessionNote("held", "the database was full for 12 s", START + 600.0),
    ),
    uncovered=("no test reaches m1 over sp2",),
)


def _proofs(story: Story) -> tuple[Proof, ...]:
    """Most nodes are clean; one was not asked, one held on to a process, one had to be cleaned first."""
    special = {
        "n12": Proof(NodeId("n12"), asked=False, detail="unreachable: no answer on port 22"),
        "n03": Proof(NodeId("n03"), asked=True, left=(f"process 4711 (iperf3 -s {HOSTILE})",)),
        "st1": Proof(NodeId("st1"), asked=True, ended=2),
    }
    return tuple(special.get(name, Proof(name, asked=True)) for name in story.fabric.nodes)


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
                    test, None, level, metric="memory.total", kind=Yardstick.HARDWARE, because=because, unit=Unit.BYTE,
                    shown=Shown.MEMORY, value=memory, expected=128 * 2.0**30, source="blade",
                ),
            )  # fmt: skip
            story.judge(
                test,
                verdict(
                    test, None, Level.PASS, metric="cpu.model", kind=Yardstick.HARDWARE, because="as declared",
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
                    test, measured, level, kind=Yardstick.CRITERION, because=why, expected=65e9, required=65e9,
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
        dragged = test.target.key[:3] in ("n01", "n02")
        story.judge(
            test,
            verdict(
                test, measured, level, because=f"{rate} of 9.90 Gb/s", expected=9.9 * GBIT, required=9.4 * GBIT,
                shown=Shown.NETWORK, limiting="leaf1 to sp1" if dragged else f"{test.target.node.id} out",
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
    clause = {"kind": Yardstick.CRITERION, "source": "PEP 5.1.2", "expected": 1.64e9, "limiting": "disk sdh"}
    story.judge(test, verdict(test, read, Level.FAIL, because="0.69 of 1.64 GB/s; =SUM(A1)", required=1.5e9, **clause))
    story.judge(test, verdict(test, write, Level.PASS, because="at its declaration", **clause))
