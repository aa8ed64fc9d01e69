"""The probes that come with the console, registered by the hook that a stranger's plugin uses.

Every module here imports ``probes.api``, what ``probes`` offers to authors of probes (``scratch``,
``serving``, ``hygiene.devices``, ``launch``), the standard library and this package, nothing else.
"""

from collections.abc import Sequence
from importlib import import_module

from benchconsole.probes.api import Probe, hook

BUILTIN = (
    "inventory.probe:Inventory",
    "availability.probe:Availability",
    "ping.probe:Ping",
    "traceroute.probe:Traceroute",
    "iperf3.probe:Iperf3",
    "iperf.probe:Iperf",
    "nuttcp.probe:Nuttcp",
    "netperf.probe:Netperf",
    "qperf.probe:Qperf",
    "sockperf.probe:Sockperf",
    "archive.probe:Archive",
    "mpi_pingpong.probe:MpiPingpong",
    "imb.probe:Imb",
    "imb.probe:ImbSet",
    "osu.probe:Osu",
    "osu.probe:OsuSet",
    "hpl.probe:Hpl",
    "stream.probe:Stream",
    "hpcc.probe:Hpcc",
    "sysbench.probe:Sysbench",
    "dd.probe:Dd",
    "fio.probe:Fio",
    "fio.clients_probe:FioClients",
    "fio.device_probe:FioDevice",
    "iozone.probe:Iozone",
    "bonnie.probe:Bonnie",
    "ior.probe:Ior",
    "mdtest.probe:Mdtest",
    "h5perf.probe:H5perf",
    "h5perf.parallel_probe:ParallelH5perf",
    "detector_stream.probe:DetectorStream",
    "aggregate.probe:Aggregate",
    "skim.probe:Skim",
)
"""Module and class of each probe, in the order of the catalogue: nodes, network, MPI, compute, storage, uses."""


@hook
def bench_probes() -> Sequence[Probe]:
    """Return the built-in probes; their modules are imported here and not with the package."""
    places = (place.partition(":") for place in BUILTIN)
    return [getattr(import_module(f"{__name__}.{module}"), name)() for module, _, name in places]
