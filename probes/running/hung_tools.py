"""Tools that hung on nodes: how often each did, and how long its next test there is awaited.

A tool that hung once may do so again, or a cable was pulled that is back. So it is started once more, but then it no
longer decides how long its round takes.
"""

from collections.abc import Collection, Sequence

from benchconsole.probes.model.measuring import FailedAt, Failure, Test
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import NodeId

STRIKES = 2
"""Times that a probe may hang on a node, before the run or in a round; then it is not started there in this run."""

PATIENCE, PATIENCE_SECONDS = 0.5, 2.0
"""A test whose tool hung on one of its nodes may run on by this share of the time that all others took, and so long."""


def compute_patience(took: float) -> float:
    """Seconds for which doubted tests may run on when all others, which ``took`` so many seconds, have ended."""
    return took * PATIENCE + PATIENCE_SECONDS


class HungTools:
    """Tools that hung in this run, by probe and node. ``hung`` are those that did before it."""

    def __init__(self, hung: Collection[tuple[str, NodeId]] = ()) -> None:
        self._strikes: dict[tuple[str, str], list[str]] = {key: ["when its version was asked for"] for key in hung}

    def add_failure(self, probe: str, failure: Failure, number: int) -> None:
        """Take in a failure in the round ``number``; a round counts once."""
        strikes, strike = self._strikes.setdefault((probe, failure.node), []), f"in round {number}"
        if failure.stage is FailedAt.TIMEOUT and strike not in strikes:
            strikes.append(strike)

    def find_hold(self, probe: str, node: NodeId) -> Failure | None:
        """Why this probe is not started again on this node; None while it may be."""
        strikes = self._strikes.get((probe, node), [])
        if len(strikes) < STRIKES:
            return None
        return Failure(FailedAt.HELD, f"{probe} hung here {' and '.join(strikes)}, and was not started again", node)

    def find_doubts(self, tests: Sequence[Test]) -> dict[str, Failure]:
        """The tests on nodes where their probe hung before, by their ids, each with its failure if it is not awaited.

        None where that is all of ``tests``: nobody else waits.
        """
        hung = group_by_key(
            (test.id, (test.probe, node.id, strikes))
            for test in tests
            for node in test.target.nodes
            if (strikes := self._strikes.get((test.probe, node.id), []))
        )
        if len(hung) == len(tests):
            return {}
        return {
            test: Failure(
                FailedAt.TIMEOUT,
                f"{probe} hung here {' and '.join(strikes)}, and had no end when all other tests of the round had",
                node,
            )
            for test, ((probe, node, strikes), *_) in hung.items()
        }
