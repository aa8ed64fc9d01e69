"""``/proc/mounts`` and what ``mount`` prints, as facts about how file systems that hold data are mounted."""

import re
from collections.abc import Iterator

from benchconsole.probes.api import Fact
from benchconsole.probes.readers.lines import read_lines, shorten
from benchconsole.probes.tools.inventory.facts import label_part, make_text

EXPECTED = "the lines of /proc/mounts"

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


def find_facts(text: str) -> Iterator[Fact]:
    """``fs.options``, ``fs.type`` and ``fs.device`` with the label ``mount``; of two mounts at one place the first."""
    seen = set[str]()
    for line in read_lines(text):
        mount = _FILE.fullmatch(line) or _COMMAND.fullmatch(line)
        if mount and _HOLD_DATA.fullmatch(mount["type"]) and mount["mount"] not in seen:
            seen.add(mount["mount"])
            marks = label_part("mount", _unescape(mount["mount"]))
            yield from make_text("fs.type", mount["type"], marks)
            yield from make_text("fs.device", _unescape(mount["device"]), marks)
            yield Fact("fs.options", shorten(mount["options"], _LONGEST), None, marks)


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda escape: chr(int(escape["code"], 8)), text)
