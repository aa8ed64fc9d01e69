"""Reads Slurm's description of the network: ``topology.conf`` and ``topology.yaml`` (25.05 and later).

Switches of a tree become switches. One name of a tree may stand for all spines, so the number of cables between two
switches is ``unknown``. Base blocks, rings and tori become pods, because they say which nodes stand together and not
how they are cabled. ``LinkSpeed`` is left out: its unit is arbitrary. Source: topology.conf(5),
topology.yaml(5) and Slurm's Topology Guide.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from benchconsole.topology.description.document import Document, Lines, Location, read_text
from benchconsole.topology.errors import Position, SelectionError, find_near, refuse
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.importers.bundles import SourceCable
from benchconsole.topology.importers.draft import MAX_CABLES, Draft, DraftDevice, format_cables
from benchconsole.topology.selection import expand, fold

_KEYS = {
    "switchname": "SwitchName", "switches": "Switches", "nodes": "Nodes", "linkspeed": "LinkSpeed",
    "blockname": "BlockName", "blocksizes": "BlockSizes", "level": "Level", "blockindex": "BlockIndex",
    "blocksize": "BlockSize",
}  # fmt: skip
_PAIR = re.compile(r'\s*([A-Za-z0-9_.]+)\s*=\s*(?:"([^"]*)"|([^\s"]+))(?=\s|$)')
_COMMENT = re.compile(r"(?<!\\)#")
MAX_HOSTLIST = 200_000
_SPEED_HINT = "LinkSpeed is left out: its unit is arbitrary, so it is no speed"
_EXPECTED = "SwitchName= or BlockName= lines, or a list of topologies with a tree, blocks, rings or tori"
_UNCOUNTED = "how many cables lead from one switch to another is not in the source"
_GROUPINGS = {"ring": "rings", "torus3d": "tori"}
_JOINED = ("tree", "block")
"""The kinds that are read side by side; several of one kind have a remark of their own."""
_KINDS = (*_JOINED, "flat", *_GROUPINGS)
_INCLUDE = re.compile(r"\s*include\s+\S", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Word:
    """A value as written, and its place."""

    text: str
    where: Position


Line = Mapping[str, Word]
"""The keys of one line, or of one entry, by the names of ``topology.conf``."""


def fill(draft: Draft) -> None:
    """Read one file of either kind. Raises TopologyError."""
    draft.remark_unended()
    conf = re.search(r"(?im)^\s*(SwitchName|BlockName)\s*=", draft.text)
    lines = list(_parse_conf(draft) if conf else _parse_yaml(read_text(draft.text, draft.file, merges=True), draft))
    if not lines and not draft.problems:
        raise refuse(draft.start, "no switch and no block", _EXPECTED)
    _refuse_cut(lines, draft)
    _build_draft(lines, draft)


def _refuse_cut(lines: Sequence[Line], draft: Draft) -> None:
    """A problem where the last line has no end and stops before it says what is below its switch."""
    last = lines[-1] if lines else {}
    begun = last.get("SwitchName") or last.get("BlockName")
    if begun is None or last.keys() & {"Nodes", "Switches"} or draft.text.endswith("\n"):
        return
    if begun.where.line == draft.lines.at(len(draft.text)).line:
        draft.problem(begun.where, f"{begun.text} in a last line without end", "Nodes or Switches: this file is cut")


class _Logical:
    """One line without its comments, joined from what backslashes continue: ``parts`` are (offset, text)."""

    def __init__(self, parts: Sequence[tuple[int, str]], places: Lines) -> None:
        self.text = "".join(text for _, text in parts)
        self._offsets = [offset for offset, _ in parts]
        self._starts = [0, *accumulate(len(text) for _, text in parts)]
        self._places = places

    def at(self, index: int) -> Position:
        """Where the character at ``index`` stands in the file."""
        part = min(bisect_right(self._starts, index), len(self._offsets)) - 1
        return self._places.at(self._offsets[part] + index - self._starts[part])


def _join_lines(draft: Draft) -> Iterator[_Logical]:
    parts: list[tuple[int, str]] = []
    offset = 0
    for written in draft.text.split("\n"):
        code = _COMMENT.split(written, maxsplit=1)[0].removesuffix("\r")
        parts.append((offset, code.removesuffix("\\")))
        offset += len(written) + 1
        if not code.endswith("\\"):
            yield _Logical(parts, draft.lines)
            parts = []
    if parts:
        yield _Logical(parts, draft.lines)


def _parse_conf(draft: Draft) -> Iterator[Line]:
    for logical in _join_lines(draft):
        if _INCLUDE.match(logical.text):
            draft.remark(f"Include is not followed: line {logical.at(0).line}, and so on")
            continue
        line = {key: word for key, word in _split_words(logical, draft) if key in _KEYS.values()}
        if "Level" in line and "Switches" in line:
            # Output of "scontrol show topology": all nodes below a switch stand beside its switches.
            line.pop("Nodes", None)
        if line.keys() & {"SwitchName", "BlockName"}:
            yield line


def _split_words(line: _Logical, draft: Draft) -> Iterator[tuple[str, Word]]:
    whole = line.text.rstrip()
    end = 0
    while end < len(whole):
        pair = _PAIR.match(whole, end)
        if pair is None:
            rest = whole[end:].lstrip()
            draft.problem(line.at(len(whole) - len(rest)), repr(rest[:40]), "Key=value")
            return
        end = pair.end()
        key = _KEYS.get(pair[1].lower())
        if key is None:
            expected = f"one of {', '.join(_KEYS.values())}"
            draft.problem(
                line.at(pair.start(1)), f"unknown key {pair[1]!r}", expected, find_near(pair[1], _KEYS.values())
            )
            continue
        group = 2 if pair[2] is not None else 3
        yield key, Word(pair[group], line.at(pair.start(group)))


def _parse_yaml(source: Document, draft: Draft) -> Iterator[Line]:
    draft.problems.extend(source.problems)
    if not isinstance(source.data, list):
        raise refuse(source.at(()), "no list of topologies", "- topology: NAME, with tree: or block:")
    taken: set[int] = set()
    for kind, inside in (("tree", "switches"), ("block", "blocks")):
        index = _choose_topology(source, kind, draft)
        if index is None:
            continue
        taken.add(index)
        body = source.data[index][kind]
        items = body.get(inside) if isinstance(body, dict) else None
        here: Location = (index, kind, inside)
        if not isinstance(items, list):
            draft.problem(source.at(here), f"no {inside}", f"{inside}: a list")
            continue
        for number, item in enumerate(items):
            yield from _read_entry(source, item, (*here, number), draft)
    others = [index for index in range(len(source.data)) if index not in taken]
    if not taken:
        yield from _read_groupings(source, others, draft)
    elif left := [_describe_topology(source, index) for index in others if _find_kind(source, index) not in _JOINED]:
        draft.remark(f"topologies of other kinds are left out: {', '.join(left)}")


def _choose_topology(source: Document, kind: str, draft: Draft) -> int | None:
    """The place of the default topology of a kind, else of the first; None without any."""
    topologies = source.data if isinstance(source.data, list) else []
    of_kind = [(index, each) for index, each in enumerate(topologies) if isinstance(each, dict) and kind in each]
    having = sorted(of_kind, key=lambda item: item[1].get("cluster_default") is not True)
    for other, _ in having[1:]:
        where = source.at((other,))
        draft.remark(f"one {kind} is taken, the default or the first: that of line {where.line} is left out")
    return having[0][0] if having else None


def _describe_topology(source: Document, index: int) -> str:
    """``topo3 (flat)``: the name and the kind of one item of the list."""
    each = source.data[index] if isinstance(source.data, list) else None
    name = each.get("topology") if isinstance(each, dict) else None
    return f"{name or f'line {source.at((index,)).line}'} ({_find_kind(source, index)})"


def _find_kind(source: Document, index: int) -> str:
    each = source.data[index] if isinstance(source.data, list) else None
    return next((kind for kind in _KINDS if isinstance(each, dict) and kind in each), "of no kind that is known")


def _read_groupings(source: Document, indices: Sequence[int], draft: Draft) -> Iterator[Line]:
    """The rings and tori of the first topology that has some, each as a block."""
    topologies = source.data if isinstance(source.data, list) else []
    seen = ", ".join(_describe_topology(source, index) for index in indices) or "an empty list"
    for index in indices:
        each = topologies[index]
        kind = next((kind for kind in _GROUPINGS if isinstance(each, dict) and kind in each), None)
        found = list(_find_groups(source, each[kind], (index, kind))) if kind is not None else []
        if kind is not None and found:
            draft.remark(f"{_GROUPINGS[kind]} are taken as pods, their cables are not in the source: read from {seen}")
            for number, line in enumerate(found, 1):
                yield {"BlockName": Word(f"{kind}{number}", line["Nodes"].where), **line}
            return
    draft.problem(source.at(()), f"no switch and no block, only {seen}", _EXPECTED)


def _find_groups(source: Document, value: object, here: Location) -> Iterator[dict[str, Word]]:
    """Every mapping that names nodes, with the name that it has, at any depth of a ring or torus."""
    items: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        items += value.items()
        if isinstance(value.get("nodes"), str):
            words = {"Nodes": Word(value["nodes"], source.at((*here, "nodes")))}
            for key in ("ring", "torus", "name"):
                if isinstance(value.get(key), str):
                    words["BlockName"] = Word(value[key], source.at((*here, key)))
            yield words
            return
    elif isinstance(value, list):
        items = list(enumerate(value))
    for place, item in items:
        yield from _find_groups(source, item, (*here, place))


def _read_entry(source: Document, item: object, here: Location, draft: Draft) -> Iterator[Line]:
    keys = {"switch": "SwitchName", "children": "Switches", "nodes": "Nodes", "block": "BlockName"}
    if not isinstance(item, dict):
        draft.problem(source.at(here), "an entry that is no mapping", "switch: NAME, with children: or nodes:")
        return
    line: dict[str, Word] = {}
    for key, value in item.items():
        if key not in keys:
            where = source.key_at((*here, key))
            draft.problem(where, f"unknown key {key!r}", f"one of {', '.join(keys)}", find_near(key, keys))
        elif isinstance(value, str | int):
            line[keys[key]] = Word(str(value), source.at((*here, key)))
        else:
            draft.problem(source.at((*here, key)), f"{key}: no text", "names such as n[01-16]")
    if line.keys() & {"SwitchName", "BlockName"}:
        yield line
    else:
        draft.problem(source.at(here), "an entry without a name", "switch: NAME or block: NAME")


def _build_draft(lines: Sequence[Line], draft: Draft) -> None:
    for line in lines:
        if "SwitchName" in line:
            _add_switch(line, draft)
    members: list[tuple[Line, list[str]]] = []
    total = 0
    for line in lines:
        names = _expand_names(line.get("Nodes"), draft)
        members.append((line, names))
        total += len(names)
        if total > MAX_CABLES:
            raise refuse(line["Nodes"].where, f"more than {MAX_CABLES:,} places of nodes", "a smaller source")
        for name in names:
            if name not in draft.devices or draft.devices[name].switch:
                draft.device(DraftDevice(name, line["Nodes"].where, switch=False))
    for line, names in members:
        if "BlockName" in line:
            _add_block(line, names, draft)
        else:
            _list_cables(line, names, draft)
    _remark_uncertain(draft)
    _refuse_loops(lines, draft)


def _remark_uncertain(draft: Draft) -> None:
    """Say which cables are not counted, and which nodes stand under several switches."""
    nodes = {name for name, device in draft.devices.items() if not device.switch}
    above = group_by_key((cable.a, cable.b) for cable in draft.cables if cable.a in nodes)
    several = [node for node, switches in above.items() if len(switches) > 1]
    if several:
        example = f"{several[0]} under {' and '.join(above[several[0]])}"
        draft.remark(f"nodes that stand under several switches have a cable to each: {fold(several)}, as {example}")
    known = draft.devices.keys()  # names that are no names are problems, and cannot be folded
    uncounted = [cable for cable in draft.cables if "count" in cable.fields and {cable.a, cable.b} <= known]
    if uncounted:
        draft.remark(f"{_UNCOUNTED}: written as count: unknown for {format_cables(uncounted)}")


def _add_switch(line: Line, draft: Draft) -> None:
    name = line["SwitchName"]
    draft.device(DraftDevice(name.text, name.where, switch=True))
    if "Nodes" in line and "Switches" in line:
        draft.problem(name.where, f"nodes and switches under {name.text}", "one of Nodes and Switches")
    if "LinkSpeed" in line:
        draft.remark(_SPEED_HINT)


def _expand_names(word: Word | None, draft: Draft) -> list[str]:
    if word is None:
        return []
    if word.text.upper() == "ALL":
        draft.problem(word.where, "ALL", "names such as n[01-16]: this file alone does not tell which nodes there are")
        return []
    if len(word.text) > MAX_HOSTLIST:
        draft.problem(word.where, f"a hostlist of {len(word.text):,} characters", f"at most {MAX_HOSTLIST:,}")
        return []
    try:
        return expand(word.text)
    except SelectionError as error:
        draft.problem(word.where, str(error), "names such as n[01-16]")
        return []


def _add_block(line: Line, names: Sequence[str], draft: Draft) -> None:
    name = line["BlockName"]
    if ("pods", name.text) in draft.places:
        draft.problem(name.where, f"the block {name.text!r} a second time", "each block once")
    if names:
        draft.section("pods", name.text, {"members": ",".join(names)}, name.where)
    draft.remark("blocks are taken as pods: they say which nodes stand together, not how they are cabled")


def _list_cables(line: Line, names: Sequence[str], draft: Draft) -> None:
    switch = line["SwitchName"].text
    for name in names:
        draft.cable(SourceCable(name, switch, line["Nodes"].where))
    for child in _expand_names(line.get("Switches"), draft):
        where = line["Switches"].where
        if child in draft.devices and not draft.devices[child].switch:
            draft.problem(where, f"the node {child} among the switches", "a switch")
        else:
            draft.cable(SourceCable(child, switch, where, fields={"count": "unknown"}))


def _refuse_loops(lines: Sequence[Line], draft: Draft) -> None:
    """A problem for each switch that is below itself."""
    below: dict[str, set[str]] = {}
    for cable in draft.cables:
        below.setdefault(cable.b, set()).add(cable.a)
    done: set[str] = set()
    while True:  # take away what has nothing left below it; what remains is in or above a loop
        leaves = {switch for switch, children in below.items() if not (children - done) & below.keys()} - done
        if not leaves:
            break
        done |= leaves
    left = below.keys() - done
    for line in lines:
        name = line.get("SwitchName")
        if name is not None and name.text in left:
            draft.problem(name.where, f"a loop: {name.text} is below itself, or above such a switch", "a tree")
