"""The facts of many stored tests, asked together, are those that each test tells by itself."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.model import kept_facts
from benchconsole.probes.model.kept_facts import read_facts_together
from benchconsole.probes.model.measuring import Fact, Result
from benchconsole.store.errors import StoreError
from benchconsole.store.reading import fact_reading, lazy_parts
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from benchconsole.topology.units import Unit
from tests.store.played import FABRIC, append_round, closed, measured, new, planned

NAMES = ("cpu.cores", "kernel.release", "nic.speed")
FACTS = st.lists(
    st.builds(
        Fact,
        st.sampled_from(NAMES),
        st.one_of(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), st.floats(-2.0, 2.0)),
        st.sampled_from([None, Unit.BYTE_RATE]),
        st.sampled_from([(), (("nic", "p0"),), (("nic", "p1"),)]),
    ),
    max_size=4,
)


async def keep(path: Path, told: Sequence[Sequence[Sequence[Fact]]]) -> list[Result]:
    """A session of a round for each of ``told``, which are the facts of its tests; its results as they are stored."""
    rounds = [planned(number) for number in range(1, len(told) + 1)]
    with Store.open(path) as store:
        key = await store.create_session(new(), rounds)
        for each, facts in zip(rounds, told, strict=True):
            pairs = zip(each.tests, facts, strict=True)
            results = tuple(replace(measured(test), facts=tuple(own)) for test, own in pairs)
            await append_round(store.session(key), closed(each, results), (), judged_by="j")
        return [result for each in store.session(key).read_rounds(FABRIC) for result in each.results]


@pytest.mark.parametrize("at_once", [1, 3, kept_facts.AT_ONCE])
@settings(max_examples=15, deadline=None)
@given(told=st.lists(st.lists(FACTS, min_size=4, max_size=4), min_size=1, max_size=3), mixed=st.randoms())
def test_facts_asked_together_are_those_of_each_test(
    tmp_path_factory: pytest.TempPathFactory, at_once: int, told: list[list[list[Fact]]], mixed: Random
) -> None:
    results = asyncio.run(keep(tmp_path_factory.mktemp("facts") / "s.db", told))
    facts = [result.facts for result in results]
    facts += [(Fact("cpu.cores", 2.0), Fact("boot.id", "x")), ()]  # of a result that was never stored
    facts += facts[:3]  # both nodes of a pair have its result
    mixed.shuffle(facts)
    lazy_parts.read_facts.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_facts, "AT_ONCE", at_once)
        assert list(read_facts_together(facts)) == [tuple(each) for each in facts]
        for name in NAMES:
            wanted = [tuple(fact for fact in each if fact.fact == name) for each in facts]
            assert list(read_facts_together(facts, name)) == wanted


async def test_one_question_is_asked_for_many_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = await keep(tmp_path / "s.db", [[[Fact("cpu.cores", 2.0)]] * 4])
    asked: list[int] = []
    whole = fact_reading._ask

    def count(address: lazy_parts.AttemptAddress, tests: Sequence[str], name: str | None) -> object:
        asked.append(len(tests))
        return whole(address, tests, name)

    monkeypatch.setattr(fact_reading, "_ask", count)
    lazy_parts.read_facts.cache_clear()
    first, *others = read_facts_together([result.facts for result in results])
    assert asked == [4]
    assert lazy_parts.read_facts.cache_info().misses == 0
    assert all(facts[0] is first[0] for facts in others)  # what is alike is one object


async def test_a_file_that_has_gone_is_told(tmp_path: Path) -> None:
    results = await keep(tmp_path / "s.db", [[[Fact("cpu.cores", 2.0)]] * 4])
    (tmp_path / "s.db").rename(tmp_path / "elsewhere.db")
    with pytest.raises(StoreError, match="the database has gone"):
        list(read_facts_together([result.facts for result in results]))
