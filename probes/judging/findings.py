"""Owns findings: every cause once, with both numbers, what it rests on and what stays open.

Closed rounds and their verdicts in, findings out, worst first; the same rounds give the same
findings, one by one or all at once. Network causes come from ``attribution``; nodes, storage and
hardware from their own verdicts. Refuses to make anew what a further round has not touched.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from probes.judging.attribution import Attribution, Attributor, Cause, Observation
from probes.judging.bench import Bench
from probes.judging.carrying import Carrying, crossing
from probes.judging.naming import (
    hardware_finding,
    link_finding,
    node_finding,
    tie_finding,
    unexplained_finding,
    with_switches,
)
from probes.judging.verdict import Finding, Kind, Level, Verdict
from probes.judging.yardsticks.capacity import sent
from probes.model import ClosedRound
from topology.model import Basis, LinkId

Judged = tuple[ClosedRound, Sequence[Verdict]]
_Subject = tuple[object, ...]


def findings(bench: Bench, rounds: Iterable[Judged]) -> tuple[Finding, ...]:
    """Everything that is wrong in a session so far: worst level first, then by nodes affected."""
    made = Findings(bench)
    for closed, verdicts in rounds:
        made.take(closed, verdicts)
    return made.found()


class Findings:
    """Everything that is wrong in a session, kept up to date as its rounds close.

    ``add`` takes in one more round and costs what is new in it: the findings are those of
    ``findings(bench, rounds)`` over all rounds so far. A round whose number is known counts
    instead of the one before. Findings that did not change are the same objects again.
    """

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._criteria = tuple(each for each in bench.criteria if each.basis is Basis.CAPACITY)
        self._rounds: dict[int, Judged] = {}
        self._low: dict[tuple[str, str, Kind], dict[_Subject, _Low]] = {}
        self._last: dict[tuple[str, str, Kind], int] = {}
        self._carrying = Carrying(bench)
        self._attributor = Attributor(bench, self._carrying)
        self._observed: dict[int, dict[int, Observation]] = {}
        self._kept = _Kept()

    def add(self, closed: ClosedRound, verdicts: Sequence[Verdict]) -> tuple[Finding, ...]:
        """Take in one more judged round: everything that is wrong so far, worst level first."""
        self.take(closed, verdicts)
        return self.found()

    def take(self, closed: ClosedRound, verdicts: Sequence[Verdict]) -> None:
        """Take in one more judged round without asking what it means, as for a session that is read back."""
        number = closed.round.number
        again = number in self._rounds
        self._rounds[number] = (closed, verdicts)
        if again:
            self._start_over()
            return
        self._carry(closed)
        if any(self._last.get(key, 0) > number for key in _keys(closed, verdicts)):
            self._read_again()
        else:
            self._read(closed, verdicts)

    def found(self) -> tuple[Finding, ...]:
        """Everything that is wrong so far, worst level first, then by nodes affected."""
        self._kept.turn()
        network = self._attributor.explain(list(self._observations()))
        found = [
            *self._network(network),
            *(self._kept.made((seen,), lambda seen=seen: unexplained_finding(seen)) for seen in network.unexplained),  # type: ignore[misc]
            *self._hardware(list(self._standing(Kind.HARDWARE))),
            *self._nodes(self._standing(Kind.CRITERION)),
        ]
        return tuple(sorted(found, key=lambda each: (-each.level.severity, -len(each.nodes), each.where)))

    # -- what is low now: only the newest verdict on each subject counts

    def _start_over(self) -> None:
        self._carrying.proven[:] = 0.0
        self._observed.clear()
        for closed, _ in self._rounds.values():
            self._carry(closed)
        self._read_again()

    def _carry(self, closed: ClosedRound) -> None:
        for criterion in self._criteria:
            self._carrying.add(closed, criterion)

    def _read_again(self) -> None:
        """Rounds in the order of their numbers, which is that of being newer."""
        self._low.clear()
        self._last.clear()
        for number in sorted(self._rounds):
            self._read(*self._rounds[number])

    def _read(self, closed: ClosedRound, verdicts: Sequence[Verdict]) -> None:
        """Put what is low in a round beside the rest; a repeat replaces what it repeats, better or worse."""
        number, stage = closed.round.number, closed.round.stage
        for verdict in verdicts:
            key = (verdict.probe, stage, verdict.kind)
            self._last[key] = number
            low = self._low.get(key)
            bad = _counts(verdict)
            if not low and not bad:
                continue
            low = self._low.setdefault(key, {})
            subject = (verdict.subject, verdict.metric, verdict.labels)
            if subject in low and low[subject][0] < number:
                del low[subject]
            if bad:
                low.setdefault(subject, (number, []))[1].append(verdict)

    def _standing(self, kind: Kind) -> Iterator[Verdict]:
        """The verdicts of a kind that are low and that no newer one replaced."""
        for (_, _, found), low in self._low.items():
            if found is kind:
                for _, verdicts in low.values():
                    yield from verdicts

    def _observations(self) -> Iterator[Observation]:
        """The low throughputs with their flows; made once for each round."""
        for verdict in sorted(self._standing(Kind.CAPACITY), key=lambda verdict: verdict.round):
            if verdict.round not in self._observed:
                self._observed[verdict.round] = self._observe(verdict.round)
            yield self._observed[verdict.round][id(verdict)]

    def _observe(self, number: int) -> dict[int, Observation]:
        """Every low throughput of a round, by the identity of its verdict."""
        closed, verdicts = self._rounds[number]
        # The first criterion that speaks of a flow counts, and the flows of all criteria loaded the links.
        by_measurement = {
            each.measurement.id: each
            for criterion in reversed(self._criteria)
            for each in sent(self._bench, closed, criterion)
        }
        loads = self._carrying.loads(tuple(by_measurement.values()))
        made: dict[int, Observation] = {}
        for verdict in verdicts:
            if verdict.kind is Kind.CAPACITY and _counts(verdict):
                own = tuple(by_measurement[name] for name in verdict.evidence if name in by_measurement)
                made[id(verdict)] = Observation(verdict, own, *crossing(self._bench, own, loads))
        return made

    # -- what it means

    def _network(self, network: Attribution) -> list[Finding]:
        single: dict[LinkId, list[Cause]] = {}
        found: list[Finding] = []
        for cause in network.causes:
            if len({way.link for way in cause.ways}) == 1:
                single.setdefault(cause.ways[0].link, []).append(cause)
            else:
                found.append(self._kept.made((cause,), lambda cause=cause: tie_finding(self._bench, cause)))  # type: ignore[misc]
        for name, causes in single.items():
            link = self._bench.fabric.links[name]
            made = lambda link=link, causes=causes: link_finding(self._bench, link, causes)  # noqa: E731
            found.append(self._kept.made(causes, made))
        return with_switches(self._bench, found)

    def _hardware(self, verdicts: Sequence[Verdict]) -> list[Finding]:
        """Differences from the declared hardware, folded over the nodes that differ alike."""
        alike: dict[tuple[str, str, str], list[Verdict]] = {}
        for verdict in verdicts:
            alike.setdefault((verdict.metric, verdict.text, verdict.expected_text), []).append(verdict)
        by_nodes: dict[tuple[str, ...], list[tuple[tuple[str, str, str], list[Verdict]]]] = {}
        for key, group in alike.items():
            by_nodes.setdefault(tuple(sorted(each.subject for each in group)), []).append((key, group))
        return [
            self._kept.made(
                [verdict for _, group in parts for verdict in group],
                lambda nodes=nodes, parts=parts: hardware_finding(nodes, parts),  # type: ignore[misc]
            )
            for nodes, parts in by_nodes.items()
        ]

    def _nodes(self, verdicts: Iterable[Verdict]) -> list[Finding]:
        """Nodes below a fixed criterion: one finding for each node and probe."""
        low: dict[tuple[str, str], list[Verdict]] = {}
        for verdict in verdicts:
            low.setdefault((verdict.nodes[0], verdict.probe), []).append(verdict)
        return [
            self._kept.made(group, lambda node=node, group=group: node_finding(self._bench, node, group))  # type: ignore[misc]
            for (node, _), group in low.items()
        ]


_Low = tuple[int, list[Verdict]]
"""A round, and its verdicts on one subject."""


class _Kept:
    """Findings by what they rest on: made once, and forgotten when a turn passes without a question for them."""

    def __init__(self) -> None:
        self._before: dict[tuple[int, ...], tuple[Sequence[object], Finding]] = {}
        self._now: dict[tuple[int, ...], tuple[Sequence[object], Finding]] = {}

    def turn(self) -> None:
        self._before, self._now = self._now, {}

    def made(self, of: Sequence[object], make: Callable[[], Finding]) -> Finding:
        """The finding that rests on the objects ``of``, which are kept so that their ids stay theirs."""
        key = tuple(map(id, of))
        entry = self._before.get(key) or (of, make())
        self._now[key] = entry
        return entry[1]


def _counts(verdict: Verdict) -> bool:
    """Whether a finding may speak of it: anything low, of the hardware only what is plainly another."""
    return verdict.level is Level.FAIL or (verdict.level is Level.WATCH and verdict.kind is not Kind.HARDWARE)


def _keys(closed: ClosedRound, verdicts: Iterable[Verdict]) -> set[tuple[str, str, Kind]]:
    return {(verdict.probe, closed.round.stage, verdict.kind) for verdict in verdicts}
