"""The words of flows are pure functions of the names of their ends, of the ports that they name, and of their streams."""

import pytest

from benchconsole.topology.model.fabric import Flow, NodeId
from benchconsole.topology.routing.flow_hashes import FlowWords, hash_text

PLAIN = Flow(NodeId("a"), NodeId("b"))
FIRST = Flow(NodeId("a"), NodeId("b"), leg="a--s")
LAST = Flow(NodeId("a"), NodeId("b"), last_leg="b--s")
TURNED = Flow(NodeId("b"), NodeId("a"))


@pytest.mark.parametrize(
    ("flows", "names"),
    [
        ([PLAIN, TURNED], [("a", "b"), ("b", "a")]),
        ([PLAIN, FIRST], [("a", "b"), ("a", "b", "a--s", "")]),
        ([PLAIN, LAST], [("a", "b"), ("a", "b", "", "b--s")]),
        ([LAST, FIRST], [("a", "b", "", "b--s"), ("a", "b", "a--s", "")]),
    ],
)
def test_ends_and_the_ports_that_are_named_make_the_words(flows: list[Flow], names: list[tuple[str, ...]]) -> None:
    words = FlowWords(flows)
    assert words.ends.tolist() == [hash_text(*each) for each in names]
    assert words.streams.tolist() == [hash_text(*each, "1") for each in names]


def test_streams_of_the_same_two_ends_are_numbered() -> None:
    words = FlowWords([PLAIN, TURNED, PLAIN])
    assert words.ends.tolist() == [hash_text("a", "b"), hash_text("b", "a"), hash_text("a", "b")]
    assert words.streams.tolist() == [hash_text("a", "b", "1"), hash_text("b", "a", "1"), hash_text("a", "b", "2")]
