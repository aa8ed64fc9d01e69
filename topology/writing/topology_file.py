"""Writes an imported topology as a commented file of our own, for people to read and edit."""

from collections.abc import Iterator, Mapping, Sequence

from benchconsole.topology.description.document import Imported
from benchconsole.topology.writing.node_set_folding import Row, fold_devices, fold_in_order, fold_links
from benchconsole.topology.writing.yaml_text import format_comment, format_flow, format_scalar

_COLUMN = 58
_NO_LINKS = """\
# links:                                  # the source does not say how the nodes are cabled; for example:
#   - {from: "n[01-16]", to: leaf1, speed: 25 Gb/s}
#   - {from: "leaf[1-2]", to: "spine[1-2]", speed: 100 Gb/s, count: 2}
"""
_NO_SWITCHES = """\
# switches:                               # from the nodes upward: chassis, leaf, spine, core
#   leaf[1-2]: {role: leaf}
#   spine[1-2]: {role: spine}
"""
_NO_NODES = """\
nodes: {}                                 # the source has none; for example:
#   n[01-16]: {}
#   and below links: - {from: "n[01-16]", to: leaf1, speed: 25 Gb/s}
"""


def write(imported: Imported, head: Sequence[str], tail: str = "") -> str:
    """The text of a topology file. ``head`` are lines of comment, ``tail`` is appended as it is."""
    lines = [f"# {format_comment(line)}" for line in head]
    if imported.remarks:
        lines += [
            "#",
            "# Left out, or not in the source:",
            *(f"#   {format_comment(each)}" for each in imported.remarks),
        ]
    data = imported.document.data
    for section, content in data.items() if isinstance(data, dict) else ():
        lines += _format_section(section, content, imported)
    return "\n".join(lines) + "\n" + (f"\n{tail}" if tail else "")


def _format_section(section: str, content: object, imported: Imported) -> Iterator[str]:
    if not isinstance(content, dict | list):
        yield f"{section}: {format_scalar(content, flow=False)}"
        return
    if not content:
        empty = {"links": _NO_LINKS, "switches": _NO_SWITCHES, "nodes": _NO_NODES}.get(section)
        yield from ["", *empty.splitlines()] if empty else []
        return
    yield ""
    if section in ("ssh", "network", "caps"):
        yield f"{section}: {format_flow(content)}"
        return
    yield f"{section}:"
    for key, values, note in _list_rows(section, content, imported):
        line = f"  {format_scalar(key, flow=False)}: {format_flow(values)}" if key else f"  - {format_flow(values)}"
        yield f"{line.ljust(_COLUMN)}  # {format_comment(note)}" if note else line


def _list_rows(section: str, content: Mapping[str, object] | Sequence[object], imported: Imported) -> Iterator[Row]:
    notes = {location[1]: note for location, note in imported.notes.items() if location[0] == section}
    if isinstance(content, Sequence):
        yield from fold_links([each for each in content if isinstance(each, dict)], notes)
        return
    entries = {name: entry for name, entry in content.items() if isinstance(entry, dict)}
    if section in ("nodes", "switches"):
        yield from fold_devices(entries, notes)
        return
    for name, entry in entries.items():
        sets = {key: fold_in_order(str(entry[key]).split(",")) for key in ("members", "switches") if key in entry}
        yield name, {**entry, **sets}, ""
