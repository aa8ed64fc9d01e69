"""Names in the order in which people count."""

from benchconsole.topology.natural_order import make_natural_key


def test_names_sort_as_people_count() -> None:
    assert sorted(["n10", "n2", "n1", "a"], key=make_natural_key) == ["a", "n1", "n2", "n10"]
