"""Documents that cannot lie: commands, probes and links are held against the code."""

import re
from pathlib import Path

from click.testing import CliRunner

from console.cli import COMMANDS, command
from probes.plugins import load

ROOT = Path(__file__).parents[2]


def test_every_command_is_described_and_its_summary_is_its_own() -> None:
    text = (ROOT / "docs/reference/commands.md").read_text()
    for name, (_, summary) in COMMANDS.items():
        assert f"## benchconsole {name}\n" in text, name
        assert summary in text, name


def test_the_help_of_every_command_can_be_read() -> None:
    for name in COMMANDS:
        result = CliRunner().invoke(command, [name, "--help"])
        assert result.exit_code == 0, (name, result.output)


def test_every_metric_is_described() -> None:
    text = (ROOT / "docs/reference/probes.md").read_text()
    for probe in load(safe_mode=True).probes.values():
        assert f"## {probe.name}\n" in text
        for metric in probe.metrics:
            assert f"`{metric.name}`" in text, metric.name


def test_links_between_documents_lead_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text())]
    assert [f"{page.relative_to(ROOT)}: {link}" for page, link in links if not (page.parent / link).exists()] == []
