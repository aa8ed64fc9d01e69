"""Open MPI in a laboratory: what must be installed on this machine, whose root the nodes share.

Owned here: the programs and their packages. The keys between nodes are always there (`files.py`).
Refused here: starting anything.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.lab.host import PATH

PACKAGES = {"mpirun": "openmpi-bin", "hpcc": "hpcc"}
_MPI4PY = Path("/usr/lib/python3/dist-packages/mpi4py")


def missing() -> list[str]:
    """The missing tools and libraries, each with its Debian package."""
    found = [
        f"{tool} is missing (Debian package {package})"
        for tool, package in PACKAGES.items()
        if shutil.which(tool, path=PATH) is None
    ]
    return found if _MPI4PY.exists() else [*found, "mpi4py is missing (Debian package python3-mpi4py)"]
