"""``df``, ``/proc/mounts`` and what ``mount`` prints, as facts about file systems that hold data, and their use.

The heading of ``df -P``, ``-PT``, ``-k`` or ``-B1`` says what a block is. ``-h`` and ``-H`` have the same heading and
different units: both are refused.
"""

import re
from collections.abc import Iterator

from benchconsole.probes.api import Fact, Unit
from benchconsole.probes.readers.lines import read_lines, shorten
from benchconsole.probes.tools.inventory.facts import keep_whole_lines, label_part, make_texts, scale_binary

_HEAD = re.compile(
    r"Filesystem(?P<type>\s+Type)?\s+(?P<block>[0-9]+|[0-9]*[KMGT]?B?)-blocks\s+Used\s+Avail(?:able|\.)?\s+"
    r"(?:Capacity|Use%)\s+Mounted on"
)
_ROW = re.compile(
    r"(?P<device>\S+)\s+(?:(?P<type>[A-Za-z][\w.-]*)\s+)?(?P<size>[0-9]{1,20})\s+(?P<used>[0-9]{1,20})\s+"
    r"(?P<free>[0-9]{1,20})\s+[0-9]{1,3}%\s+(?P<mount>/.*)"
)
_OWN = re.compile(r"Filesystem\s|\S+\s.*\s[0-9]+%\s+/|\S+\s.*\s-\s+/|df: ")
_BLOCK = re.compile(r"(?P<number>[0-9]*)(?P<letter>[KMGT]?)B?")
_NAMES = {"type": "fs.type", "device": "fs.device"}

_FILE = re.compile(r"(?P<device>\S+) (?P<mount>/\S*) (?P<type>[\w.-]+) (?P<options>\S+) [0-9] [0-9]")
_COMMAND = re.compile(r"(?P<device>\S.*?) on (?P<mount>/.*?) type (?P<type>[\w.-]+) \((?P<options>\S+)\)(?: \[.*\])?")
_ESCAPED = re.compile(r"\\(?P<code>040|011|012|134)")
_HOLD_DATA = re.compile(
    r"ext[234]|xfs|btrfs|zfs|jfs|f2fs|vfat|ntfs3?|nfs4?|lustre|gpfs|beegfs|fhgfs|fhgfs_nodev|beegfs_nodev|ceph|"
    r"pvfs2|orangefs|panfs|wekafs|cifs|smb3|afs|gfs2|ocfs2|glusterfs|fuse\.(?:ceph|glusterfs|sshfs|juicefs|cvmfs2?)|"
    r"cvmfs|9p|virtiofs"
)
"""The rest (``proc``, ``cgroup``, ``tmpfs`` ...) are windows into the kernel, or memory."""


def find_usage(text: str) -> Iterator[Fact]:
    """``fs.size``, ``fs.used``, ``fs.available`` (bytes), ``fs.type`` and ``fs.device`` with the label ``mount``."""
    block, typed = 0, False
    for line in keep_whole_lines(read_lines(text), _OWN):
        if head := _HEAD.fullmatch(line.strip()):
            block, typed = _parse_block(head["block"]), bool(head["type"])
        elif line.startswith("Filesystem"):
            block = 0
        elif block and (row := _ROW.fullmatch(line)) and bool(row["type"]) == typed:
            size, used, free = (int(row[part]) * block for part in ("size", "used", "free"))
            if size and used + free <= size:
                marks = label_part("mount", row["mount"])
                for name, value in (("fs.size", size), ("fs.used", used), ("fs.available", free)):
                    yield Fact(name, float(value), Unit.BYTE, marks)
                yield from make_texts(_NAMES, row.groupdict(), marks)


def _parse_block(text: str) -> int:
    """Bytes of ``1K``, ``1024``, ``1B``, ``1``, ``512``; 0 for what says no unit, and for powers of 1000 (``1MB``)."""
    block = _BLOCK.fullmatch(text)
    if block is None or (block["letter"] and text.endswith("B")) or not (block["number"] or block["letter"]):
        return 0
    return int(scale_binary(block["number"] or "1", block["letter"]))


def find_mounts(text: str) -> Iterator[Fact]:
    """``fs.options``, ``fs.type`` and ``fs.device`` with the label ``mount``; of two mounts at one place the first."""
    seen = set[str]()
    for line in read_lines(text):
        mount = _FILE.fullmatch(line) or _COMMAND.fullmatch(line)
        if mount and _HOLD_DATA.fullmatch(mount["type"]) and mount["mount"] not in seen:
            seen.add(mount["mount"])
            marks = label_part("mount", _unescape(mount["mount"]))
            yield from make_texts(_NAMES, {"type": mount["type"], "device": _unescape(mount["device"])}, marks)
            yield Fact("fs.options", shorten(mount["options"], 400), None, marks)


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda escape: chr(int(escape["code"], 8)), text)
