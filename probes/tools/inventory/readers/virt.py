"""``systemd-detect-virt`` and ``virt-what`` as facts: is it bare metal, a virtual machine, a container?

``systemd-detect-virt`` ends with 1 where it prints ``none``: that is its answer. Alone it names only
the innermost of a container in a virtual machine; our script asks for both.
"""

import re
from collections.abc import Iterator

from benchconsole.probes.api import Fact
from benchconsole.probes.readers.lines import find_matches, read_lines

EXPECTED = "a word of systemd-detect-virt"

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
_LINE = re.compile(r"\s*(?:(?P<kind>vm|container): )?(?P<word>[A-Za-z0-9-]+)\s*")


def find_facts(text: str) -> Iterator[Fact]:
    """``virt.machine`` (``bare metal``, ``kvm`` ...) and ``virt.container`` (``no``, ``docker`` ...)."""
    for line in find_matches(_LINE, read_lines(text)):
        kind, word = line["kind"], line["word"]
        if kind != "container" and (word in _MACHINES or word == "none"):
            yield Fact("virt.machine", "bare metal" if word == "none" else word)
        elif (kind != "vm" and word in _CONTAINERS) or (kind == "container" and word == "none"):
            yield Fact("virt.container", "no" if word == "none" else word)
