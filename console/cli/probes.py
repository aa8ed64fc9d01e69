"""Prints the catalogue of probes, and plugins that could not be used."""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from benchconsole.console.cli.common import json_option, print_json, read_catalogue
from benchconsole.console.exits import BadInput
from benchconsole.console.text.cells import wrap_text
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import Column, Table, format_body, number, words
from benchconsole.probes.api import PlanError, Probe
from benchconsole.probes.planning.design_options import make_example_target
from benchconsole.probes.plugins.registry import ProbeCatalogue
from benchconsole.topology.units import duration

_COLUMNS_FROM = 110
"""Cells of a terminal in which columns can be read."""

_SHAPES = {"node": "a node", "pair": "two nodes", "set": "a set of nodes"}
_SAFETY = {
    "reads": "reads only",
    "loads": "loads what it tests",
    "destroys": "destroys data, on disks that were named and confirmed",
}


@click.command("probes")
@click.argument("names", nargs=-1, metavar="[PROBE]...")
@click.option(
    "--script",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="An input script of IOR: print it as stages of a suite, with the probe ior named.",
)
@json_option
def command(names: tuple[str, ...], script: Path | None, as_json: bool) -> None:
    """List the probes; of every PROBE that is named, everything.

    Shown are the nodes that it runs on, its effect on a node in use, what it has to itself there, about how long
    one test takes with its default options (seconds, or minutes:seconds), what it measures, and which report ran it so.
    """
    catalogue = read_catalogue()
    for name in names:
        if name not in catalogue.probes:
            raise BadInput(f"unknown probe {name!r}, expected one of {', '.join(catalogue.probes)}")
    if script is not None:
        _print_script(names, script)
        return
    chosen = {name: catalogue.probes[name] for name in names or catalogue.probes}
    broken = [{"name": each.name, "from": each.distribution, "reason": each.reason} for each in catalogue.broken]
    if as_json:
        rows = [_make_record(catalogue, probe) for probe in chosen.values()]
        print_json({"probes": rows, "broken": broken})
        return
    for line in _format_details(chosen) if names else _format_overview(chosen):
        click.echo(line)
    for each in catalogue.broken:
        click.echo(f"broken: {each.name} from {each.distribution}: {each.reason}", err=True)


def _print_script(names: tuple[str, ...], script: Path) -> None:
    """Print a suite that runs what a script of IOR runs; BadInput for what the probe cannot run."""
    from benchconsole.probes.tools.ior.script_reader import format_stages, read_script

    if names != ("ior",):
        raise BadInput(f"--script with {', '.join(names) or 'no probe'}, expected ior, whose scripts are read")
    try:
        stages = read_script(script.read_text(errors="replace"), str(script))
    except PlanError as error:
        raise BadInput(str(error)) from None
    for line in ("suites:", "  from-script:", *format_stages(stages)):
        click.echo(sanitize(line))


def list_alone(probe: Probe) -> tuple[str, ...]:
    """The parts of a node that one test with default options has to itself; the probe decides by its options."""
    try:
        demands = probe.demands(make_example_target(probe, {}))
    except PlanError:
        return ()  # it cannot run with its defaults alone
    return tuple(sorted(part.value for part in demands.alone))


def _make_record(catalogue: ProbeCatalogue, probe: Probe) -> Mapping[str, object]:
    return {
        "name": probe.name,
        "from": catalogue.origin[probe.name],
        "summary": probe.summary,
        "source": probe.source,
        "safety": probe.safety.value,
        "shape": probe.shape.value,
        "alone_on": list(list_alone(probe)),
        "seconds": probe.estimate(probe.options),
        "tools": dict(probe.tools),
        "versions": dict(probe.versions),
        "privileged": probe.privileged,
        "options": dict(probe.options),
        "metrics": [{"name": m.name, "unit": m.unit.value, "summary": m.summary} for m in probe.metrics],
    }


def _format_overview(probes: Mapping[str, Probe]) -> Iterator[str]:
    """A row for each probe; where the terminal is too narrow for columns, a line with its words below it."""
    width = max(shutil.get_terminal_size((80, 24)).columns, 60)
    rows = tuple(_make_cells(probe) for probe in probes.values())
    if width >= _COLUMNS_FROM:
        head = Column("probe"), Column("on"), Column("in use"), words("has to itself", 6)
        yield from format_body(
            Table("", (*head, number("about"), words("measures", 30), words("as in", 30)), rows), width
        )
    else:
        widest = max((len(name) for name, *_ in rows), default=0)
        for name, shape, safety, alone, seconds, summary, source in rows:
            yield f"{name:{widest}}  {shape:4}  {safety:8}  {seconds:>7}"
            said = (summary, f"has to itself: {alone}" if alone else "", f"as in {source}" if source else "")
            for text in filter(None, said):
                yield from wrap_text(text, width, "    ", indent="      ")
    yield f"{len(probes)} probes; everything of one: benchconsole probes NAME"


def _make_cells(probe: Probe) -> tuple[str, str, str, str, str, str, str]:
    seconds = duration(probe.estimate(probe.options))
    alone = ", ".join(list_alone(probe))
    return probe.name, probe.shape.value, probe.safety.value, alone, seconds, probe.summary, probe.source


def _format_details(probes: Mapping[str, Probe]) -> Iterator[str]:
    for probe in probes.values():
        yield f"{probe.name}: {probe.summary}"
        yield f"  runs on {_SHAPES[probe.shape.value]}; {_SAFETY[probe.safety.value]}"
        alone = list_alone(probe)
        if alone:
            yield f"  has to itself: {', '.join(alone)} of each node"
        yield f"  takes about {duration(probe.estimate(probe.options))} with its defaults"
        tools = ", ".join(_format_tool(probe, tool, package) for tool, package in probe.tools.items())
        yield f"  needs {tools or 'nothing beyond a shell'}" + (", and the administrator" if probe.privileged else "")
        if probe.source:
            yield f"  as in {probe.source}"
        if probe.options:
            yield "  options " + ", ".join(f"{key}={value}" for key, value in probe.options.items())
        for metric in probe.metrics:
            yield f"  {metric.name} [{metric.unit.value}] {metric.summary}"


def _format_tool(probe: Probe, tool: str, package: str) -> str:
    version = f" {probe.versions[tool]} or newer" if tool in probe.versions else ""
    return f"{tool}{version} ({f'Debian package {package}' if package else 'not packaged by Debian'})"
