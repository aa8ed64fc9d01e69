"""A host with more interfaces than the inventory asks: its ports and bonds are among those that are asked.

The interfaces are directories over ``/sys/class/net``, in mounts of their own; a script stands for ``ethtool``.
"""

import os
import subprocess
from pathlib import Path

import pytest

from benchconsole.probes.api import Fact, Output, Target
from benchconsole.probes.testing import a_node
from benchconsole.probes.tools.inventory.probe import Inventory


def _may_mount() -> bool:
    if os.geteuid() != 0:
        return False
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False, timeout=60).returncode == 0


pytestmark = pytest.mark.skipif(
    not _may_mount() and not os.environ.get("CI"),
    reason="NOT TESTED: mounts of its own need root (in CI this fails)",
)

ETHTOOL = """\
#!/bin/sh
case $1 in
    -i) echo "driver: made_for_$2";;
    -*) ;;
    *) printf '\\tLink detected: yes\\n';;
esac
"""
INTERFACES = """\
PATH=$1:$PATH
mount -t tmpfs none /sys/class/net && cd /sys/class/net && mkdir -p lo zbond/bonding zport/device && : >zport/mtu
: >lo/mtu
: >zbond/mtu
count=0
while [ "$count" -lt "$2" ]; do
    mkdir "cali$count*" && : >"cali$count*/mtu"
    count=$((count + 1))
done
shift 2
exec "$@"
"""
"""Containers' interfaces, which come before the port and the bond in the order of names. A name may hold a star."""


def _ask(folder: Path, containers: int) -> list[Fact]:
    tool = folder / "ethtool"
    tool.write_text(ETHTOOL)
    tool.chmod(0o755)
    argv = Inventory().command(Target(a_node()))
    own = ["unshare", "--mount", "--propagation", "private", "sh", "-c", INTERFACES, "sh", str(folder), str(containers)]
    done = subprocess.run([*own, *argv], capture_output=True, check=True, timeout=120)
    found = Inventory().parse(Output(tuple(argv), done.stdout, done.stderr, done.returncode))
    return [one for one in found if one.fact in ("nic.driver", "nic.link", "inventory.bounded")]


def _names(found: list[Fact], fact: str) -> list[str]:
    return [dict(one.labels)["nic"] for one in found if one.fact == fact]


def test_ports_and_bonds_are_asked_before_the_interfaces_of_containers(tmp_path: Path) -> None:
    found = _ask(tmp_path, 200)
    for fact in ("nic.driver", "nic.link"):
        names = _names(found, fact)
        assert names[:2] == ["zport", "zbond"]
        assert len(names) == len(set(names)) == 64
    assert Fact("inventory.bounded", "only the first 64 interfaces", None, (("source", "ethtool"),)) in found


@pytest.mark.parametrize("containers", [0, 62])
def test_each_interface_is_asked_once_where_there_is_room(tmp_path: Path, containers: int) -> None:
    found = _ask(tmp_path, containers)
    expected = {"zport", "zbond", *(f"cali{number}*" for number in range(containers))}
    assert sorted(_names(found, "nic.driver")) == sorted(expected)
    assert not [one for one in found if one.fact == "inventory.bounded"]
