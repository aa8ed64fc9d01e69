"""Nodes: their directories, their boot, their end.

Owned here: one process tree per node with namespaces, root and scratch disk of its own.
Refused here: cables (`network.py`); a node boots the same with or without them.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from functools import partial
from pathlib import Path

from tests.lab.host import ENVIRONMENT, Identity, LabError, run, wait_for
from tests.lab.plan import Plan
from tests.lab.state import Record, StateDirectory

BOOT = Path(__file__).with_name("boot.sh")
PROJECT = Path(__file__).resolve().parents[2]
_UNSHARE = ("unshare", "--net", "--uts", "--ipc", "--pid", "--mount", "--fork", "--kill-child")

# The `unshare` of every node this process booted: somebody has to collect their exit status.
_children: dict[Identity, subprocess.Popen[bytes]] = {}


def prepare(plan: Plan, state: StateDirectory, record: Record) -> None:
    """Lay out every node's directory: disk image, masks, settings for its boot."""
    template = state.nodes / "scratch.template"
    for name in plan.nodes:
        (state.node(name) / "root").mkdir(parents=True, exist_ok=True)
    (state.nodes / "loop.lock").touch()
    _make_image(template, plan.spec.scratch_mib)
    cgroups = dict(zip(record.nodes, record.cgroups, strict=False))
    for name in plan.nodes:
        directory = state.node(name)
        run(["cp", "--sparse=always", str(template), str(directory / "scratch.img")])
        (directory / "masks").write_text("".join(f"{mask}\n" for mask in _masks(state)))
        settings = {
            "NAME": name,
            "CGROUP": cgroups.get(name, ""),
            "CGROUP_KIND": record.cgroup_kind,
            "BYTES_PER_SECOND": str(plan.spec.disk_mb_per_second * 1_000_000),
        }
        lines = [f"{key}={shlex.quote(value)}\n" for key, value in settings.items()]
        (directory / "boot.env").write_text("".join(lines))
    template.unlink()


def _make_image(path: Path, mib: int) -> None:
    with path.open("wb") as image:
        os.truncate(image.fileno(), mib * 1024 * 1024)
    run(["mkfs.ext4", "-q", "-F", "-m", "0", "-J", "size=4", "-L", "scratch", str(path)])


def _masks(state: StateDirectory) -> list[str]:
    """Directories of the outside that no node may see, each once and outermost only."""
    wanted = sorted({Path("/root"), PROJECT, state.root})
    return [str(p) for p in wanted if not any(q in p.parents for q in wanted)]


def boot(name: str, state: StateDirectory) -> None:
    """Start a node; it is running when `pid` gives an identity that is alive."""
    directory = state.node(name)
    for stale in ("pid", "outer", "loop", "throttled"):
        (directory / stale).unlink(missing_ok=True)
    with (directory / "boot.log").open("wb") as log:
        child = subprocess.Popen(
            [*_UNSHARE, "sh", str(BOOT), str(directory)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=ENVIRONMENT,
            cwd="/",
            start_new_session=True,  # Ctrl-C at the terminal is not meant for nodes
        )
    outer = Identity.of(child.pid)
    if outer is not None:
        (directory / "outer").write_text(f"{outer.pid} {outer.start}\n")
        _children[outer] = child


def await_pid(name: str, state: StateDirectory) -> Identity:
    """The node's PID 1, once it has said who it is."""
    wait_for((state.node(name) / "pid").exists, 60, f"{name} to start")
    found = state.pid(name)
    if found is None:
        raise LabError(f"{name} wrote no usable pid")
    return found


def boot_trouble(name: str, state: StateDirectory) -> str:
    """The boot log of a node that did not come up."""
    try:
        return (state.node(name) / "boot.log").read_text(errors="replace").strip()
    except FileNotFoundError:
        return "(no log)"


def end(name: str, state: StateDirectory) -> None:
    """Kill a node's PID 1, and with it everything inside; returns when all is gone."""
    inner, outer = state.pid(name), state.outer(name)
    # The outer process collects the inner one and ends by itself, so it is killed only
    # when the inner one never said who it is.
    victim = inner or outer
    if victim is not None:
        victim.signal(signal.SIGKILL)
    for process in filter(None, (inner, outer)):
        wait_for(partial(_gone, process), 20, f"{name} to end")


def _gone(process: Identity) -> bool:
    child = _children.get(process)
    if child is not None and child.poll() is not None:
        del _children[process]
    return not process.alive()
