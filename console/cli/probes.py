"""Prints the catalogue of probes, and plugins that could not be used."""

import json

import click


@click.command("probes")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(as_json: bool) -> None:
    """List the probes: what they measure, what they need on a node, what they do to it."""
    from probes.plugins import load

    catalogue = load()
    rows = [
        {
            "name": probe.name,
            "from": catalogue.origin[probe.name],
            "summary": probe.summary,
            "safety": probe.safety.value,
            "shape": probe.shape.value,
            "tools": dict(probe.tools),
            "options": dict(probe.options),
            "metrics": [{"name": m.name, "unit": m.unit.value, "summary": m.summary} for m in probe.metrics],
        }
        for probe in catalogue.probes.values()
    ]
    broken = [{"name": each.name, "from": each.distribution, "reason": each.reason} for each in catalogue.broken]
    if as_json:
        click.echo(json.dumps({"probes": rows, "broken": broken}, indent=1))
        return
    for probe in catalogue.probes.values():
        tools = ", ".join(f"{tool} ({package})" for tool, package in probe.tools.items()) or "nothing"
        click.echo(f"{probe.name}: {probe.summary}")
        click.echo(
            f"  on {'two nodes' if probe.shape.value == 'pair' else 'a node'}, {probe.safety.value}; needs {tools}"
        )
        if probe.options:
            click.echo("  options " + ", ".join(f"{key}={value}" for key, value in probe.options.items()))
        for metric in probe.metrics:
            click.echo(f"  {metric.name} [{metric.unit.value}] {metric.summary}")
    for each in broken:
        click.echo(f"broken: {each['name']} from {each['from']}: {each['reason']}", err=True)
