"""Reads ``/proc/mounts`` and what ``mount`` prints as facts about how file systems that hold data are mounted."""

import re
from collections.abc import Iterator, Sequence

from probes.api import Fact
from probes.builtin.captured import one_line, whole_lines
from probes.builtin.inventory.facts import on, once, said, some

_FILE = re.compile(r"(?P<device>\S+) (?P<mount>/\S*) (?P<type>[\w.-]+) (?P<options>\S+) [0-9] [0-9]")
_COMMAND = re.compile(r"(?P<device>\S.*?) on (?P<mount>/.*?) type (?P<type>[\w.-]+) \((?P<options>\S+)\)(?: \[.*\])?")
_ESCAPED = re.compile(r"\\(?P<code>040|011|012|134)")
_LONGEST = 400

_HOLD_DATA = re.compile(
    r"ext[234]|xfs|btrfs|zfs|jfs|f2fs|vfat|ntfs3?|nfs4?|lustre|gpfs|beegfs|fhgfs|fhgfs_nodev|beegfs_nodev|ceph|"
    r"pvfs2|orangefs|panfs|wekafs|cifs|smb3|afs|gfs2|ocfs2|glusterfs|fuse\.(?:ceph|glusterfs|sshfs|juicefs|cvmfs2?)|"
    r"cvmfs|9p|virtiofs"
)
"""The rest (``proc``, ``cgroup``, ``tmpfs`` ...) are windows into the kernel, or memory."""


def parse(text: str) -> Sequence[Fact]:
    """``fs.options``, ``fs.type`` and ``fs.device`` with the label ``mount``; of two mounts at one place the first."""
    first: dict[str, re.Match[str]] = {}
    for line in whole_lines(text):
        mount = _FILE.fullmatch(line) or _COMMAND.fullmatch(line)
        if mount and _HOLD_DATA.fullmatch(mount["type"]):
            first.setdefault(mount["mount"], mount)
    return some(once(_facts(list(first.values()))), "the lines of /proc/mounts")


def _facts(mounts: Sequence[re.Match[str]]) -> Iterator[Fact]:
    for mount in mounts:
        marks = on("mount", _plain(mount["mount"]))
        yield from said("fs.type", mount["type"], marks)
        yield from said("fs.device", _plain(mount["device"]), marks)
        yield Fact("fs.options", one_line(mount["options"], _LONGEST), None, marks)


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda escape: chr(int(escape["code"], 8)), text)
