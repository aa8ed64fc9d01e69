"""Reads ``systemd-detect-virt`` and ``virt-what`` as facts: is it bare metal, a virtual machine, a container?

``systemd-detect-virt`` ends with 1 where it prints ``none``: that is its answer. Alone it names only
the innermost of a container in a virtual machine; our script asks for both.
"""

import re
from collections.abc import Sequence

from probes.api import Fact
from probes.builtin.captured import whole_lines
from probes.builtin.inventory.facts import once, some

_MACHINES = frozenset(
    (
        "kvm", "qemu", "amazon", "zvm", "vmware", "microsoft", "oracle", "powervm", "xen", "bochs", "uml", "parallels",
        "bhyve", "qnx", "acrn", "apple", "sre", "google", "vm-other", "hyperv", "virtualbox", "aws", "xen-hvm",
        "xen-domU",
    )
)  # fmt: skip
_CONTAINERS = frozenset(
    ("openvz", "lxc", "lxc-libvirt", "systemd-nspawn", "docker", "podman", "rkt", "wsl", "proot", "pouch")
)
_LINE = re.compile(r"(?:(?P<asked>vm|container): )?(?P<said>[A-Za-z0-9-]+)")
BARE = "bare metal"


def parse(text: str) -> Sequence[Fact]:
    """``virt.machine`` (``bare metal``, ``kvm`` ...) and ``virt.container`` (``no``, ``docker`` ...)."""
    found: list[Fact] = []
    for line in whole_lines(text):
        told = _LINE.fullmatch(line.strip())
        if told is None:
            continue
        asked, said = told["asked"], told["said"]
        if said in _MACHINES and asked != "container":
            found.append(Fact("virt.machine", said))
        elif said in _CONTAINERS and asked != "vm":
            found.append(Fact("virt.container", said))
        elif said == "none" and asked != "container":
            found.append(Fact("virt.machine", BARE))
        elif said == "none":
            found.append(Fact("virt.container", "no"))
    return some(once(found), "a word of systemd-detect-virt")
