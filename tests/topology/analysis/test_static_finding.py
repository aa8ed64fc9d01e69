from benchconsole.topology.analysis.static_finding import FOLDED, fold_names


def test_names_are_folded_and_very_many_are_counted() -> None:
    assert fold_names(["leaf1", "leaf2", "leaf4"]) == "leaf[1-2,4]"
    assert fold_names([f"n{number}" for number in range(FOLDED + 1)]) == "n0 and 1,000 more"
