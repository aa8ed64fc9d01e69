"""Mappings that only grow say what dictionaries say, and what was handed out never changes."""

from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.console.view.persistent_map import LayeredMap, OpenTests, make_layered

KEYS = st.integers(0, 30)
STEPS = st.lists(st.dictionaries(KEYS, st.integers()), max_size=30)


@given(start=st.dictionaries(KEYS, st.integers()), steps=STEPS, ask=st.lists(st.booleans(), max_size=30))
@settings(max_examples=60)
def test_every_step_says_what_a_dictionary_says_and_keeps_saying_it(
    start: dict[int, int], steps: list[dict[int, int]], ask: list[bool]
) -> None:
    plain, held = dict(start), LayeredMap(start)
    kept = [(dict(plain), held)]
    for step, asked in zip(steps, [*ask, *[False] * 30], strict=False):
        plain.update(step)
        held = held.plus(step)
        if asked:
            assert list(held) == list(plain)
        kept.append((dict(plain), held))
    for was, now in kept:
        assert len(now) == len(was)
        assert all((key in now) is (key in was) for key in range(31))
        assert all(now[key] == value for key, value in was.items())
        assert list(now.items()) == list(was.items())
        assert list(now.values()) == list(was.values())
        assert [now.get(key, -1) for key in range(31)] == [was.get(key, -1) for key in range(31)]
        assert now == was


def test_nothing_more_is_the_same_object_and_a_mapping_that_grows_is_not_copied() -> None:
    held = LayeredMap({1: 2})
    assert held.plus({}) is held
    assert make_layered(held) is held
    assert make_layered({1: 2}) == held


@given(steps=st.lists(st.tuples(st.sets(KEYS), st.sets(KEYS)), max_size=12))
@settings(max_examples=60)
def test_what_is_open_was_started_and_has_not_ended(steps: list[tuple[set[int], set[int]]]) -> None:
    begun: dict[int, None] = {}
    over: LayeredMap[int, int] = LayeredMap()
    held: OpenTests[int] = OpenTests()
    kept = []
    for starts, ends in steps:
        begun |= dict.fromkeys(starts)
        after = over.plus(dict.fromkeys(ends, 0))
        held = held.moved(dict.fromkeys(starts), dict.fromkeys(ends, 0), after)
        over = after
        kept.append((set(begun) - set(over), held))
    for was, now in kept:
        assert set(now) == was
        assert len(now) == len(was)
        assert all((key in now) is (key in was) for key in range(31))
