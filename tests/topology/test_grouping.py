from benchconsole.topology.grouping import group_by_key


def test_values_of_a_key_keep_their_order_and_keys_that_of_their_first_value() -> None:
    found = group_by_key([("b", 1), ("a", 2), ("b", 3)])
    assert list(found.items()) == [("b", [1, 3]), ("a", [2])]
    assert group_by_key([]) == {}
