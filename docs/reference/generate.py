"""Writes what follows from the code: commands.md, probes.md, faults.md and the schema of topology files.

Run it after a change.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import fault_page
from click.testing import CliRunner

from benchconsole.console.cli import COMMANDS, command
from benchconsole.console.cli.probes import list_alone
from benchconsole.console.static_report.check_page import format_page
from benchconsole.probes.api import Probe
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.topology import load as load_fabric
from benchconsole.topology.analysis.static_analysis import make_static_report
from benchconsole.topology.description import raw

HERE = Path(__file__).parent


def commands() -> str:
    """Every command with its help."""
    parts = ["# Commands\n\nWritten by `docs/reference/generate.py` from the commands themselves.\n"]
    text = CliRunner().invoke(command, ["--help"], prog_name="benchconsole", terminal_width=88).output
    parts.append(
        f"## benchconsole\n\nThe options before a command hold for every command.\n\n```text\n{text.strip()}\n```\n"
    )
    for name, summary in COMMANDS.items():
        text = CliRunner().invoke(command, [name, "--help"], prog_name="benchconsole", terminal_width=88).output
        parts.append(f"## benchconsole {name}\n\n{summary}\n\n```text\n{text.strip()}\n```\n")
    return "\n".join(parts)


def probes() -> str:
    """Every built-in probe with its metrics."""
    found = load_probes(safe_mode=True).probes
    parts = ["# Probes\n\nWritten by `docs/reference/generate.py` from the built-in probes.\n", _overview(found)]
    for probe in found.values():
        more = f" More: [{page_of(probe).stem}](../probes/{page_of(probe).name})." if page_of(probe).exists() else ""
        parts.append(f"## {probe.name}\n\n{probe.summary}.{more}\n")
        parts.append(f"{_needs(probe)}\n")
        if probe.options:
            rows = "\n".join(f"| `{key}` | `{value}` |" for key, value in probe.options.items())
            parts.append(f"| option | default |\n|---|---|\n{rows}\n")
        if probe.metrics:
            rows = "\n".join(f"| `{each.name}` | {each.unit.value} | {each.summary} |" for each in probe.metrics)
            parts.append(f"| metric | unit | what |\n|---|---|---|\n{rows}\n")
    return "\n".join(parts)


def page_of(probe: Probe) -> Path:
    """Where the page of a probe is."""
    return HERE.parent / "probes" / f"{probe.name.removesuffix('-set')}.md"


def _overview(found: Mapping[str, Probe]) -> str:
    rows = "\n".join(
        f"| [{probe.name}](#{probe.name}) | {probe.shape.value} | {probe.safety.value} "
        f"| {', '.join(list_alone(probe)) or '-'} | {probe.estimate(probe.options):,.0f} s | {probe.source or '-'} |"
        for probe in found.values()
    )
    head = (
        "| probe | runs on | on a node in use it | has to itself | takes about | as in |\n|---|---|---|---|---|---|\n"
    )
    return f"{head}{rows}\n"


def _needs(probe: Probe) -> str:
    """The nodes that it runs on, its work there, its needs."""
    where = {"node": "a node", "pair": "two nodes", "set": "a set of nodes"}[probe.shape.value]
    tools = [
        f"`{tool}`"
        + (f" {probe.versions[tool]} or newer" if tool in probe.versions else "")
        + (f" ({package})" if package else " (not packaged by Debian)")
        for tool, package in probe.tools.items()
    ] + (["the administrator"] if probe.privileged else [])
    needs = ", ".join(tools) or "nothing beyond a shell"
    return f"Runs on {where}; on a node in use it {probe.safety.value}. Needs {needs}."


def checks() -> Iterator[tuple[str, str]]:
    """The output of ``check`` for each shipped example, at 80 and at 200 columns: file name and text."""
    for path in sorted((raw.SCHEMA_FILE.parent / "examples").glob("*.yaml")):
        fabric = load_fabric(path)
        report = make_static_report(fabric)
        for width in (80, 200):
            yield f"{path.stem}-{width}.txt", "".join(f"{line}\n" for line in format_page(fabric, report, width))


if __name__ == "__main__":
    (HERE / "commands.md").write_text(commands())
    (HERE / "probes.md").write_text(probes())
    fault_page.PAGE.write_text(fault_page.make_page(fault_page.read_rows(), fault_page.find_marked()))
    raw.SCHEMA_FILE.write_text(raw.format_schema())
    (HERE / "examples").mkdir(exist_ok=True)
    for name, text in checks():
        (HERE / "examples" / name).write_text(text)
