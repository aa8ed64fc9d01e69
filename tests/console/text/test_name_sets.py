"""Words about nodes, folded where only the node differs."""

import pytest

from benchconsole.console.text.name_sets import anonymize, group_alike


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("n1 at 10.0.0.1 refused", "NODE at ADDRESS refused"),
        ("n10 refused n1", "n10 refused NODE"),
        ("version 1.2.3 is old", "version 1.2.3 is old"),
    ],
)
def test_the_name_and_the_address_of_a_node_are_left_out(words: str, said: str) -> None:
    assert anonymize(words, "n1") == said


def test_nodes_fold_by_their_words_and_one_alone_keeps_them() -> None:
    reasons = [("n1", "no route to 10.0.0.1"), ("n2", "n2 refused"), ("n3", "no route to 10.0.0.3")]
    assert group_alike(reasons) == [("no route to ADDRESS", ["n1", "n3"]), ("n2 refused", ["n2"])]
