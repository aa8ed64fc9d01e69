"""Prints the catalogue of probes, and plugins that could not be used."""

import json
import shutil
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import click

from console.exits import BadInput

if TYPE_CHECKING:
    from probes.api import Probe
    from probes.plugins import Catalogue

_SHAPES = {"node": "a node", "pair": "two nodes", "set": "a set of nodes"}
_SAFETY = {
    "reads": "reads only",
    "loads": "loads what it tests",
    "destroys": "destroys data, on disks that were named and confirmed",
}


@click.command("probes")
@click.argument("names", nargs=-1, metavar="[PROBE]...")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(names: tuple[str, ...], as_json: bool) -> None:
    """List the probes, one line each; of every PROBE that is named, everything.

    What it runs on, what it does to a node in use, about how many seconds one test takes with its default
    options, and what it measures.
    """
    from probes.plugins import load

    catalogue = load()
    for name in names:
        if name not in catalogue.probes:
            raise BadInput(f"unknown probe {name!r}, expected one of {', '.join(catalogue.probes)}")
    chosen = {name: catalogue.probes[name] for name in names or catalogue.probes}
    broken = [{"name": each.name, "from": each.distribution, "reason": each.reason} for each in catalogue.broken]
    if as_json:
        rows = [_row(catalogue, probe) for probe in chosen.values()]
        click.echo(json.dumps({"probes": rows, "broken": broken}, indent=1))
        return
    for line in _details(chosen) if names else _overview(chosen):
        click.echo(line)
    for each in catalogue.broken:
        click.echo(f"broken: {each.name} from {each.distribution}: {each.reason}", err=True)


def load_of(probe: "Probe") -> tuple[str, ...]:
    """What one test with default options has to itself on a node; the probe decides by its options."""
    from probes.api import Node, NodeRole, PlanError, Shape, Target
    from topology.model import Hardware, NodeId

    ends = [
        Node(NodeId(name), NodeRole.COMPUTE, Hardware("any"), address, address)
        for name, address in (("n1", "192.0.2.1"), ("n2", "192.0.2.2"))
    ]
    peer = ends[1] if probe.shape is Shape.PAIR else None
    members = tuple(ends) if probe.shape is Shape.SET else ()
    try:
        demands = probe.demands(Target(ends[0], peer, probe.options, members))
    except PlanError:
        return ()  # it cannot run with its defaults alone
    return tuple(sorted(part.value for part in demands.alone))


def _row(catalogue: "Catalogue", probe: "Probe") -> Mapping[str, object]:
    return {
        "name": probe.name,
        "from": catalogue.origin[probe.name],
        "summary": probe.summary,
        "source": probe.source,
        "safety": probe.safety.value,
        "shape": probe.shape.value,
        "alone_on": list(load_of(probe)),
        "seconds": probe.estimate(probe.options),
        "tools": dict(probe.tools),
        "versions": dict(probe.versions),
        "privileged": probe.privileged,
        "options": dict(probe.options),
        "metrics": [{"name": m.name, "unit": m.unit.value, "summary": m.summary} for m in probe.metrics],
    }


def _overview(probes: "Mapping[str, Probe]") -> Iterator[str]:
    """One line for each probe, cut to the terminal."""
    width = max(shutil.get_terminal_size((80, 24)).columns, 60)
    widest = max(map(len, probes), default=0)
    head = f"{'probe':{widest}}  {'on':4}  {'in use':8}  {'about':>6}  measures"
    yield head
    for probe in probes.values():
        seconds = f"{probe.estimate(probe.options):,.0f} s"
        line = f"{probe.name:{widest}}  {probe.shape.value:4}  {probe.safety.value:8}  {seconds:>6}  {probe.summary}"
        yield line if len(line) <= width else line[: width - 1] + "…"
    yield f"{len(probes)} probes; everything of one: benchconsole probes NAME"


def _details(probes: "Mapping[str, Probe]") -> Iterator[str]:
    for probe in probes.values():
        yield f"{probe.name}: {probe.summary}"
        yield f"  runs on {_SHAPES[probe.shape.value]}; {_SAFETY[probe.safety.value]}"
        alone = load_of(probe)
        if alone:
            yield f"  has to itself: {', '.join(alone)} of each node"
        yield f"  takes about {probe.estimate(probe.options):,.0f} s with its defaults"
        tools = ", ".join(_tool(probe, tool, package) for tool, package in probe.tools.items())
        yield f"  needs {tools or 'nothing beyond a shell'}" + (", and the administrator" if probe.privileged else "")
        if probe.source:
            yield f"  as in {probe.source}"
        if probe.options:
            yield "  options " + ", ".join(f"{key}={value}" for key, value in probe.options.items())
        for metric in probe.metrics:
            yield f"  {metric.name} [{metric.unit.value}] {metric.summary}"


def _tool(probe: "Probe", tool: str, package: str) -> str:
    version = f" {probe.versions[tool]} or newer" if tool in probe.versions else ""
    return f"{tool}{version} ({f'Debian package {package}' if package else 'not packaged by Debian'})"
