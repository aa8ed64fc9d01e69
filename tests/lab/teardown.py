"""Ending a laboratory so that nothing of it is left, from its record alone.

Owned here: undoing everything a record names, in any state of completeness.
Refused here: guessing. A process is ended by pid and start time, a link, namespace or
cgroup by its recorded name, a loop device by its image file; nothing is searched by pattern.
"""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from functools import partial
from pathlib import Path

from tests.lab import lldp, nodes
from tests.lab.host import attempt, run, together, wait_for
from tests.lab.state import (
    IO_MARK,
    NETNS,
    NETNS_MARK,
    SOMEWHERE,
    Record,
    StateDirectory,
    entry,
    is_mount_point,
    register,
    take_mark,
)


def tear_down(state: StateDirectory, record: Record) -> None:
    """Undo a laboratory, whole or half built, and remove what it wrote."""
    lldp.stop(state)
    together(lambda name: nodes.end(name, state), record.nodes)
    _remove_links(record)
    _remove_namespaces(record)
    _release_loops(state)
    together(_remove_cgroup, record.cgroups)
    remove_files(state)
    with register():
        entry(record.spec.prefix).unlink(missing_ok=True)
        _undo_shared_changes()


def _undo_shared_changes() -> None:
    if take_mark(NETNS_MARK) is not None and is_mount_point(NETNS) and not any(NETNS.iterdir()):
        run(["umount", str(NETNS)])
        NETNS.rmdir()
    io_root = take_mark(IO_MARK)
    if io_root is not None:
        with suppress(OSError):  # somebody else may use the controller by now
            (Path(io_root) / "cgroup.subtree_control").write_text("-io")


def _remove_links(record: Record) -> None:
    # A port lingers for a moment after its node's namespace: delete rather than wait for it.
    wanted = {*record.links, record.bridge}

    def removed() -> bool:
        present = wanted & {link["ifname"] for link in json.loads(run(["ip", "-j", "link", "show"]))}
        if present:
            lines = "".join(f"link delete {name}\n" for name in present)
            attempt(["ip", "-force", "-batch", "-"], stdin=lines)
        return not present

    wait_for(removed, 20, "the cables to go")


def _remove_namespaces(record: Record) -> None:
    there = [name for name in record.namespaces if (NETNS / name).exists()]
    if there:
        run(["ip", "-batch", "-"], stdin="".join(f"netns delete {name}\n" for name in there))


def loops_of(directory: Path) -> list[str]:
    """The loop devices whose image lies under this directory."""
    devices = json.loads(run(["losetup", "--list", "--json"]) or '{"loopdevices": []}')
    inside = f"{directory}/"
    return [d["name"] for d in devices["loopdevices"] if str(d["back-file"]).startswith(inside)]


def _release_loops(state: StateDirectory) -> None:
    # Normally they went with the mounts; one is left when a boot was cut between two lines.
    def released() -> bool:
        for device in loops_of(state.root):
            attempt(["losetup", "-d", device])
        return not loops_of(state.root)

    wait_for(released, 10, "the loop devices to go")


def _remove_cgroup(path: str) -> None:
    wait_for(partial(_try_rmdir, path), 10, f"{path} to become empty")


def _try_rmdir(path: str) -> bool:
    try:
        Path(path).rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def remove_files(state: StateDirectory) -> None:
    """Remove what a laboratory wrote, and the directory where nothing of others is in it, or all of it is ours."""
    for path in (state.topology, state.ssh_config, state.known_hosts, state.faults_file):
        path.unlink(missing_ok=True)
    for name in (state.identity.name, f"{state.identity.name}.pub"):
        (state.root / name).unlink(missing_ok=True)
    shutil.rmtree(state.nodes, ignore_errors=True)
    # The record goes last: a teardown that is cut short can be done again.
    state.record_file.unlink(missing_ok=True)
    if not state.root.exists():
        return
    if state.root.name.startswith(SOMEWHERE):  # tests write descriptions of their own beside ours
        shutil.rmtree(state.root)
    elif not any(state.root.iterdir()):
        state.root.rmdir()
