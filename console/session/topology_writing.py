"""The text of a topology file that was imported or asked for, what is said of it, and the one way to its file."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TextIO

from benchconsole.console.exits import BadInput
from benchconsole.console.text.atomic_write import FileError, write_whole
from benchconsole.console.text.sanitize import sanitize
from benchconsole.topology.description.document import Imported
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.importers.asked_nodes import UNADDRESSED
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.selection import fold
from benchconsole.topology.units import UnitError, format_link_speed, parse_link_speed
from benchconsole.topology.units import counted as count
from benchconsole.topology.writing.topology_file import write

SCHEMA_COPY = "benchconsole.schema.json"
DEFAULT_FILE = "cluster.yaml"
"""The topology file that is written where nobody names another."""
SUITE = """\
suites:
  default:
    - {probe: inventory}
"""
SUITE_AS_ROOT = """\
suites:
  default:
    - {probe: inventory, sudo: 1}                                        # modules of memory are told to root only
"""
LINKED = """\
    - {probe: iperf3, design: neighbours, streams: 4, seconds: 5}        # every NIC, both ways
"""
TRUNKED = """\
    - {probe: iperf3, design: trunks, streams: 8, seconds: 5}            # every link between switches
"""


def name_fabric(file: Path) -> str:
    """The name of the fabric that the topology ``file`` describes."""
    return "".join(letter if letter.isalnum() else "-" for letter in file.stem).strip("-") or "cluster"


def refuse_file_name(file: Path) -> None:
    """BadInput for a name by which no topology file is recognized later."""
    if file.suffix not in (".yaml", ".yml"):
        raise BadInput(f"benchconsole: {file} as the file to be written, expected a name that ends in .yaml")


def read_link_speed(text: str | None) -> str | None:
    """A speed as our file has it, of what somebody typed; BadInput where it is none."""
    if text is None:
        return None
    try:
        return format_link_speed(parse_link_speed(text))
    except UnitError as error:
        raise BadInput(f"benchconsole: --link-speed: {error}") from None


def format_topology(imported: Imported, fabric: Fabric, source: str, file: Path, *, sudo: bool = False) -> str:
    """The text of ``file``; ``sudo``: its suite reads the inventory as the administrator."""
    head = [
        f"A machine for benchconsole, read from {source}. Check it with: benchconsole check {file}",
        "Speeds of links are in bits (25 Gb/s), sizes and storage rates in bytes (64 GiB, 1.5 GB/s).",
    ]
    trunks = any(link.a in fabric.switches for link in fabric.links.values())
    suite = (SUITE_AS_ROOT if sudo else SUITE) + (LINKED if fabric.links else "") + (TRUNKED if trunks else "")
    return write(imported, head, suite if fabric.nodes else "")


def count_elements(fabric: Fabric) -> str:
    """``3 nodes, 2 switches, 3 links``."""
    switches = f"{len(fabric.switches):,} switch{'' if len(fabric.switches) == 1 else 'es'}"
    return ", ".join([count(len(fabric.nodes), "node"), switches, count(len(fabric.links), "link")])


def list_inferences(imported: Imported) -> Iterator[str]:
    """Each kind of inference with the devices, or the number of links, that it was made for; made plain.

    A missing data address is no inference; the remarks tell of it.
    """
    inferred = ((at, note.removesuffix(UNADDRESSED).removesuffix("; ")) for at, note in imported.notes.items())
    alike = group_by_key(((at[0], note), str(at[1])) for at, note in inferred if note)
    for (section, note), those in alike.items():
        where = f" ({len(those):,} times in links)" if section == "links" else f": {fold(those)}"
        yield f"inferred: {sanitize(note + where)}"


def write_topology(file: Path, text: str, *, copy: bool = False, force: bool = True) -> None:
    """Write ``text`` behind the line by which editors find the schema, and with ``copy`` the schema beside it.

    Each file is written whole or not at all. BadInput where it cannot be written, or is there already without
    ``force``.
    """
    from benchconsole.topology.description.raw import SCHEMA_FILE

    schema = f"./{SCHEMA_COPY}" if copy else SCHEMA_FILE.as_uri()
    write_text_file(file, f"# yaml-language-server: $schema={schema}\n{text}", force=force)
    if copy:
        write_text_file(file.with_name(SCHEMA_COPY), SCHEMA_FILE.read_text(encoding="utf-8"))


def write_text_file(path: Path, text: str, *, force: bool = True) -> None:
    """A file of the operator, whole or not at all; BadInput where it cannot be written."""
    try:
        write_whole(path, partial(_write_text, text), force=force, private=False)
    except FileError as error:
        raise BadInput(f"benchconsole: {path} cannot be written: {error.found}") from None


def _write_text(text: str, out: TextIO) -> None:
    out.write(text)
