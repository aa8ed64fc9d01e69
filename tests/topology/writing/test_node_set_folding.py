"""Short texts with the same meaning: node sets, addresses, ports."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.selection import expand
from benchconsole.topology.writing.node_set_folding import MAX_KEY, fold_devices, fold_links, fold_short

NAMES = st.lists(
    st.builds("{}{}{}".format, st.sampled_from(["n", "b01-", "x."]), st.sampled_from(["", "0", "00"]), st.integers(1, 120)),
    min_size=1, max_size=12, unique=True,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(names=NAMES)
def test_a_short_text_expands_to_the_same_names(names: list[str]) -> None:
    assert sorted(expand(fold_short(names))) == sorted(names)


def test_sets_that_the_reader_takes_for_too_many_are_listed() -> None:
    names = [f"{kind}{number}" for kind in "abcdef" for number in range(1, 13)]
    assert sorted(expand(fold_short(names))) == sorted(names)


@settings(max_examples=100, deadline=None)
@given(names=NAMES, order=st.randoms(use_true_random=False))
def test_addresses_stay_with_their_nodes(names: list[str], order: random.Random) -> None:
    hosts = [f"10.0.{number // 4}.{number % 4}" for number in range(len(names))]
    order.shuffle(hosts)
    section = {name: {"address": host} for name, host in zip(names, hosts, strict=True)}
    found: dict[str, object] = {}
    for text, values, _ in fold_devices(section, {}):
        found.update(zip(expand(text), expand(str(values["address"])), strict=True))
    assert found == {name: entry["address"] for name, entry in section.items()}


def test_links_are_gathered_from_below_then_upwards_with_ports_in_order() -> None:
    nodes = [{"from": f"n{number}:eth0", "to": f"leaf1:Eth{number}", "speed": "1G"} for number in range(1, 13)]
    trunks = [{"from": f"leaf{leaf}", "to": f"spine{spine}", "speed": "4G"} for leaf in (1, 2) for spine in (1, 2)]
    assert [values for _, values, _ in fold_links([*nodes, *trunks], {})] == [
        {"from": "n[1-12]:eth0", "to": "leaf1:Eth[1-12]", "speed": "1G"},
        {"from": "leaf[1-2]", "to": "spine[1-2]", "speed": "4G"},
    ]


LEGS = st.permutations(["s1", "s2", "s3"]).flatmap(
    lambda switches: st.tuples(st.just(switches), st.lists(st.sampled_from(["1G", "10G"]), min_size=1, max_size=3))
)


@settings(max_examples=150, deadline=None)
@given(nodes=st.lists(LEGS, min_size=1, max_size=6))
def test_of_every_node_the_legs_of_a_bond_keep_their_order(nodes: list[tuple[list[str], list[str]]]) -> None:
    section = [
        {"from": f"n{number}:eth0", "to": f"{switch}:Eth{number}", "speed": speed, "bond": "active-backup"}
        for number, (switches, speeds) in enumerate(nodes)
        for switch, speed in zip(switches, speeds, strict=False)
    ]
    found: dict[str, list[tuple[str, object]]] = {}
    for _, values, _ in fold_links(section, {}):
        for node in expand(str(values["from"]).partition(":")[0]):
            found.setdefault(node, []).append((str(values["to"]).partition(":")[0], values["speed"]))
    assert found == {f"n{number}": list(zip(*legs, strict=False)) for number, legs in enumerate(nodes)}


def test_notes_and_several_links_of_one_pair_stay_apart() -> None:
    pair = [{"from": "a", "to": "s1", "speed": "1G"}, {"from": "a", "to": "s1", "speed": "1G", "lag": "x"}]
    other = [{"from": "b", "to": "s1", "speed": "1G"}, {"from": "c", "to": "s1", "speed": "1G"}]
    rows = fold_links([*pair, *other], {3: "speed as given"})
    assert [(values["from"], note) for _, values, note in rows] == [
        ("a", ""),
        ("a", ""),
        ("b", ""),
        ("c", "speed as given"),
    ]


@settings(max_examples=20, deadline=None)
@given(count=st.integers(60, 400), seed=st.randoms(use_true_random=False))
def test_no_key_is_longer_than_yaml_reads_and_every_name_stands_in_one(count: int, seed: random.Random) -> None:
    names = sorted({f"{seed.choice('abcdefgh')}{seed.randrange(10**6)}x{seed.choice('pqrs')}" for _ in range(count)})
    rows = list(fold_devices({name: {"role": "leaf"} for name in names}, {}))
    assert max(len(text) for text, _, _ in rows) <= MAX_KEY
    assert sorted(name for text, _, _ in rows for name in expand(text)) == names
