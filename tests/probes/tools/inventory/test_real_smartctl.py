"""The real ``smartctl`` where no disk answers it: it says so in JSON, in words and in its status, and nothing is told."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchconsole.probes.api import Output, ProbeOutputError, Target
from benchconsole.probes.testing import a_node
from benchconsole.probes.tools.inventory.probe import Inventory
from benchconsole.probes.tools.inventory.script import find_answers
from benchconsole.probes.tools.inventory.sources import SOURCES


def _may_mount() -> bool:
    """Whether this user may have mounts of its own, where smartctl is installed."""
    if shutil.which("smartctl", path=f"{os.environ['PATH']}:/usr/sbin") is None or os.geteuid() != 0:
        return False
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False, timeout=60).returncode == 0


pytestmark = pytest.mark.skipif(
    not _may_mount() and not os.environ.get("CI"),
    reason="NOT TESTED: smartctl is not installed here, or loop devices and mounts are not allowed (in CI this fails)",
)

DISKS_OF_LOOP = """\
mount -t tmpfs none /sys/block && mkdir /sys/block/sda /sys/block/nvme0n1 &&
mount -t tmpfs none /dev && mknod /dev/null c 1 3 && mknod /dev/sda b $(printf '%d %d' "0x$1" "0x$2") &&
shift 2 && exec "$@"
"""
"""A machine whose disk ``sda`` is a loop device and whose ``nvme0n1`` has no device at all, in mounts of its own."""


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[Path]:
    """A loop device, which is a disk that knows no command of a disk."""
    file = tmp_path / "disk"
    file.write_bytes(bytes(2**20))
    asked = ["losetup", "--find", "--show", str(file)]
    device = Path(subprocess.run(asked, capture_output=True, check=True, text=True, timeout=60).stdout.strip())
    yield device
    subprocess.run(["losetup", "--detach", str(device)], check=True, timeout=60)


@pytest.mark.parametrize("kind", ["auto", "ata", "scsi", "sat", "nvme", "megaraid,3"])
@pytest.mark.parametrize("form", [[], ["--json=c"], ["--json=o"]], ids=["text", "json", "both"])
def test_a_disk_that_does_not_answer_tells_nothing(loop: Path, kind: str, form: list[str]) -> None:
    argv = ["smartctl", "-n", "standby", "-i", "-H", "-A", "-d", kind, *form, str(loop)]
    environment = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin"}
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout
    assert done.returncode not in SOURCES["smartctl"].answered
    with pytest.raises(ProbeOutputError):
        SOURCES["smartctl"](done.stdout)


def test_the_script_passes_on_what_smartctl_refuses_and_no_fact(loop: Path) -> None:
    number = loop.stat().st_rdev
    argv = Inventory().command(Target(a_node()))
    own = ["unshare", "--mount", "sh", "-c", DISKS_OF_LOOP, "sh", f"{os.major(number):x}", f"{os.minor(number):x}"]
    done = subprocess.run([*own, *argv], capture_output=True, check=False, timeout=60)
    said = {one.source: one for one in find_answers(done.stdout.decode(), argv[4])}
    assert said["smartctl"].status == 0
    assert {f"smartctl of /dev/{name}" for name in ("sda", "nvme0n1")} <= set(said["smartctl"].text.splitlines())
    assert "smartctl open device: /dev/nvme0n1 failed" in said["smartctl"].text.lower()
    with pytest.raises(ProbeOutputError):
        SOURCES["smartctl"](said["smartctl"].text)
    facts = Inventory().parse(Output(tuple(argv), done.stdout, done.stderr, done.returncode))
    assert not {fact.fact for fact in facts} & {"disk.health", "disk.temperature", "disk.power_on_time", "disk.wear"}
