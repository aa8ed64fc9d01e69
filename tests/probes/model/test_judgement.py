"""Findings as plain values: they go to JSON and back unchanged, and their key tells one cause from another."""

from msgspec import json

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import Finding, Level
from benchconsole.topology.copying import replace
from tests.fabrics import METRICS
from tests.probes.judging.rounds import close, flow, star


def found(low: float) -> tuple[Finding, ...]:
    """Findings on n1 and n4, each low in two rounds, and on a pair without a known cause."""
    described = star()
    rounds = [
        close(described, 1, flow("n1", "n2", low), flow("n4", "n5", low), flow("n7", "n8", low)),
        close(described, 2, flow("n1", "n3", low), flow("n4", "n6", low)),
        close(described, 3, flow("n2", "n3", 1.0), flow("n5", "n6", 1.0)),  # the switch is sound
    ]
    context = JudgingContext(described, METRICS)
    return list_findings(context, [replace(each, verdicts=judge_round(context, each)) for each in rounds])


def test_a_finding_goes_to_json_and_back() -> None:
    made = found(0.5)
    assert len(made) == 3
    back = json.decode(json.encode(made), type=tuple[Finding, ...])
    assert back == made
    assert all(isinstance(each.level, Level) for each in back)


def test_the_key_stays_while_the_numbers_change() -> None:
    keys = [each.key for each in found(0.5)]
    assert len(set(keys)) == 3
    assert [each.key for each in found(0.6)] == keys


def test_a_finding_says_where_it_sits() -> None:
    (first,) = (each for each in found(0.5) if each.element == "n1")
    assert (first.where, first.nodes_at, first.probe) == ("n1 out", ("n1",), "iperf3")
    assert first.links == (star().links_at["n1"][0].id,)
    assert first.members_up is None
