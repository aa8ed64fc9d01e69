"""Versions of the software that results depend on, and the services that set a node, as facts.

Every tool tells its version in a form of its own: a line counts where it is the whole form. Lines of the script begin
with what was asked (``mpirun: mpirun (Open MPI) 4.1.4``), so that a text that is in no form is left out, and no version
is given to the wrong program.
"""

import re
from collections.abc import Iterator

from benchconsole.probes.api import Fact, labels
from benchconsole.probes.readers.lines import read_lines, split_fields
from benchconsole.probes.tools.inventory.facts import make_text

_V = r"(?P<version>[0-9]+(?:\.[0-9]+)+[\w.+~-]*)"
_FORMS: dict[str, tuple[str, ...]] = {
    "mpirun": (
        rf"mpi(?:run|exec)(?:\.real)? \((?P<kind>Open MPI|OpenRTE)\) {_V}",
        rf"(?P<kind>Intel)\(R\) MPI Library for Linux\*? OS, Version {_V}.*",
        rf"Version: +{_V}",  # below "HYDRA build details:"
    ),
    "gcc": (rf"(?:\S+-)?gcc(?:-[0-9]+)? \([^()]*(?:\([^()]*\)[^()]*)*\) {_V}(?: .*)?",),
    "gfortran": (rf"GNU Fortran \([^()]*(?:\([^()]*\)[^()]*)*\) {_V}(?: .*)?",),
    "clang": (rf"(?:\w+ )?clang version {_V}.*",),
    "icx": (rf"Intel\(R\) oneAPI DPC\+\+/C\+\+ Compiler {_V}.*",),
    "nvc": (rf"nvc {_V} .*",),
    "lustre": (rf"(?:lustre: *|lfs )?{_V}",),
    "beegfs": (_V,),
    "ceph": (rf"ceph version {_V} .*",),
    "gpfs": (rf"Current GPFS build: \"{_V}[^\"]*\"\.?",),
    "qemu": (rf"QEMU emulator version {_V}(?: .*)?",),
    "openstack": (rf"openstack {_V}",),
    "apptainer": (rf"(?:apptainer|singularity|singularity-ce) version {_V}",),
    "slurm": (rf"slurm(?:-wlm)? {_V}",),
}
_MPI = {"OpenRTE": "Open MPI", "Intel": "Intel MPI", "": "Hydra"}
"""The name that a launcher gives itself, and the library that it belongs to; Hydra is that of MPICH and of its kin."""


def find_versions(text: str) -> Iterator[Fact]:
    """``mpi.version`` (``Open MPI 4.1.4``), and ``gcc.version``, ``ceph.version`` ... of the others."""
    for program, said in split_fields(read_lines(text)):
        forms = _FORMS.get(program, ())
        match = next((found for form in forms if (found := re.fullmatch(form, said.strip(), re.ASCII))), None)
        if match is None:
            continue
        if program == "mpirun":
            told = match.groupdict().get("kind") or ""
            kind = _MPI.get(told, told)
            yield from make_text("mpi.version", f"{kind} {match['version']}")
        else:
            yield from make_text(f"{program}.version", match["version"])


def find_modules(text: str) -> Iterator[Fact]:
    """``module.version`` with the label ``module``: of the modules of the kernel that tell a version of their own."""
    for path, said in split_fields(read_lines(text)):
        module = re.fullmatch(r"/sys/module/([\w-]{1,60})/version", path, re.ASCII)
        if module is not None:
            yield from make_text("module.version", said, labels(module=module[1]))


def find_services(text: str) -> Iterator[Fact]:
    """``irqbalance.running`` and ``tuned.running`` (yes or no), and ``tuned.profile``."""
    for name, said in split_fields(read_lines(text)):
        if name in ("irqbalance", "tuned") and said in ("yes", "no"):
            yield Fact(f"{name}.running", said)
        elif name == "profile":
            yield from make_text("tuned.profile", said)
