"""The facts of a node: each with its part, its value, and the verdict where something was declared for it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.filtering import Fields
from benchconsole.console.view.run_view import NodeView, State, state_of
from benchconsole.console.view.wording import format_fact
from benchconsole.probes.judging.yardsticks.hardware import format_hardware
from benchconsole.probes.model.judgement import Verdict, Yardstick
from benchconsole.probes.model.measuring import Fact


@dataclass(frozen=True, slots=True)
class NodeFact(Fields):
    """One fact as text, for those of one column are of many units; ``verdict`` where something was declared for it."""

    fact: str
    of: str
    value: str
    verdict: Verdict | None = None

    @property
    def state(self) -> State | None:
        return None if self.verdict is None else state_of(self.verdict)

    @property
    def is_fault(self) -> bool:
        """Whether something was declared, and this is not it."""
        return self.state not in (None, State.PASS)

    def words(self, column: str) -> str:
        if column == "state":
            return self.state.value if self.state is not None else ""
        return {"fact": self.fact, "of": self.of, "value": self.value}[column]

    @property
    def everything(self) -> str:
        """All its text, lower case."""
        return f"{self.fact}\n{self.of}\n{self.value}".lower()


def list_node_facts(node: NodeView) -> list[NodeFact]:
    """The facts of the last answer of each probe, in its order. StoreError where that cannot be read."""
    last = {result.test.probe: result.facts for result in node.results if result.facts}
    judged = {each.metric: each for each in node.verdicts if each.kind is Yardstick.HARDWARE}
    return [
        NodeFact(
            sanitize(fact.fact),
            sanitize(" ".join(value for _, value in fact.labels)),
            format_fact(fact),
            _judged(fact, judged),
        )
        for facts in last.values()
        for fact in facts
    ]


def _judged(fact: Fact, judged: Mapping[str, Verdict]) -> Verdict | None:
    """The verdict on the fact of this name, where it speaks of this value: of several ports only one may be judged."""
    found = judged.get(fact.fact)
    return found if found is not None and format_hardware(fact.fact, fact.value) in found.text.split(", ") else None
