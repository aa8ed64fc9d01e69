"""Programs on a node: taking them away, playing them, putting them back.

Owned here: every change to a file of a node's root, and the scripts that faults play.
Refused here: knowing when; `faults.py` says that.

A node's root is an overlay over the machine's own, so a change reaches no other node and
the original is always there to copy from.
"""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

from tests.lab.host import PATH, LabError, attempt
from tests.lab.observe import descendants, processes_of
from tests.lab.site import Site

# The child inherits that TERM is ignored, so only KILL (or the end of the node) ends both.
HANG = """\
#!/bin/sh
trap '' TERM HUP
while :; do sleep 1000; done
"""

FLOOD = """\
#!/bin/sh
yes 'the quick brown fox jumps over the lazy dog 0123456789' | head -c {size}
exit 0
"""


def path_of(tool: str) -> str:
    """Where a program lies; an absolute path is taken as it is."""
    if tool.startswith("/"):
        return tool
    found = shutil.which(tool, path=PATH)
    if found is None:
        raise LabError(f"{tool} is not installed here, so there is nothing to replace")
    return found


def remove(site: Site, node: str, tool: str) -> None:
    """Make a program truly absent."""
    _inside(site, node, path_of(tool)).unlink(missing_ok=True)


def play(site: Site, node: str, tool: str, text: str) -> None:
    """Put a file of ours in the place of a program, or of a file under /proc or /sys."""
    path = path_of(tool)
    if path.startswith(("/proc/", "/sys/")):
        _cover(site, node, path, text)
        return
    target = _inside(site, node, path)
    target.parent.mkdir(parents=True, exist_ok=True)
    # A new file, not new content: the old one may be running ("text file busy").
    target.unlink(missing_ok=True)
    target.write_text(text)
    target.chmod(0o755)


def restore(site: Site, node: str, tool: str) -> None:
    """Put the machine's own file back, or nothing where it has none."""
    path = path_of(tool)
    if path.startswith(("/proc/", "/sys/")):
        attempt(site.enter(node, "umount", path))  # after a reboot there is nothing to lift
        return
    target = _inside(site, node, path)
    target.unlink(missing_ok=True)
    if Path(path).exists():
        shutil.copy2(path, target)
    _end_users(site, node, path)


def _inside(site: Site, node: str, path: str) -> Path:
    # Links on the way are followed by the outside, so only relative ones lead right.
    return site.root(node) / path.lstrip("/")


def _cover(site: Site, node: str, path: str, text: str) -> None:
    cover = "/run/played" + path
    target = _inside(site, node, cover)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    site.inside(node, "mount", "--bind", cover, path)


def _end_users(site: Site, node: str, path: str) -> None:
    """End what still runs a played script; a hanging one would outlive its fault."""
    found = processes_of(site.pid(node))
    users = [p for p in found if path in p.argv[:2] and p.argv[0] != path]
    for process in descendants(found, users):
        process.identity.signal(signal.SIGKILL)
