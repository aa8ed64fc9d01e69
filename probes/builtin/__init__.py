"""Owns the probes that come with the console, registered by the hook that a stranger's plugin uses.

Every module here imports ``probes.api``, what ``probes`` offers to authors of probes (``scratch``,
``serving``, ``hygiene.devices``, ``launch``), the standard library and this package, nothing else.
Refuses to be special: nothing in here is reachable for a built-in that is not for a plugin.
"""

from collections.abc import Sequence
from importlib import import_module

from probes.api import Probe, hook

BUILTIN = (
    "inventory:Inventory",
    "availability:Availability",
    "ping:Ping",
    "traceroute:Traceroute",
    "iperf3:Iperf3",
    "nuttcp:Nuttcp",
    "netperf:Netperf",
    "qperf:Qperf",
    "sockperf:Sockperf",
    "archive:Archive",
    "mpi_pingpong:MpiPingpong",
    "imb:Imb",
    "imb:ImbSet",
    "osu:Osu",
    "osu:OsuSet",
    "hpl:Hpl",
    "stream:Stream",
    "hpcc:Hpcc",
    "sysbench:Sysbench",
    "dd:Dd",
    "fio:Fio",
    "fio_clients:FioClients",
    "fio_device:FioDevice",
    "iozone:Iozone",
    "bonnie:Bonnie",
    "ior:Ior",
    "mdtest:Mdtest",
    "h5perf:H5perf",
    "detector_stream:DetectorStream",
    "aggregate:Aggregate",
    "skim:Skim",
)
"""Module and class of each probe, in the order of the catalogue: nodes, network, MPI, compute, storage, uses."""


@hook
def bench_probes() -> Sequence[Probe]:
    """Return the built-in probes; their modules are imported here and not with the package."""
    found = []
    for each in BUILTIN:
        module, _, name = each.partition(":")
        found.append(getattr(import_module(f"{__name__}.{module}"), name)())
    return found
