"""Reads the hosts of an ssh_config as nodes: names only; there are no cables in it.

The file goes on to say how each host is reached, because the result names it under ``ssh``: only ``HostName`` is taken,
as the address that tests go to. Source: ssh_config(5).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchconsole.topology.errors import Position, refuse
from benchconsole.topology.importers.draft import Draft, DraftDevice
from benchconsole.topology.selection import NAME

_LINE = re.compile(r"[ \t]*([A-Za-z][A-Za-z0-9]*)(?:[ \t]*=[ \t]*|[ \t]+)(.*)")
_WORD = re.compile(r"""[ \t]*(?:"([^"]*)"|'([^']*)'|([^ \t"']+))""")
_READ = ("host", "hostname")
_PATTERN = re.compile(r"[*?!]")


@dataclass(frozen=True, slots=True)
class _Directive:
    """A keyword in lower case, and its arguments with their places where they are read at all."""

    keyword: str
    arguments: tuple[tuple[str, Position], ...]
    where: Position


def fill(draft: Draft) -> None:
    """Read one file. Raises TopologyError."""
    draft.remark_unended()
    hosts: dict[str, tuple[Position, dict[str, str]]] = {}
    open_blocks: list[dict[str, str]] = []
    for directive in _list_directives(draft):
        if directive.keyword == "host":
            open_blocks = [hosts.setdefault(host, (where, {}))[1] for host, where in _list_literal(directive, draft)]
        elif directive.keyword == "match":
            open_blocks = []
            draft.remark(f"Match blocks are passed over: line {directive.where.line}, and so on")
        elif directive.keyword == "include":
            draft.remark(f"Include is not followed: line {directive.where.line}, and so on")
        elif directive.keyword == "hostname" and directive.arguments:
            for settings in open_blocks:
                settings.setdefault("hostname", directive.arguments[0][0])
    if not hosts and not draft.problems:
        raise refuse(draft.start, "no Host with a plain name", "Host NAME")
    for host, (where, settings) in hosts.items():
        fields = _find_address(host, settings.get("hostname"), draft)
        draft.device(DraftDevice(host, where, switch=False, fields=fields))
    draft.section("ssh", "config", str(Path(draft.file).absolute()), draft.start)
    draft.remark("an ssh_config does not say how nodes are cabled: describe switches and links by hand")


def _list_directives(draft: Draft) -> Iterator[_Directive]:
    offset = 0
    for line in draft.text.split("\n"):
        match = _LINE.fullmatch(line.rstrip("\r \t"))
        if match is not None:
            keyword = match[1].lower()
            read = _split_arguments(match[2], offset + match.start(2), draft) if keyword in _READ else ()
            yield _Directive(keyword, tuple(read), draft.lines.at(offset + match.start(1)))
        elif line.strip() and not line.lstrip().startswith("#"):
            draft.problem(draft.lines.at(offset), f"the line {line.strip()[:60]!r}", "Keyword arguments")
        offset += len(line) + 1


def _split_arguments(text: str, offset: int, draft: Draft) -> Iterator[tuple[str, Position]]:
    text = text.rstrip()
    end = 0
    while end < len(text):
        word = _WORD.match(text, end)
        if word is None:
            rest = text[end:].lstrip()
            draft.problem(draft.lines.at(offset + len(text) - len(rest)), repr(rest[:60]), "quotes that close")
            return
        group = word.lastindex or 0
        if group == 3 and word[3].startswith("#"):
            return
        yield word[group], draft.lines.at(offset + word.start(group))
        end = word.end()


def _list_literal(directive: _Directive, draft: Draft) -> list[tuple[str, Position]]:
    patterns = [text for text, _ in directive.arguments if _PATTERN.search(text)]
    if patterns:
        draft.remark(f"Host patterns are passed over: {patterns[0]!r} in line {directive.where.line}, and so on")
    return [(text, where) for text, where in directive.arguments if text not in patterns]


def _find_address(host: str, written: str | None, draft: Draft) -> dict[str, object]:
    """Where tests go: ``HostName`` with its tokens filled in, where our file can hold it."""
    if written is None:
        return {}
    address = written.replace("%h", host).replace("%%", "%")
    if NAME.fullmatch(address) is None:
        draft.remark(f"addresses that our file cannot hold are left out: {address!r} of {host}, and so on")
        return {}
    return {"data_address": address} if address != host else {}
