"""Templates: repeated structure said once, with the place of every mistake, and no way to run away."""

from pathlib import Path

import pytest

from benchconsole import topology
from benchconsole.topology.errors import TopologyError
from tests.fabrics import fabric

RACKS = """\
schema: 1
fabric: racks
parameters: {per: 2, lag: 3}
templates:
  rack:
    nodes: {"n{r:02}-[1-{per}]": {role: compute}}
    switches: {"leaf{r}": {role: leaf}}
    racks: {"r{r}": {members: "n{r:02}-[1-{per}],leaf{r}"}}
    links:
      - {from: "n{r:02}-[1-{per}]", to: "leaf{r}", speed: 10 Gb/s}
      - {from: "leaf{r}", to: "spine[1-2]", speed: 40 Gb/s, count: "{lag}"}
  row:
    use: [{template: rack, r: "{(row-1)*2+1}-{row*2}"}]
use: [{template: row, row: 1-3}]
switches: {"spine[1-2]": {role: spine}}
nodes: {"gw[1-{per}]": {role: gateway}}
links: [{from: "gw[1-{per}]", to: spine1, speed: 10 Gb/s}]
"""


def problems(folder: Path, text: str, **parameters: int) -> list[str]:
    path = folder / "t.yaml"
    path.write_text(text)
    with pytest.raises(TopologyError) as caught:
        topology.load(path, parameters=parameters)
    return [str(problem).removeprefix(f"{folder}/") for problem in caught.value.problems]


def test_nested_templates_are_written_out(tmp_path: Path) -> None:
    found = fabric(tmp_path, RACKS)
    assert len(found.nodes) == 6 * 2 + 2
    assert [name for name in found.switches if name.startswith("leaf")] == [f"leaf{i}" for i in range(1, 7)]
    assert found.links["leaf6--spine2"].count == 3  # type: ignore[index]
    assert {group.name: len(group.members) for group in found.groups} == {f"r{i}": 3 for i in range(1, 7)}
    assert dict(found.parameters) == {"per": 2, "lag": 3}


def test_parameters_can_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(RACKS)
    assert len(topology.load(path, parameters={"per": 8}).nodes) == 6 * 8 + 8
    assert "unknown parameter 'pr'" in problems(tmp_path, RACKS, pr=2)[0]
    assert "did you mean per?" in problems(tmp_path, RACKS, pr=2)[0]


def test_words_and_several_variables(tmp_path: Path) -> None:
    text = (
        "schema: 1\nfabric: x\ntemplates:\n  site: {nodes: {'n-{s}-{i}': {}}}\n"
        "use: [{template: site, s: [east, west], i: '1,3-5/2'}]\n"
    )
    assert list(fabric(tmp_path, text).nodes) == [f"n-{s}-{i}" for s in ("east", "west") for i in (1, 3, 5)]


def test_what_a_template_repeats_is_said_once_with_its_place(tmp_path: Path) -> None:
    found = problems(tmp_path, RACKS.replace('to: "leaf{r}"', 'to: "leef{r}"'))
    assert len(found) == 1
    assert found[0].startswith("t.yaml:10:41: unknown device 'leef1' (and 5 more of this place)")
    assert "did you mean leaf1?" in found[0]


def test_a_mistake_of_shape_inside_a_template_has_its_place(tmp_path: Path) -> None:
    found = problems(tmp_path, RACKS.replace("speed: 40 Gb/s,", "sped: 40 Gb/s,"))
    assert any(line.startswith("t.yaml:11:") and "unknown key 'sped'" in line for line in found)


@pytest.mark.parametrize(
    ("old", "new", "place", "what"),
    [
        ("use: [{template: row, row: 1-3}]", "use: [{template: rew, row: 1-3}]", "13:18", "did you mean row?"),
        ("use: [{template: row, row: 1-3}]", "use: [{template: row, raw: 1-3}]", "13:", "unknown name 'row'"),
        ("use: [{template: row, row: 1-3}]", "use: [{template: row, row: 3-1}]", "13:28", "the range 3-1"),
        ("use: [{template: row, row: 1-3}]", "use: [{template: row, row: 1-99999999}]", "13:28", "the range 1-99"),
        ("use: [{template: row, row: 1-3}]", "use: row", "15:6", "a list of {template: NAME"),
        ("{template: rack, r:", "{template: row, row:", "13:22", "a loop: row uses row"),
        ("row: 1-3", "row: '{6/4}'", "15:", "not a whole number"),
        ('switches: {"leaf{r}": {role: leaf}}', "switches: {leaf: {role: leaf}}", "7:", "a second time"),
        ("racks: {", "rucks: {", "8:5", "unknown key 'rucks' in a template, expected one of"),
        ("parameters: {per: 2,", "parameters: {per: two,", "3:19", "a whole number"),
    ],
)
def test_mistakes(tmp_path: Path, old: str, new: str, place: str, what: str) -> None:
    assert old in RACKS
    found = problems(tmp_path, RACKS.replace(old, new))
    assert any(what in line for line in found), found
    if place:
        assert any(line.startswith("t.yaml:") and what in line for line in found)


def test_longer_loops_are_named(tmp_path: Path) -> None:
    text = (
        "schema: 1\nfabric: x\nnodes: {a: {}}\ntemplates:\n"
        "  a: {use: [{template: b}]}\n  b: {use: [{template: c}]}\n  c: {use: [{template: a}]}\nuse: [{template: a}]\n"
    )
    assert problems(tmp_path, text) == [
        "t.yaml:7:24: a loop: a uses b uses c uses a, expected templates that do not use themselves"
    ]


def test_templates_that_multiply_without_end_are_stopped(tmp_path: Path) -> None:
    levels = "".join(f"  t{i}: {{use: [{{template: t{i + 1}, k: 1-99}}]}}\n" for i in range(9))
    text = f"schema: 1\nfabric: x\nnodes: {{a: {{}}}}\ntemplates:\n{levels}  t9: {{nodes: {{'n{{k}}': {{}}}}}}\nuse: [{{template: t0}}]\n"
    assert "templates that write without end" in problems(tmp_path, text)[0]


def test_the_value_of_a_step_is_no_parameter(tmp_path: Path) -> None:
    suite = (
        "suites:\n  faults:\n    - probe: iozone\n      sweep: {daemon: [start, stop]}\n"
        '      steps: {daemon: {run: [systemctl, "{value}", "d{per}"], undo: [systemctl, start, "d{per}"]}}\n'
    )
    path = tmp_path / "t.yaml"
    path.write_text(RACKS + suite)
    (stage,) = topology.load(path).suites["faults"].stages
    assert stage.sweep is not None
    (step,) = stage.sweep.steps
    assert step.make_command("stop") == ("systemctl", "stop", "d2")
    assert step.undo == ("systemctl", "start", "d2")
