"""Whose fault a low value is: findings by the tests and the measurements that they explain."""

from collections.abc import Iterable

from benchconsole.console.view.run_view import State, state_of
from benchconsole.probes.model.judgement import Finding, Level, Verdict, Yardstick
from benchconsole.topology.grouping import group_by_key


def read_unexplained(verdict: Verdict) -> State:
    """The state of nodes by a verdict that no finding explains: a low flow alone is the fault of neither end."""
    is_low_flow = verdict.kind is Yardstick.CAPACITY and verdict.level in (Level.FAIL, Level.WATCH)
    return State.AFFECTED if is_low_flow else state_of(verdict)


class Blame:
    """The findings of a session, asked by verdict. Made once for each set of findings."""

    def __init__(self, findings: Iterable[Finding] = ()) -> None:
        found = tuple(findings)
        self._by_test = group_by_key((test, finding) for finding in found for test in finding.tests)
        self._by_evidence = group_by_key((name, finding) for finding in found for name in finding.evidence)

    def elsewhere(self, node: str, verdict: Verdict) -> Finding | None:
        """The finding that explains a low value of ``node`` by another element, None when it is its own."""
        if verdict.level not in (Level.FAIL, Level.WATCH):
            return None
        explaining = self._by_test.get(verdict.test, [])
        if any(finding.is_of(node) for finding in explaining):
            return None
        return next(iter(explaining), None)

    def state(self, node: str, verdict: Verdict) -> State:
        """The state of ``node`` by a verdict: affected where another element is to blame, or only a flow was low."""
        if self.elsewhere(node, verdict) is not None:
            return State.AFFECTED
        return state_of(verdict) if self._by_test.get(verdict.test) else read_unexplained(verdict)

    def concerns(self, node: str, verdict: Verdict) -> bool:
        """False where a partner is to blame and this node only took part."""
        finding = self.elsewhere(node, verdict)
        return finding is None or node in finding.nodes

    def affected_by(self, verdict: Verdict) -> str:
        """The element whose fault explains a low throughput, in words; empty where the subject itself is meant.

        The subject is meant where a finding names it, or one of the ends of a pair.
        """
        if verdict.kind is not Yardstick.CAPACITY or verdict.level not in (Level.FAIL, Level.WATCH):
            return ""
        explaining = {id(each): each for name in verdict.evidence for each in self._by_evidence.get(name, ())}
        own = {verdict.subject, *verdict.subject.split(">")}
        if any(each.where in own or own.intersection(each.nodes_at) for each in explaining.values()):
            return ""
        return next((each.where for each in explaining.values()), "")
