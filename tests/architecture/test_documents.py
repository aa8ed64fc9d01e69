"""Documents that cannot lie: commands, probes and links are held against the code."""

import re
from pathlib import Path

from click.testing import CliRunner

from benchconsole.console.cli import COMMANDS, command
from benchconsole.probes.plugins.registry import load_probes

ROOT = Path(__file__).parents[2]


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


def test_every_numbered_fault_has_one_row_and_its_tests_exist() -> None:
    text = (ROOT / "docs/reference/faults.md").read_text()
    assert re.findall(r"^\| (F\d+) \|", text, re.MULTILINE) == [f"F{number:02}" for number in range(1, 57)]
    named = re.findall(r"`((?:tests|benchmarks)/[\w/.]+)(?:::(\w+))?`", text)
    assert [place for place, _ in named if not (ROOT / place).exists()] == []
    assert [test for place, test in named if test and f"def {test}(" not in (ROOT / place).read_text()] == []
