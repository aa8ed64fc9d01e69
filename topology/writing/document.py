"""Owns writing an imported topology as a commented file of our own, to be read and edited by people.

What was inferred stands as a comment beside the entry that it was inferred for, what the
source does not have at the head; where there are no switches or links, a comment shows how they
are written. Refuses to add an entry of its own: suites are handed in.
"""

from collections.abc import Iterator, Mapping, Sequence

from topology.importers.draft import Imported
from topology.writing import folding
from topology.writing.yaml_text import comment, flow, scalar

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


def write(imported: Imported, head: Sequence[str], tail: str = "") -> str:
    """The text of a topology file. ``head`` are lines of comment, ``tail`` is appended as it is."""
    lines = [f"# {comment(line)}" for line in head]
    if imported.remarks:
        lines += ["#", "# Left out, or not in the source:", *(f"#   {comment(each)}" for each in imported.remarks)]
    data = imported.document.data
    for section, content in data.items() if isinstance(data, dict) else ():
        lines += _section(section, content, imported)
    return "\n".join(lines) + "\n" + (f"\n{tail}" if tail else "")


def _section(section: str, content: object, imported: Imported) -> Iterator[str]:
    if not isinstance(content, dict | list):
        yield f"{section}: {scalar(content, flow=False)}"
        return
    if not content:
        empty = {"links": _NO_LINKS, "switches": _NO_SWITCHES}.get(section)
        yield from ["", *empty.splitlines()] if empty else []
        return
    yield ""
    if section in ("ssh", "network", "caps"):
        yield f"{section}: {flow(content)}"
        return
    yield f"{section}:"
    for key, values, note in _rows(section, content, imported):
        line = f"  {scalar(key, flow=False)}: {flow(values)}" if key else f"  - {flow(values)}"
        yield f"{line.ljust(_COLUMN)}  # {comment(note)}" if note else line


def _rows(section: str, content: Mapping[str, object] | Sequence[object], imported: Imported) -> Iterator[folding.Row]:
    notes = {location[1]: note for location, note in imported.notes.items() if location[0] == section}
    if isinstance(content, Sequence):
        yield from folding.links([each for each in content if isinstance(each, dict)], notes)
        return
    entries = {name: entry for name, entry in content.items() if isinstance(entry, dict)}
    if section in ("nodes", "switches"):
        yield from folding.devices(entries, notes)
        return
    for name, entry in entries.items():
        sets = {key: folding.in_order(str(entry[key]).split(",")) for key in ("members", "switches") if key in entry}
        yield name, {**entry, **sets}, ""
