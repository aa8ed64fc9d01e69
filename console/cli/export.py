"""Writes a topology in another language: diagrams, a laboratory, a scheduler's topology."""

from pathlib import Path

import click

from benchconsole.console.cli.common import force_option, output_option, read_topology, topology_argument
from benchconsole.console.exits import BadInput
from benchconsole.console.text.atomic_write import FileError, write_whole
from benchconsole.topology.exporters import ExportError, find_exporter


@click.command("export")
@topology_argument
@click.option(
    "--format", "format_", required=True, metavar="FORMAT", help="dot, mermaid, d2, containerlab, slurm or slurm-yaml."
)
@output_option
@force_option
def command(topology: Path, format_: str, output: Path | None, force: bool) -> None:
    """Write TOPOLOGY in another language, to standard output or a file. Connects to nothing.

    Diagrams (dot, mermaid, d2) show every device of a small fabric; of a larger one, what is
    equal is drawn once, with how many there are and how they are cabled.
    """
    try:
        export = find_exporter(format_)
        text = export(read_topology(topology))
        if output is None or str(output) == "-":
            click.echo(text, nl=False)
            return
        write_whole(output, lambda out: out.write(text), force=force)
    except (ExportError, FileError) as error:
        raise BadInput(f"benchconsole: {error}") from None
    click.echo(f"wrote {output}")
