"""Stages that a suite runs at once: what they must have in common, each refusal at its line."""

import pytest

from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.errors import TopologyError

HEAD = """\
schema: 1
fabric: two clusters
switches: {sw: {role: leaf}}
nodes: {"a[1-4]": {}, "b[1-3]": {}}
links: [{from: "a[1-4],b[1-3]", to: sw, speed: 10 Gb/s}]
suites:
  both:
"""


def read(*stages: str) -> str:
    """The problems of a suite of these stages; empty where it is read."""
    try:
        load_text(HEAD + "".join(f"    - {{{stage}}}\n" for stage in stages), "both.yaml")
    except TopologyError as error:
        return str(error)
    return ""


A, B = 'probe: ior, nodes: "a[1-4]"', 'probe: ior, nodes: "b[1-3]"'


def test_stages_of_one_probe_on_other_nodes_are_read() -> None:
    fabric = load_text(f"{HEAD}    - {{{A}, at_once: x}}\n    - {{{B}, at_once: x}}\n    - {{{A}}}\n", "both.yaml")
    assert [stage.at_once for stage in fabric.suites["both"].stages] == ["x", "x", ""]
    swept = "at_once: x, sweep: {tasks: [1, 2]}, repeat: 2"
    assert not read(f"{A}, {swept}", f"{B}, {swept}")


def test_stages_of_two_probes_may_be_on_the_same_nodes() -> None:
    assert not read(f"{A}, at_once: x", 'probe: mdtest, nodes: "a[1-4]", at_once: x')


@pytest.mark.parametrize(
    ("stages", "said"),
    [
        ((f"{A}, at_once: x", B), "8:46: at_once 'x': one stage alone"),
        ((f"{A}, at_once: x", f"{B}, at_once: x", A, f"{B}, at_once: x"), "11:46: at_once 'x': a second time"),
        ((f"{A}, at_once: x", f"{A}, at_once: x"), "a[1-4] in two stages of ior"),
        ((f"{A}, at_once: x, sweep: {{tasks: [1, 2]}}", f"{B}, at_once: x"), "unlike sweeps"),
        (
            (f"{A}, at_once: x, sweep: {{tasks: [1, 2]}}, stop: {{on: failure}}",
             f"{B}, at_once: x, sweep: {{tasks: [1, 2]}}, stop: {{on: failure}}"),
            "a sweep that ends early",
        ),
        (
            (f"{A}, at_once: x, sweep: {{queue: [1, 2]}}, steps: {{queue: {{run: [a, '{{value}}'], undo: [b]}}}}",
             f"{B}, at_once: x, sweep: {{queue: [1, 2]}}, steps: {{queue: {{run: [a, '{{value}}'], undo: [b]}}}}"),
            "steps that change nodes",
        ),
    ],
)  # fmt: skip
def test_what_cannot_run_at_once_is_refused(stages: tuple[str, ...], said: str) -> None:
    assert said in read(*stages)
