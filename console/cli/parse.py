"""Runs one probe's parser on output that was captured somewhere."""

import json
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import click

from benchconsole.console.cli.common import command_option, load_installed_probes, print_json, read_command
from benchconsole.console.exits import BadInput, Exit, complain
from benchconsole.console.text.sanitize import sanitize
from benchconsole.probes.api import Probe
from benchconsole.probes.model.errors import ProbeOutputError
from benchconsole.probes.model.measuring import Fact, Output, Reading
from benchconsole.probes.model.probe_names import INVENTORY
from benchconsole.probes.plugins.captured_output import Ending, read_captured
from benchconsole.probes.plugins.probe_output import read_output
from benchconsole.probes.readers.reasons import find_reason
from benchconsole.probes.tools.inventory.sources import SOURCES
from benchconsole.topology.errors import find_near


@click.command("parse")
@click.argument("probe")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--stderr",
    "stderr",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A file with its standard error.",
)
@click.option("--exit-status", type=int, default=0, help="The exit status of the command.")
@command_option
@click.option("--json", "as_json", is_flag=True, help="As JSON: a list; several files, one line each.")
def command(
    probe: str, files: tuple[str, ...], stderr: Path | None, exit_status: int, typed: str, as_json: bool
) -> None:
    """Read what PROBE printed from each FILE (- is standard input) and print its measurements.

    PROBE is one of `benchconsole probes`, or a tool that the inventory asks, such as lscpu, ethtool or dmidecode
    (inventory reads the output of all of them, as its own script makes it). Output that cannot be trusted gives
    exit code 2 and one line on standard error. A last line without its end is read if its own grammar lets it be
    whole. It is told on standard error, with whether it was read, and in JSON of several files as "unended".
    Exit code 3 says that a file may hold only a part of the output: its end gave nothing, or is not that of the tool.
    """
    probes = load_installed_probes()
    known = [*probes, *SOURCES]
    if probe not in known:
        hint = find_near(probe, known)
        more = f"; did you mean {hint}?" if hint else ""
        raise BadInput(f"unknown probe {probe!r}, expected one of {', '.join(known)}{more}")
    error_text, argv = stderr.read_bytes() if stderr else b"", read_command(typed, probe)
    failed = partial_reading = False
    for name in files:
        try:
            output = _read_output(argv, name, error_text, exit_status)
            items, ending = _read_items(probes, probe, output)
        except BadInput as error:
            failed = True
            if as_json and len(files) > 1:
                click.echo(json.dumps({"file": name, "error": str(error)}))
            complain(f"{name}: {error}")
            continue
        if ending:
            complain(f"{name}: {ending}")
            partial_reading |= ending.may_be_partial
        records = list(map(_make_record, items))
        _print_result(name, records, ending, as_json=as_json, several=len(files) > 1)
    if failed:
        raise click.exceptions.Exit(Exit.BAD_INPUT)
    if partial_reading:
        raise click.exceptions.Exit(Exit.UNTESTED)


def _read_output(argv: tuple[str, ...], name: str, error_text: bytes, exit_status: int) -> Output:
    try:
        text = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}") from None
    return Output(argv, text, error_text, exit_status)


def _read_items(probes: Mapping[str, Probe], name: str, output: Output) -> tuple[list[Reading | Fact], Ending | None]:
    """The items that the parser of a probe, or of a source of the inventory, reads, and a last line without its end.

    BadInput where it refuses.
    """
    reader = partial(_read_probe, probes[name]) if name in probes else partial(_read_source, name)
    try:
        return read_captured(reader, output, probes[name].closing if name in probes else None)
    except ProbeOutputError as error:
        hint = ""
        if name == INVENTORY:
            hint = f"; the output of one tool is read under its own name, one of {', '.join(SOURCES)}"
        raise BadInput(f"found {error.found}, expected {error.expected}{hint}") from None


def _read_probe(probe: Probe, output: Output) -> list[Reading | Fact]:
    readings, facts = read_output(probe, output)
    return [*readings, *facts]


def _read_source(name: str, output: Output) -> list[Reading | Fact]:
    if (output.exit_status or 0) not in SOURCES[name].answered:
        said = find_reason(output)
        raise ProbeOutputError(
            f"exit status {output.exit_status}{f': {said}' if said else ''}", "one with which its words can be trusted"
        )
    return list(SOURCES[name](output.text))


def _make_record(item: Reading | Fact) -> dict[str, object]:
    unit = None if item.unit is None else item.unit.value
    if isinstance(item, Fact):
        return {"fact": item.fact, "value": item.value, "unit": unit, "labels": dict(item.labels)}
    labels = dict(item.labels)
    return {"metric": item.metric, "value": item.value, "unit": unit, "labels": labels, "raw": item.raw}


def _print_result(
    name: str, found: list[dict[str, object]], ending: Ending | None, *, as_json: bool, several: bool
) -> None:
    if as_json and several:
        note = {}
        if ending:
            note["unended"] = {"line": ending.line, "was_read": ending.was_read, "partial": ending.may_be_partial}
        click.echo(json.dumps({"file": name, "measurements": found, **note}, allow_nan=False))
    elif as_json:
        print_json(found)
    else:
        for item in found:
            labels = " ".join(f"{key}={value}" for key, value in dict(item["labels"]).items())  # type: ignore[call-overload]
            what = item.get("metric") or item.get("fact")
            click.echo(sanitize(f"{what} {labels} {item['value']} {item['unit'] or ''}".replace("  ", " ")))
