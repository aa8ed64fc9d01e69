"""Names folded by numbers at once say the same as ClusterShell does of each name by itself."""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address

import pytest
from ClusterShell.NodeSet import NodeSet
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.errors import SelectionError, find_near
from benchconsole.topology.selection import NAME, choose, expand, expand_addresses, fold, select

PREFIXES = st.sampled_from(["n", "st", "a-", "b1-", "gw.site", "n1x", ""])
NUMBERS = st.sampled_from(["", "0", "7", "8", "9", "10", "07", "08", "09", "007", "008", "100", "0100"])
NAMES = st.lists(st.builds(str.__add__, PREFIXES, NUMBERS).filter(bool), min_size=1, max_size=12)


@settings(max_examples=300)
@given(NAMES)
def test_a_fold_is_read_again_as_its_names(names: list[str]) -> None:
    assume(all(map(NAME.fullmatch, names)))
    assert sorted(expand(fold(names))) == sorted(set(names))
    assert set(NodeSet(fold(names))) == set(names)


@given(NAMES)
def test_a_fold_is_that_of_each_name_by_itself(names: list[str]) -> None:
    theirs = str(NodeSet.fromlist(names))
    unlike_padded = any(len({len(name) for name in names if name.strip("0123456789") == stem}) > 1 for stem in
                        {name.strip("0123456789") for name in names})  # fmt: skip
    assert fold(names) == theirs or unlike_padded


@pytest.mark.parametrize(
    ("names", "folded"),
    [
        (["n08", "n09", "n10", "n100"], "n[08-10,100]"),
        (["n01", "n1"], "n01,n1"),
        (["n099", "n100", "n1000", "n5"], "n[099-100],n1000,n5"),
        (["r1n1", "r1n01"], "r1n1,r1n01"),
    ],
)
def test_unlike_paddings_are_folded_apart_where_a_set_of_them_is_refused(names: list[str], folded: str) -> None:
    assert fold(names) == folded
    assert sorted(expand(folded)) == sorted(names)


@pytest.mark.fault("F05")
@pytest.mark.parametrize("text", ["n[1-08]", "n[01-8]", "n[1,08]", "n[08-100]", "n[08,099]", "n[01-10,8-12]"])
def test_unlike_paddings_in_one_set_are_refused(text: str) -> None:
    with pytest.raises(SelectionError, match="mixes paddings"):
        expand(text)


def test_ten_thousand_names_fold_into_a_few_ranges() -> None:
    names = [f"n{number:05}" for number in range(1, 10_001) if number != 77]
    assert fold(reversed(names)) == "n[00001-00076,00078-10000]"
    assert sorted(expand(fold(names))) == names


def test_a_dash_that_is_no_minus_is_named() -> None:
    with pytest.raises(SelectionError, match=r"has '–' \(U\+2013\), which is no minus: write -"):
        expand("n[01–08]")
    with pytest.raises(SelectionError, match="U\\+2212"):
        choose("n[1−8]", ["n1"], {})


@pytest.mark.parametrize(
    ("word", "near"),
    [("n1", "n01"), ("n08", "n8"), ("n16", "n16"), ("rack2-n5", "rack02-n05"), ("n99", "n09"), ("q", None)],
)
def test_a_name_of_the_same_numbers_is_meant_before_all_others(word: str, near: str | None) -> None:
    known = ["n16", "n01", "n09", "n8", "rack02-n05"]
    assert find_near(word, known) == near
    if near is not None and word not in known:
        with pytest.raises(SelectionError, match=f"unknown node {word}, did you mean {near}?"):
            choose(word, known, {})


@given(
    st.sampled_from(("n", "a1b", "x-", "rack1.n", "st_")),
    st.integers(0, 1200), st.integers(0, 40), st.sampled_from((0, 2, 4)),
)  # fmt: skip
def test_a_single_range_is_expanded_as_clustershell_does(prefix: str, first: int, more: int, width: int) -> None:
    last = first + more
    text = f"{prefix}[{first:0{width}}-{last:0{width}}]"
    assume(len(f"{first:0{width}}") == len(f"{last:0{width}}") or not width)
    assert expand(text) == list(NodeSet(text))


@given(st.lists(st.ip_addresses(), min_size=1, max_size=5, unique=True))
def test_addresses_are_read_as_they_are_written(addresses: list[IPv4Address | IPv6Address]) -> None:
    exploded = ",".join(address.exploded.upper() for address in addresses)
    assert expand_addresses(exploded) == [str(address) for address in addresses]


@given(st.integers(0, 9999), st.integers(0, 20))
def test_a_range_of_an_ipv6_address_keeps_its_digits(first: int, more: int) -> None:
    expected = [str(IPv6Address(f"fd00::{number}")) for number in range(first, min(first + more, 9999) + 1)]
    assert expand_addresses(f"fd00::[{first}-{min(first + more, 9999)}]") == expected


def test_a_plain_set_asks_for_no_groups_and_one_name_walks_no_nodes() -> None:
    described = load_text(
        'schema: 1\nfabric: x\nnodes: {"n[1-3]": {}}\nswitches: {s: {}}\nlinks: [{from: "n[1-3]", to: s, speed: 1G}]\n',
        "x",
    )
    assert select(described, "n[3,1]") == ("n1", "n3")
    assert "node_groups" not in vars(described)
    assert select(described, "@switch:s", "n2") == ("n1", "n3")
    assert described.node_groups is described.node_groups

    class Known(dict[str, int]):
        def __iter__(self) -> Iterator[str]:
            raise AssertionError("walked")

    assert choose("n2", Known(n1=1, n2=2), {}) == ["n2"]
