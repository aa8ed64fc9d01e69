"""Documents that cannot lie: commands, probes and links are held against the code."""

import re
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from benchconsole.console.cli import COMMANDS, command
from benchconsole.probes.plugins.registry import load_probes

ROOT = Path(__file__).parents[2]
PROBE_PAGES = sorted((ROOT / "docs/probes").glob("*.md"))
MACHINE = """
schema: 1
fabric: page
switches: {leaf1: {role: leaf}}
nodes:
  n[1-64]: {class: documented}
  vm[1-16]: {}
  slic[1-2]: {}
  gw1: {role: gateway}
  st1: {role: storage, blank_disks: [S3Z8NX0K]}
links: [{from: "n[1-64],vm[1-16],slic[1-2],gw1,st1", to: leaf1, speed: 100 Gb/s}]
racks: {r1: {members: "n[1-64]"}}
storage: {data: {servers: st1}, lustre: {servers: st1}, fhgfs: {servers: st1}}
"""
"""Every node, group and storage system that a probe page speaks of."""


def test_every_command_is_described_and_its_summary_is_its_own() -> None:
    text = (ROOT / "docs/reference/commands.md").read_text()
    for name, summary in COMMANDS.items():
        assert f"## benchconsole {name}\n" in text, name
        assert summary in text, name


def test_the_help_of_every_command_can_be_read() -> None:
    for name in COMMANDS:
        result = CliRunner().invoke(command, [name, "--help"])
        assert result.exit_code == 0, (name, result.output)


def test_every_metric_is_described() -> None:
    text = (ROOT / "docs/reference/probes.md").read_text()
    for probe in load_probes(safe_mode=True).probes.values():
        assert f"## {probe.name}\n" in text
        for metric in probe.metrics:
            assert f"`{metric.name}`" in text, metric.name


def test_links_between_documents_lead_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text())]
    assert [f"{page.relative_to(ROOT)}: {link}" for page, link in links if not (page.parent / link).exists()] == []


def test_no_placeholder_was_left_in_a_document() -> None:
    pages = [
        ROOT / "README.md",
        ROOT / "CHANGELOG.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").rglob("*.md")),
    ]
    pattern = re.compile(r"@@\w*@@|\b(?:TODO|FIXME|TBD)\b")
    found = [
        f"{page.relative_to(ROOT)}:{number}: {line}"
        for page in pages
        for number, line in enumerate(page.read_text().splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == []


def check_on_page(page: Path, folder: Path, changes: tuple[str, str] = ("", "")) -> tuple[int, str]:
    """Exit code and output of ``check`` for the YAML of a probe page, put into a file that describes its nodes."""
    machine = yaml.safe_load(MACHINE)
    for text in re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL):
        machine |= yaml.safe_load(text.replace(*changes) if changes[0] else text)
    machine["classes"] = {"documented": next(iter(machine.get("classes", {"": {}}).values()))}
    file = folder / "page.yaml"
    file.write_text(yaml.safe_dump(machine, sort_keys=False))
    result = CliRunner().invoke(command, ["check", str(file)])
    return result.exit_code, result.output + str(result.exception or "")


@pytest.mark.parametrize("page", PROBE_PAGES, ids=lambda page: page.stem)
def test_the_yaml_of_every_probe_page_passes_check(page: Path, tmp_path: Path) -> None:
    code, output = check_on_page(page, tmp_path)
    assert code == 0, output


def test_a_criterion_of_a_page_that_check_refuses_is_seen(tmp_path: Path) -> None:
    code, output = check_on_page(ROOT / "docs/probes/dd.md", tmp_path, ("operation: read", "operaton: read"))
    assert code != 0
    assert "operaton" in output


def test_every_criterion_of_a_probe_page_stands_beside_a_stage_that_measures_it() -> None:
    shown = {page.stem: page.read_text() for page in PROBE_PAGES}
    for name, text in shown.items():
        planned = set(re.findall(r"probe: ([\w-]+)", text))
        asked = {metric.partition(".")[0] for metric in re.findall(r"\{metric: ([\w.-]+)", text)}
        assert asked <= planned, name
    assert sum("{metric: " in text for text in shown.values()) >= 10
