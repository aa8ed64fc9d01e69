"""Names in the order in which people count."""

from benchconsole.console.text.natural_order import natural


def test_names_sort_as_people_count() -> None:
    assert sorted(["n10", "n2", "n1", "a"], key=natural) == ["a", "n1", "n2", "n10"]
