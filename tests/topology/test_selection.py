"""Names folded by numbers at once say the same as ClusterShell does of each name by itself."""

from ClusterShell.NodeSet import NodeSet
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.topology.selection import expand, fold

PREFIXES = st.sampled_from(["n", "st", "a-", "b1-", "gw.site", "n1x", ""])
NUMBERS = st.sampled_from(["", "0", "7", "8", "9", "10", "07", "08", "09", "007", "008", "100", "0100"])
NAMES = st.lists(st.builds(str.__add__, PREFIXES, NUMBERS).filter(bool), min_size=1, max_size=12)


@given(NAMES)
def test_a_fold_is_that_of_each_name_by_itself(names: list[str]) -> None:
    assert fold(names) == str(NodeSet.fromlist(names))


def test_ten_thousand_names_fold_into_a_few_ranges() -> None:
    names = [f"n{number:05}" for number in range(1, 10_001) if number != 77]
    assert fold(reversed(names)) == "n[00001-00076,00078-10000]"
    assert sorted(expand(fold(names))) == names
