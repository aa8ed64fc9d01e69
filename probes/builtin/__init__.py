"""Owns the probes that come with the console, registered by the hook that a stranger's plugin uses.

Every module here imports ``probes.api``, what ``probes`` offers to authors of probes (``scratch``,
``hygiene.devices``, ``launch``), the standard library and this package, nothing else.
Refuses to be special: nothing in here is reachable for a built-in that is not for a plugin.
"""

from collections.abc import Sequence

from probes.api import Probe, hook


@hook
def bench_probes() -> Sequence[Probe]:
    """Return the built-in probes; their modules are imported here and not with the package."""
    from probes.builtin.fio import Fio
    from probes.builtin.fio_device import FioDevice
    from probes.builtin.hpcc import Hpcc
    from probes.builtin.inventory import Inventory
    from probes.builtin.iperf3 import Iperf3
    from probes.builtin.mpi_pingpong import MpiPingpong

    return (Inventory(), Iperf3(), Fio(), FioDevice(), MpiPingpong(), Hpcc())
