"""Views to render: the hard session, sessions at the edges, and one with the same text everywhere."""

from types import MappingProxyType

from benchconsole.console.reports.content import SessionDetails
from benchconsole.console.view.run_view import RunView, State
from benchconsole.probes.model.checklist import Attachment, Checked, CheckedList, Mark, Step, StepState
from benchconsole.probes.model.judgement import Level, Yardstick
from benchconsole.probes.model.measuring import FailedAt, Output, Proof
from benchconsole.probes.model.omission import Omission, OmissionReason
from benchconsole.store.model import SessionNote
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.units import Unit
from tests.console.reports.building import BLADE, GBIT, HEAD, HOSTILE, Story, fabric, node, verdict
from tests.console.reports.hard import LAG, MEMORY, hard

__all__ = ["EDGES", "GBIT", "HOSTILE", "LAG", "Story", "fabric", "hard", "poisoned", "verdict"]


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
        test,
        verdict(test, measured, Level.PASS, kind=Yardstick.CRITERION, because="nothing to compare with", expected=0.0),
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
        passed = {"kind": Yardstick.CRITERION, "expected": 65e9, "required": 65e9, "source": "PEP 5.1.1.2"}
        story.judge(test, verdict(test, measured, Level.PASS, because="above 65 GB/s", **passed))
    return story.view()


def all_below(leaves: int = 3, per_leaf: int = 4) -> RunView:
    """Every node is below its threshold, each with a reason and a finding of its own."""
    view = all_passed(leaves, per_leaf)
    verdicts = {
        name: tuple(item._replace(level=Level.FAIL, because=f"bad in its own way: {name}") for item in found)
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
        measurements = tuple(replace(item, id=text, metric=text, labels=tags, raw=text) for item in result.measurements)
        results[name] = replace(
            result, outputs=(output,), failure=failure, facts=facts, measurements=measurements
        )  # fmt: skip
    words = dict.fromkeys(("subject", "metric", "because", "text", "expected_text", "source", "limiting"), text)
    verdicts = {
        name: tuple(item._replace(**words, labels=tags, nodes=(text,), evidence=(text,)) for item in found)  # type: ignore[arg-type]
        for name, found in view.verdicts.items()
    }
    said = dict.fromkeys(("element", "where", "what", "cannot_tell", "means", "do"), text)
    findings = tuple(
        replace(item, **said, nodes=(text,), because=(text, text), rules_out=(text,))  # type: ignore[arg-type]
        for item in view.findings
    )
    asked = ((text, f"is {text}"),)  # a sign of comparison at its begin is refused in a file
    criteria = tuple(replace(item, source=text, metric=text, where=asked) for item in view.fabric.criteria)
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
        proofs=(Proof(NodeId(text), asked=False, left=(text,), detail=text),),
        held=text,
        stopped=MappingProxyType({1: text, 99: text}),
        left_out=(Omission(text, OmissionReason.CAPPED),),
        checklists=(_poisoned_checklist(text),),
    )


def _poisoned_checklist(text: str) -> CheckedList:
    said = Mark(StepState.FAIL, text, 1.0, text)
    step = Checked(Step(text, text, text, (text,)), said, (Attachment(text, 1, text),), 1)
    return CheckedList(text, text, (step, Checked(Step(text, text))))


def poisoned_told(text: str) -> SessionDetails:
    """The details of a session with ``text`` in all of them."""
    return SessionDetails(MappingProxyType({text: text}), (SessionNote(text, text, 1.0),), (text,))
