"""The facts of many stored tests, asked of the file in one question."""

import json
from collections.abc import Sequence

from benchconsole.probes.model.measuring import Fact
from benchconsole.store.codec.rows import FactRow, parse_fact
from benchconsole.store.reading.lazy_parts import AttemptAddress, StoredFacts
from benchconsole.store.reading.session_list import find_number
from benchconsole.store.reading.session_reading import find_labels
from benchconsole.topology.grouping import group_by_key

_FACTS_OF_TESTS = """SELECT fact.id, test.key, labels_id, fact.name, text, fact.number, unit
    FROM json_each(?3) AS asked CROSS JOIN test ON session_id = ?1 AND test.key = asked.value
    CROSS JOIN attempt ON attempt.round_id = test.round_id AND attempt.number = ?2
    CROSS JOIN result ON attempt_id = attempt.id AND test_id = test.id
    CROSS JOIN fact ON result_id = result.id WHERE ?4 IS NULL OR fact.name = ?4"""


def read_stored_facts(told: Sequence[Sequence[Fact]], name: str | None) -> list[tuple[Fact, ...]]:
    """The facts of each of ``told``, all or those that are called ``name``; StoreError."""
    places = [each.place if isinstance(each, StoredFacts) else None for each in told]
    asked = group_by_key(place for place in dict.fromkeys(places) if place is not None)
    found = {(of, test): facts for of, tests in asked.items() for test, facts in _ask(of, tests, name).items()}
    return [
        tuple(found.get(place, ()))
        if place is not None
        else tuple(fact for fact in facts if name is None or fact.fact == name)
        for place, facts in zip(places, told, strict=True)
    ]


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
