"""The page of ``check``: every shipped example at every width, in ASCII too, and hostile names as text."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len

from benchconsole import topology
from benchconsole.console.cli import command
from benchconsole.console.exits import BadInput
from benchconsole.console.static_report.check_json import make_check_record
from benchconsole.console.static_report.check_page import FIRST_SCREEN, format_brief, format_findings, format_page
from benchconsole.console.text.table import Column, Table, format_table, number, words
from benchconsole.topology.analysis.static_analysis import make_static_report
from benchconsole.topology.errors import TopologyError

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "topology" / "examples").glob("*.yaml"))
SCHEMA = json.loads((ROOT / "docs" / "reference" / "check.schema.json").read_text())


def check(*arguments: str) -> Result:
    return CliRunner().invoke(command, ["check", *arguments], prog_name="benchconsole")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_fits_every_width(path: Path) -> None:
    fabric = topology.load(path)
    report = make_static_report(fabric)
    for width in (80, 120, 200):
        lines = list(format_page(fabric, report, width))
        assert [line for line in lines if cell_len(line) > width] == []
        assert any(line.startswith("── Findings") for line in lines)
    for line in format_page(fabric, report, 80, ascii_only=True):
        assert line.isascii()


MOST_IMPORTANT = {
    "desy": "the loss of ib cuts off 68 nodes",
    "fermilab": "fcl-sw (leaf switch) takes 40.0 Gb/s from below and passes on 10.0 Gb/s: 4.00:1",
    "jetstream": "stated 2.00:1 end to end (3.1.1, 3.1.9); the cabling gives 2.00:1 at the chassis, 4.00:1 at the leaf, 8.00:1",
    "jetstream-tacc": "stated 2.00:1 end to end",
    "llnl": "stated 2.10 GB/s (table of bandwidths, disk limited), the smallest layer allows 2.00 GB/s",
    "sc11": "Worst ratio:",
    "sc11-lag": "Worst ratio:",
}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_first_screen_holds_the_most_important_sentence(path: Path) -> None:
    fabric = topology.load(path)
    report = make_static_report(fabric)
    first = list(format_page(fabric, report, 80))[:FIRST_SCREEN]
    assert MOST_IMPORTANT[path.stem] in " ".join(" ".join(first).split())
    brief = list(format_brief(fabric, report, 80))
    assert len(brief) <= FIRST_SCREEN
    assert brief[: len(brief) - 1] == first[: len(brief) - 1]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_finding_is_said_once(path: Path) -> None:
    """On the page, and in the list of findings; the way that the line of the worst ratio tells is told there."""
    fabric = topology.load(path)
    report = make_static_report(fabric)
    codes = Counter(each.code for each in report.findings)
    assert count_codes(format_findings(fabric, report, 200)) == codes
    assert codes - count_codes(format_page(fabric, report, 200)) <= Counter({"end-to-end": 1})


def count_codes(lines: Iterable[str]) -> Counter[str]:
    text = " ".join(" ".join(lines).split())
    return Counter(re.findall(r"\[([a-z]+(?:-[a-z]+)+|bottleneck|bisection|island)\]", text))


def test_strict_ends_with_what_was_found(tmp_path: Path) -> None:
    jetstream = str(ROOT / "topology/examples/jetstream.yaml")
    assert (check(jetstream, "--brief").exit_code, check(jetstream, "--brief", "--strict").exit_code) == (0, 1)
    assert check(str(ROOT / "topology/examples/desy.yaml"), "--strict", "--json").exit_code == 3
    path = tmp_path / "t.yaml"
    path.write_text(
        "schema: 1\nfabric: x\nswitches: {'s[1-2]': {role: leaf}, 'm[1-2]': {role: spine}}\nnodes: {'n[1-2]': {}}\nlinks:\n"
        "  - {from: 'n[1-2]', to: 's[1-2]', speed: 10G}\n  - {from: 's[1-2]', to: 'm[1-2]', speed: 10G}\n"
    )
    found = check(str(path), "--strict", "--findings")
    assert (found.exit_code, "warning" in found.stdout, "error" in found.stdout) == (0, False, False)
    assert isinstance(check(jetstream, "--brief", "--json").exception, BadInput)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_json_of_every_example_fits_its_schema(path: Path) -> None:
    fabric = topology.load(path)
    text = json.dumps(make_check_record(fabric, make_static_report(fabric)), allow_nan=False)
    jsonschema.validate(json.loads(text), SCHEMA)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_pages_in_the_documentation_are_what_is_printed(path: Path) -> None:
    fabric = topology.load(path)
    report = make_static_report(fabric)
    for width in (80, 200):
        shown = (ROOT / "docs" / "reference" / "examples" / f"{path.stem}-{width}.txt").read_text()
        assert shown == "".join(f"{line}\n" for line in format_page(fabric, report, width)), (
            "run docs/reference/generate.py"
        )


def test_examples_are_short_enough_to_read() -> None:
    """The machine in 60 lines; what its documents say of it, and what is asked of it, in 40 more."""
    machines = {path.name: re.split("(?m)^(?:stated|criteria|reported):", path.read_text())[0] for path in EXAMPLES}
    assert {name: lines for name, text in machines.items() if (lines := text.count("\n")) > 60} == {}
    assert {path.name: lines for path in EXAMPLES if (lines := path.read_text().count("\n")) > 100} == {}


def test_jetstream_in_json() -> None:
    found = json.loads(check(str(ROOT / "topology/examples/jetstream.yaml"), "--json").stdout)
    assert found["fabric"]["cables"] == 801
    assert {tier["name"]: tier["ratio"] for tier in found["tiers"]}["leaf"] == pytest.approx(4.0, rel=1e-9)
    mxl = next(each for each in found["switches"] if each["name"] == "mxl01-1")
    assert (mxl["down_bps"], mxl["up_bps"], mxl["ratio"]) == (160e9, 80e9, 2.0)
    assert "claim-contradicted" in {each["code"] for each in found["findings"]}


def test_the_totals_of_jetstream_are_those_of_its_report() -> None:
    found = json.loads(check(str(ROOT / "topology/examples/jetstream.yaml"), "--json").stdout)
    assert {each["class"]: (each["nodes"], each["sockets"], each["cores"]) for each in found["totals"]} == {
        "m630": (320, 640, 7680),
        "r630": (7, 14, 168),
        "r730": (20, 40, 480),
    }
    stated = {(each["what"], each["of"]): each for each in found["claims"]}
    assert stated["cores", "@compute"] == {
        "what": "cores", "of": "@compute", "source": "2", "stated": 15360, "computed": 7680, "outcome": "contradicted",
    }  # fmt: skip
    assert stated["disk", "@storage"]["computed"] == 960e12


def test_the_total_of_all_classes_stands_below_them_where_each_declares_its_part() -> None:
    shown = check(str(ROOT / "topology/examples/jetstream.yaml"), "--width", "100").stdout
    assert [line.split() for line in shown.splitlines() if line.startswith(("m630 ", "all  "))] == [
        ["m630", "320", "640", "7,680", "40.0", "TiB", "(44.0", "TB)", "640", "TB", "258", "TFLOP/s"],
        ["all", "347", "694", "8,328", "41.7", "TiB", "(45.8", "TB)", "1.61", "PB", "280", "TFLOP/s"],
    ]


def test_another_parameter() -> None:
    path = str(ROOT / "topology/examples/jetstream.yaml")
    found = json.loads(check(path, "--json", "--set", "per_tor=1").stdout)
    assert (found["fabric"]["parameters"], found["fabric"]["switches"]) == ({"per_tor": 1}, 20 + 40 + 3)
    assert found["claims"][0]["outcome"] == "holds"
    for given, kind in (
        ("per_tor", BadInput),
        ("per_tor=two", BadInput),
        ("pertor=2", TopologyError),
        ("per_tor=3", TopologyError),
    ):
        assert isinstance(check(path, "--set", given).exception, kind)


def test_slic_is_not_disk_limited() -> None:
    result = check(str(ROOT / "topology/examples/llnl.yaml"), "--width", "200")
    assert result.exit_code == 0
    line = next(
        line for line in result.stdout.splitlines() if "storage-ceiling" in line or ("slic" in line and "2.10" in line)
    )
    assert "2.00 GB/s" in line


def test_text_of_a_file_is_only_text(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(
        "schema: 1\nfabric: '[red]x[/red]'\nswitches: {s: {model: '[bold]m'}}\nnodes: {'n[1-2]': {}}\n"
        "links: [{from: 'n[1-2]', to: s, speed: 1G}]\n"
        "storage: {'[link=x]y': {vendor: '[blink]v', facts: {'a[b]': '{c}'}}}\n"
    )
    shown = check(str(path), "--width", "100").stdout
    for text in ("[red]x[/red]", "[bold]m", "[link=x]y", "[blink]v", "a[b]", "{c}"):
        assert text in shown


def test_columns_that_do_not_fit_become_sentences() -> None:
    table = Table(
        "T", (words("what", 10), number("how many nodes"), Column("long")), (("a b", "12", "x" * 50), ("c", "–", "y"))
    )
    wide, narrow = list(format_table(table, 80)), list(format_table(table, 40))
    assert [line.split() for line in wide[1:5]] == [
        ["how"],
        ["many"],
        ["what", "nodes", "long"],
        ["a", "b", "12", "x" * 50],
    ]
    assert "a b: how many nodes 12, long" in narrow[1]
    assert max(map(cell_len, narrow)) <= 52
    assert narrow[-1] == "c: long y"


def test_the_worst_ratio_says_that_it_counts_cables_where_a_switch_passes_less(tmp_path: Path) -> None:
    text = (
        "schema: 1\nfabric: x\nswitches: {{leaf: {{role: leaf{}}}, spine: {{role: spine}}}}\nnodes: {{'n[1-4]': {{}}}}\n"
        "links:\n  - {{from: 'n[1-4]', to: leaf, speed: 10G}}\n  - {{from: leaf, to: spine, speed: 40G}}\n"
    )
    path = tmp_path / "t.yaml"
    path.write_text(text.format(""))
    assert "Worst ratio: 1.00:1" in check(str(path), "--brief").stdout
    path.write_text(text.format(", ceilings: {backplane: {rate: 20 Gb/s}}"))
    assert "Worst ratio of cables alone: 1.00:1" in check(str(path), "--brief").stdout
    path.write_text(text.format("").replace("{}", "{ceilings: {slot: {rate: 5 Gb/s}}}"))
    assert "Worst ratio: 1.00:1" in check(str(path), "--brief").stdout
