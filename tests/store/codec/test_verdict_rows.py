"""Verdicts come back as they went in, and what they have in common is kept once."""

import json

from hypothesis import given

from benchconsole.probes.model.judgement import Verdict
from benchconsole.store.codec import verdict_rows
from tests.store import strategies
from tests.store.played import planned, verdicts


@given(strategies.verdicts(7))
def test_verdicts_round_trip(verdict: Verdict) -> None:
    assert verdict_rows.VerdictParser(7).parse(verdict_rows.make_verdict_row(verdict)) == verdict


def test_what_verdicts_of_a_round_have_in_common_is_one_object() -> None:
    each = planned(1)
    parser = verdict_rows.VerdictParser(1, each.tests)
    asked = [verdict._replace(required=bound) for bound in (1.5e8, 2.5e8) for verdict in verdicts(each)]
    read = [parser.parse(_copy_row(verdict_rows.make_verdict_row(verdict))) for verdict in asked]
    assert read == asked
    first, again = read[: len(read) // 2], read[len(read) // 2 :]
    for one, other, test in zip(first, again, each.tests, strict=True):
        assert one.test is other.test is test.id
        assert one.nodes[0] is test.target.node.id
        assert one.subject is other.subject
        assert one.nodes is other.nodes
        assert one.evidence is other.evidence
        assert one.value is other.value
    assert first[0].required is first[1].required


def _copy_row(row: verdict_rows.NamedVerdictRow) -> verdict_rows.NamedVerdictRow:
    """The row as another process reads it: no object of it is one that is known here."""
    return row._replace(verdict=verdict_rows.VerdictRow._make(json.loads(json.dumps(row.verdict))))
