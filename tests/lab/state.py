"""The record of a running laboratory, so that any process can end it.

Owned here: the layout of a state directory, the record of everything that was named on
the machine, and the register of laboratories (one file per prefix under /run/benchlab).
Refused here: ending anything (`teardown.py`).

The record is written before the first thing is made. Only pids cannot be known then; each
node writes its own to its directory before it does anything else.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from benchconsole.topology.copying import replace
from tests.lab.host import Identity, LabError
from tests.lab.spec import LabSpec, StorageServer

REGISTER = Path("/run/benchlab")
SOMEWHERE = "benchlab-"
"""The name of a state directory that a test session makes begins so; all in it is of that session."""
NETNS = Path("/run/netns")
NETNS_MARK = "netns-directory-is-ours"
IO_MARK = "io-controller-was-off"
_VERSION = 1


@dataclass(frozen=True)
class Record:
    """Every name that a laboratory uses on the machine."""

    spec: LabSpec
    owner: Identity | None  # None: made by a command that has ended, meant to stay
    complete: bool
    bridge: str
    links: tuple[str, ...]
    namespaces: tuple[str, ...]
    nodes: tuple[str, ...]
    cgroups: tuple[str, ...]
    cgroup_kind: str


class StateDirectory:
    """Paths inside the directory of one laboratory."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.record_file = self.root / "state.json"
        self.faults_file = self.root / "faults.json"
        self.topology = self.root / "topology.yaml"
        self.ssh_config = self.root / "ssh_config"
        self.known_hosts = self.root / "known_hosts"
        self.identity = self.root / "id_ed25519"
        self.nodes = self.root / "nodes"
        self.common = self.nodes / "common"
        self.between = self.nodes / "between_ed25519"

    def node(self, name: str) -> Path:
        """The directory of one node."""
        return self.nodes / name

    def pid(self, name: str) -> Identity | None:
        """The PID 1 of a node as it wrote it down itself."""
        return Identity.read(self.node(name) / "pid")

    def outer(self, name: str) -> Identity | None:
        """The `unshare` that waits outside for a node."""
        return Identity.read(self.node(name) / "outer")

    def save(self, record: Record) -> None:
        """Write the record whole or not at all."""
        write_json(self.record_file, {"version": _VERSION, **asdict(record)})

    def load(self) -> Record | None:
        """The record, or None when this directory holds no laboratory."""
        try:
            data = json.loads(self.record_file.read_text())
        except FileNotFoundError:
            return None
        except json.JSONDecodeError as error:
            raise LabError(f"{self.record_file} is damaged: {error}") from error
        if data.pop("version", None) != _VERSION:
            raise LabError(f"{self.record_file} was written by another version of the laboratory")
        spec = data.pop("spec")
        servers = tuple(StorageServer(**server) for server in spec.pop("storage"))
        owner = data.pop("owner")
        lists = {key: tuple(value) for key, value in data.items() if isinstance(value, list)}
        return Record(
            spec=LabSpec(storage=servers, **spec),
            owner=None if owner is None else Identity(**owner),
            **(data | lists),
        )

    def finished(self, record: Record) -> None:
        """Note that everything in the record was made."""
        self.save(replace(record, complete=True))


def write_json(path: Path, content: object) -> None:
    """Write so that a reader sees the old text or the new, never half."""
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(json.dumps(content, indent=1))
    fresh.replace(path)


@contextmanager
def register() -> Iterator[Path]:
    """Hold the register of laboratories alone; it goes when it is empty."""
    handle = _lock_register()
    try:
        yield REGISTER
    finally:
        if not any(REGISTER.iterdir()):
            REGISTER.rmdir()
        os.close(handle)


def _lock_register() -> int:
    while True:
        REGISTER.mkdir(mode=0o700, exist_ok=True)
        try:
            handle = os.open(REGISTER, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:  # its last user removed it before it was opened
            continue
        fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            # The last user may have removed the directory while we waited for its lock.
            if REGISTER.stat().st_ino == os.fstat(handle).st_ino:
                return handle
        except FileNotFoundError:
            pass
        os.close(handle)


def entry(prefix: str) -> Path:
    """The register's file for a prefix; it holds the path of a state directory."""
    return REGISTER / f"{prefix}.lab"


def prefixes() -> list[str]:
    """Every prefix that a laboratory holds, alive or dead."""
    return sorted(path.stem for path in REGISTER.glob("*.lab"))


def registered(prefix: str) -> StateDirectory | None:
    """The laboratory that uses this prefix, alive or dead."""
    try:
        return StateDirectory(Path(entry(prefix).read_text()))
    except FileNotFoundError:
        return None


def is_mount_point(path: Path) -> bool:
    """Whether something is mounted exactly here; os.path.ismount misses bind mounts."""
    return str(path) in (line.split()[4] for line in Path("/proc/self/mountinfo").open())


def leave_mark(name: str, text: str = "") -> None:
    """Note in the register that laboratories changed something all of them use."""
    (REGISTER / name).write_text(text)


def take_mark(name: str) -> str | None:
    """Take the text that `leave_mark` noted, once the last laboratory is gone: then the change is to be undone."""
    mark = REGISTER / name
    if not mark.exists() or any(REGISTER.glob("*.lab")):
        return None
    text = mark.read_text()
    mark.unlink()
    return text
