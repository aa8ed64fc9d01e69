"""Which tests of a session are the same one."""

import pytest

from benchconsole.probes.model.measuring import Round, Target, Test, labels
from benchconsole.probes.model.repeats import find_repeats, make_test_key
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from tests.probes.judging.rounds import star

N1, N2, N3 = (star().nodes[NodeId(name)] for name in ("n1", "n2", "n3"))
FIRST = Test("a", "iperf3", Target(N1, N2, labels=labels(size=1)), 1, "leaf1 to spine1")


def make_round(number: int, *tests: Test, stage: str = "trunks") -> Round:
    return Round(number, stage, "iperf3", tests, 10.0, "")


@pytest.mark.parametrize(
    ("other", "stage", "same"),
    [
        (replace(FIRST, id="b", round=2), "trunks", True),
        (FIRST, "neighbours", False),
        (replace(FIRST, probe="nuttcp"), "trunks", False),
        (replace(FIRST, target=replace(FIRST.target, node=N3)), "trunks", False),
        (replace(FIRST, target=replace(FIRST.target, peer=N3)), "trunks", False),
        (replace(FIRST, target=replace(FIRST.target, node=N2, peer=N1)), "trunks", False),
        (replace(FIRST, bundle="leaf1 to spine2"), "trunks", False),
        (replace(FIRST, target=replace(FIRST.target, labels=labels(size=2))), "trunks", False),
        (replace(FIRST, target=replace(FIRST.target, options={"seconds": 5})), "trunks", True),
        (replace(FIRST, sending=replace(FIRST.sending, source_port=20_001)), "trunks", False),
    ],
)
def test_the_same_test_has_the_same_place_in_the_plan(other: Test, stage: str, same: bool) -> None:
    assert (make_test_key(FIRST, "trunks") == make_test_key(other, stage)) is same


def test_a_set_of_nodes_is_the_same_as_itself_only() -> None:
    both = replace(FIRST, target=Target(N1, members=(N1, N2)))
    assert make_test_key(both, "s") == make_test_key(replace(both, id="b"), "s")
    assert make_test_key(both, "s") != make_test_key(replace(both, target=Target(N1, members=(N1, N3))), "s")


def test_repeats_are_found_once_whatever_the_order_of_the_rounds() -> None:
    second, third = (replace(FIRST, id=name, round=number) for name, number in (("b", 2), ("c", 3)))
    rounds = [make_round(3, third), make_round(1, FIRST), make_round(2, second)]
    assert find_repeats(rounds) == {"b": ("a",), "c": ("a", "b")}


def test_tests_of_one_round_repeat_nothing_of_it() -> None:
    twin = replace(FIRST, id="b")
    again = replace(FIRST, id="c", round=2)
    assert find_repeats([make_round(1, FIRST, twin)]) == {}
    assert find_repeats([make_round(1, FIRST, twin), make_round(2, again)]) == {"c": ("a", "b")}
