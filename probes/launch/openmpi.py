"""The command line of ``mpirun`` for a job, in the options of Open MPI 4.

Pure. Its options beyond the defaults are each for a failure that was seen (``docs/decisions/015-launchers.md``):
networks and ports by name, ranks spread over nodes, no spawning through other nodes, keepalives that notice a
dead node within a quarter of a minute, no wait for ranks that shall end, nothing read from stdin.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from types import MappingProxyType

from benchconsole.probes.launch.hostfile import LaunchError, Options, hostfile, slots, tasks_per_node
from benchconsole.probes.launch.network_choice import Rails, rails
from benchconsole.topology.model.fabric import Node

HOSTS = "hosts"
"""The hostfile's name in the directory of the run."""
SLURM_HOSTS = "hosts.slurm"
"""The same by the names that Slurm knows; the script takes it inside an allocation."""
_NODE_SILENT, _BETWEEN, _TRIES = 5, 2, 3


@dataclass(frozen=True, slots=True)
class Job:
    """One program on ``ranks`` ranks, spread evenly over ``nodes``; the first node is the head, with rank 0.

    ``seconds`` is the time after which it is ended. ``files`` (name to text) lie in the head's working
    directory, which is made for the run and removed with it; of ``results``, names of files that the program
    writes there, the text follows its own standard output. ``writes`` is bytes that those may take.
    """

    nodes: tuple[Node, ...]
    program: tuple[str, ...]
    ranks: int
    seconds: float
    options: Options = Options()  # noqa: RUF009 - frozen
    files: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    results: tuple[str, ...] = ()
    writes: float = 1_000_000.0

    def __post_init__(self) -> None:
        room = self.room
        if not self.nodes or not 1 <= self.ranks <= room:
            raise LaunchError(
                f"found {self.ranks} ranks for {room} slots on {len(self.nodes)} nodes, expected 1 or more that fit"
            )
        for name in (*self.files, *self.results):
            if not name.replace(".", "").replace("_", "").isalnum() or name.startswith("."):
                raise LaunchError(f"found {name!r} as the name of a file, expected letters, digits, '_' and '.'")

    @property
    def room(self) -> int:
        """The most ranks that fit."""
        return sum(slots(node, self.options) for node in self.nodes)

    @property
    def rails(self) -> Rails:
        """The networks that its ranks and its launcher take. Raises LaunchError."""
        if len(self.nodes) == 1 and not self.options.network:
            return Rails("lo", "lo")  # nothing leaves the node, whatever its addresses are called
        return rails(self.nodes, self.options.network)

    def arguments(self) -> list[str]:
        options, networks = self.options, self.rails
        argv = [options.mpirun, "--hostfile", HOSTS, "--map-by", "node", "--stdin", "none"]
        argv += ["--timeout", str(ceil(self.seconds)), "-x", "BENCHCONSOLE_SESSION"]
        if options.bind:
            argv += ["--bind-to", options.bind]
        for name, value in _parameters(options, networks).items():
            argv += ["--mca", name, value]
        return [*argv, "-np", str(self.ranks), *self.program]

    def texts(self) -> dict[str, str]:
        """Every file of the run, hostfiles included."""
        files = {HOSTS: hostfile(self.nodes, self.options), SLURM_HOSTS: hostfile(self.nodes, self.options, names=True)}
        return {**self.files, **files}

    def slurm(self) -> tuple[str, str]:
        """The nodes as Slurm names them, and their slots as Slurm writes them."""
        return ",".join(node.id for node in self.nodes), tasks_per_node(self.nodes, self.options)


def _parameters(options: Options, networks: Rails) -> dict[str, str]:
    control, payload = options.port_ranges()
    found = {
        "orte_base_help_aggregate": "0",
        "plm_rsh_no_tree_spawn": "1",
        "plm_rsh_args": "-o BatchMode=yes -o ConnectTimeout=10",
        "odls_base_sigkill_timeout": "0",
        "oob_tcp_keepalive_time": str(_NODE_SILENT),
        "oob_tcp_keepalive_intvl": str(_BETWEEN),
        "oob_tcp_keepalive_probes": str(_TRIES),
        "oob_tcp_if_include": networks.control,
        "oob_tcp_dynamic_ipv4_ports": f"{control[0]}-{control[1]}",
        "btl_tcp_if_include": networks.data,
        "btl_tcp_port_min_v4": str(payload[0]),
        "btl_tcp_port_range_v4": str(payload[1] - payload[0] + 1),
    }
    # ob1 over TCP and memory: otherwise an InfiniBand card would carry what the description says Ethernet does
    return {**found, "pml": "ob1", "btl": "^openib,uct,usnic"} if options.transport == "tcp" else found
