"""What many stored tests told, asked together: each by itself would be ten thousand questions of a session."""

import json
from collections.abc import Iterator, Sequence

from benchconsole.probes.model.measuring import Fact
from benchconsole.store.codec.rows import FactRow, parse_fact
from benchconsole.store.reading.lazy_parts import AttemptAddress, StoredFacts
from benchconsole.store.reading.session_list import find_number
from benchconsole.store.reading.session_reading import find_labels
from benchconsole.topology.grouping import group_by_key

AT_ONCE = 512
"""Tests that are asked for in one question: so much is held at a time, and so often one can tell how far it is."""

_FACTS_OF_TESTS = """SELECT fact.id, test.key, labels_id, fact.name, text, fact.number, unit
    FROM json_each(?3) AS asked CROSS JOIN test ON session_id = ?1 AND test.key = asked.value
    CROSS JOIN attempt ON attempt.round_id = test.round_id AND attempt.number = ?2
    CROSS JOIN result ON attempt_id = attempt.id AND test_id = test.id
    CROSS JOIN fact ON result_id = result.id WHERE ?4 IS NULL OR fact.name = ?4"""


def read_facts_together(told: Sequence[Sequence[Fact]], name: str | None = None) -> Iterator[tuple[Fact, ...]]:
    """The facts of each of ``told``, which results have, in their order: all, or those that are called ``name``.

    Those of stored results are read from the file, ``AT_ONCE`` tests in one question. Facts that are alike are one
    object as a rule. StoreError where the file cannot be read.
    """
    for start in range(0, len(told), AT_ONCE):
        some = told[start : start + AT_ONCE]
        places = [each.place if isinstance(each, StoredFacts) else None for each in some]
        asked = group_by_key(place for place in dict.fromkeys(places) if place is not None)
        found = {(of, test): facts for of, tests in asked.items() for test, facts in _ask(of, tests, name).items()}
        for place, facts in zip(places, some, strict=True):
            if place is not None:
                yield tuple(found.get(place, ()))
            else:
                yield tuple(fact for fact in facts if name is None or fact.fact == name)


def _ask(address: AttemptAddress, tests: Sequence[str], name: str | None) -> dict[str, list[Fact]]:
    """The facts of tests of one attempt, by test; tests that told nothing are left out."""
    with address.database.reading() as connection:
        session = find_number(connection, address.session, address.database.path)
        asked = (session, address.number, json.dumps(tests), name)
        rows = sorted(connection.execute(_FACTS_OF_TESTS, asked))  # their ids are in the order of storing
        labels = find_labels(connection)
        alike: dict[tuple[object, ...], Fact] = {}
        found: dict[str, list[Fact]] = {}
        for row in rows:
            said = row[2:]
            fact = alike.get(said)
            if fact is None:
                of, *rest = said
                fact = alike[said] = parse_fact(FactRow(labels[of], *rest))
            found.setdefault(row[1], []).append(fact)
    return found
