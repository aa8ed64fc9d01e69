"""Lists who brought which probes, and plugins that could not be used."""

import click

from benchconsole.console.cli.common import json_option, print_json, read_catalogue
from benchconsole.console.text.sanitize import sanitize
from benchconsole.topology.grouping import group_by_key


@click.command("plugins")
@json_option
def command(as_json: bool) -> None:
    """List the plugins: who brought which probes, and why some could not be used."""
    catalogue = read_catalogue()
    brought = group_by_key((origin, name) for name, origin in catalogue.origin.items())
    broken = [{"name": each.name, "from": each.distribution, "reason": each.reason} for each in catalogue.broken]
    if as_json:
        used = [{"from": origin, "probes": names} for origin, names in brought.items()]
        printed = [{"name": each.name, "from": each.distribution, "text": each.text} for each in catalogue.printed]
        print_json({"plugins": used, "broken": broken, "printed": printed})
        return
    for origin, names in brought.items():
        click.echo(sanitize(f"{origin}: {', '.join(names)}"))
    for each in broken:
        click.echo(sanitize(f"not usable: {each['name']} from {each['from']}: {each['reason']}"))
    for words in catalogue.printed:
        first = words.text.splitlines()[0]
        click.echo(sanitize(f"printed while it was loaded: {words.name} from {words.distribution}: {first}"))
    if not broken:
        click.echo("every plugin that was found is in use")
