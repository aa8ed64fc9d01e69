"""Mistakes of shape where a value may be of several kinds."""

import pytest

from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.errors import TopologyError


@pytest.mark.parametrize(
    ("of", "said"),
    [
        ("{metric: stream.copy, foo: 1}", "unknown key 'foo', expected one of metric, where"),
        ("{metrik: stream.copy}", "no key 'metric'"),
        ("{}", "no key 'metric'"),
        ("[1]", "a list, expected one of capacity, peak, ceiling, rtt, peers"),
        ("{metric: 3}", "3, expected text"),
    ],
)
def test_a_mapping_that_is_one_of_several_kinds_is_told_by_its_own_mistake(of: str, said: str) -> None:
    text = (
        "schema: 1\nfabric: toy\nswitches: {leaf: {role: leaf}}\nnodes: {n1: {}, n2: {}}\n"
        'links: [{from: "n[1-2]", to: leaf, speed: 10 Gb/s}]\n'
        f"criteria:\n  - {{metric: stream.triad, at_least: 90 %, of: {of}}}\n"
    )
    with pytest.raises(TopologyError) as refused:
        load_text(text, "toy.yaml")
    assert said in str(refused.value)
