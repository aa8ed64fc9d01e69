"""Words of the load of a place: numbers in both directions, who tells them, what limits them, and why there are none."""

import pytest

from benchconsole.console.tui.queries.load_words import (
    NO_ROUND,
    NOBODY_TELLS,
    LoadWords,
    describe_load,
    find_load_place,
)
from benchconsole.console.view.link_loads import compute_link_loads
from benchconsole.console.view.run_view import RunView
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import LinkId, NodeId, SwitchId
from tests.console.view.test_link_loads import link, rate, running


def described(view: RunView, *, node: str = "", ends: tuple[str, ...] = (), switch: str = "") -> LoadWords:
    nodes = (NodeId(node),) if node else ()
    links = (LinkId(link(view.fabric, *ends).id),) if ends else ()
    switches = (SwitchId(switch),) if switch else ()
    place = find_load_place(view.fabric, nodes, links, switches) if nodes or links or switches else None
    return describe_load(view, compute_link_loads(view), place)


EVERYONE = {str(number): (rate(value),) for number, value in enumerate((4e8, 2e8, 1e8, 1e8), 1)}


def test_a_link_tells_both_directions_who_tells_and_who_limits() -> None:
    words = described(running(EVERYONE), ends=("leaf1", "spine1"))
    assert words.numbers == (
        "leaf1 to spine1   up 3.20 of 8.00 Gb/s (40 %), expected 8.00   down 0",
        "leaf1 to spine1   up 3.20 of 8.00 Gb/s (40 %)   down 0",
        "leaf1 to spine1   up 3.20 of 8.00 Gb/s   down 0",
    )
    assert words.told == ("4 of 4 flows tell, by ideal split", "4 of 4 flows tell")
    assert words.limit == "limit: leaf1 to spine1 (4 flows) and 3 more"


def test_a_number_that_some_test_is_missing_from_is_the_least() -> None:
    words = described(running({"1": (rate(4e8),)}), ends=("leaf1", "spine1"))
    assert words.numbers[2] == "leaf1 to spine1   up at least 1.60 of 8.00 Gb/s   down 0"
    assert words.told[0] == "1 of 4 flows tell, by ideal split"


def test_a_test_that_tells_nothing_is_no_zero() -> None:
    words = described(running({"1": (rate(4e8),)}), node="a2")
    assert words.numbers[2] == "a2   out – of 8.00 Gb/s   in 0"
    assert words.told == ("0 of 1 flow tells",)


def test_a_small_number_has_a_unit_of_its_own() -> None:
    words = described(running({"1": (rate(2e7),)}), node="a1")
    assert words.numbers[0] == "a1   out 160 Mb/s of 8.00 Gb/s (2 %), expected 4.00   in 0"


def test_a_node_sends_out_and_a_switch_up() -> None:
    view = running(EVERYONE)
    assert described(view, node="a1").numbers[2] == "a1   out 3.20 of 8.00 Gb/s   in 0"
    assert described(view, node="b1").numbers[2] == "b1   out 0   in 3.20 of 8.00 Gb/s"
    assert described(view, switch="leaf1").numbers[2] == "leaf1, 2 links up   up 6.40 of 16.0 Gb/s   down 0"
    assert described(view, switch="leaf2").numbers[2] == "leaf2, 2 links up   up 0   down 6.40 of 16.0 Gb/s"
    spine = described(view, switch="spine1").numbers[2]
    assert spine == "spine1, 2 links down   down 3.20 of 16.0 Gb/s   up 3.20 of 16.0 Gb/s"


def test_a_place_that_no_test_crosses_says_so() -> None:
    view = running({"1": (rate(4e8),)})
    over = replace(view, running=frozenset("1"))
    assert described(over, node="a4") == LoadWords(("a4   no test that runs now crosses it",))


def test_without_a_place_the_fullest_link_is_told() -> None:
    words = described(running(EVERYONE))
    assert words.numbers[2] == "fullest: a1 to leaf1   up 3.20 of 8.00 Gb/s   down 0"


@pytest.mark.parametrize("node", ["", "a1"])
def test_between_rounds_and_where_nobody_tells_there_are_no_old_numbers(node: str) -> None:
    view = running(EVERYONE)
    between = replace(view, current=None, ways=None, intervals={}, running=frozenset())
    assert described(between, node=node) == LoadWords((NO_ROUND,))
    assert described(replace(view, ways=None, intervals={}), node=node) == LoadWords((NOBODY_TELLS,))
    assert described(replace(view, intervals={})) == LoadWords(("none of 4 flows tells a number now",))
