"""The roles of devices: words in names first, then their distance to the nodes."""

import pytest

from benchconsole.topology.importers.roles import find_node_role, find_switch_role, infer_switch_roles, is_switch


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("dc1-leaf-1", "leaf"),
        ("SPINE02", "spine"),
        ("superspine1", "core"),
        ("tor7", "leaf"),
        ("sw3", None),
        ("leafy", None),
    ],
)
def test_words_of_switches(name: str, role: str | None) -> None:
    assert find_switch_role(name) == role


@pytest.mark.parametrize(
    ("name", "role"),
    [("oss-3", "storage"), ("login1", "login"), ("gw[1]", "gateway"), ("mgmt", "management"), ("n12", None)],
)
def test_words_of_nodes(name: str, role: str | None) -> None:
    assert find_node_role(name) == role


@pytest.mark.parametrize(
    ("word", "answer"),
    [("tor-switch", True), ("router", True), ("server", False), ("storage", False), ("patch-panel", None), ("", None)],
)
def test_words_of_inventories(word: str, answer: bool | None) -> None:
    assert is_switch(word) is answer


def test_the_distance_to_the_nodes_gives_leaf_spine_core() -> None:
    links = [("n", "a"), ("a", "b"), ("b", "c"), ("m", "a2"), ("a2", "b")]
    found = infer_switch_roles(["a", "b", "c", "a2", "lost"], links)
    assert {name: role for name, (role, _) in found.items()} == {
        "a": "leaf", "a2": "leaf", "b": "spine", "c": "core", "lost": None,
    }  # fmt: skip
    assert found["lost"][1] == "role not known: no cable leads from it to a node"


def test_four_tiers_or_a_name_that_says_chassis_start_with_the_chassis() -> None:
    chain = [("n", "a"), ("a", "b"), ("b", "c"), ("c", "d")]
    assert [role for role, _ in infer_switch_roles("abcd", chain).values()] == ["chassis", "leaf", "spine", "core"]
    named = infer_switch_roles(["chassis1", "b"], [("n", "chassis1"), ("chassis1", "b")])
    assert [role for role, _ in named.values()] == ["chassis", "leaf"]


def test_a_longer_way_is_no_distance() -> None:
    links = [("n", "a"), ("a", "b"), ("b", "c"), ("st", "c")]
    assert {name: role for name, (role, _) in infer_switch_roles("abc", links).items()} == {
        "a": "leaf",
        "b": "spine",
        "c": "leaf",
    }
