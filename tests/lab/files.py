"""The texts a laboratory writes: the product's topology, SSH's files, the nodes' /etc.

Owned here: the words of those files and the keys they mention.
Refused here: starting or wiring anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from tests.lab import slurm
from tests.lab.host import run, together
from tests.lab.plan import NodePlan, Plan
from tests.lab.state import StateDirectory

# An ordinary user with the same number on every node, for what should not be done as root.
ORDINARY_USER = "bench"
_USER_TABLES = {
    "passwd": f"{ORDINARY_USER}:x:5001:5001::/home/{ORDINARY_USER}:/bin/sh\n",
    "group": f"{ORDINARY_USER}:x:5001:\n",
    "shadow": f"{ORDINARY_USER}:*:19000:0:99999:7:::\n",
}

# For ssh from node to node: the same key for each of the two users, in a file of their own.
BETWEEN_CONFIG = """\
Host *
  IdentityFile /etc/ssh/lab_identity_%u
  IdentitiesOnly yes
  StrictHostKeyChecking yes
  BatchMode yes
  KexAlgorithms curve25519-sha256
"""

SSHD_CONFIG = """\
Port 22
AddressFamily inet
HostKey /etc/ssh/ssh_host_ed25519_key
AuthorizedKeysFile /etc/ssh/lab_authorized_keys
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
PrintMotd no
PrintLastLog no
AcceptEnv LANG LC_*
Subsystem sftp internal-sftp
LogLevel VERBOSE
"""

# The costly part of a login is the post-quantum key exchange: 86 ms of CPU against 11 ms.
SSH_CONFIG = """\
Host *
  User root
  IdentityFile "{identity}"
  IdentitiesOnly yes
  UserKnownHostsFile "{known_hosts}"
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
  BatchMode yes
  ConnectTimeout 10
  KexAlgorithms curve25519-sha256
"""

CRITERIA_AND_SUITES = """\
criteria:
  - {metric: iperf3.throughput, at_least: 80 %, of: capacity}
  - {metric: fio.read, where: {pattern: sequential}, at_least: 10 MB/s}
  - {metric: fio.write, where: {pattern: sequential}, at_least: 10 MB/s}
suites:
  default:
    - {probe: inventory}
    - {probe: iperf3, design: neighbours, streams: 4, seconds: 3}
    - {probe: iperf3, design: trunks, streams: 8, seconds: 3}
    - {probe: fio, nodes: "@storage", scratch: /scratch, size: 32 MiB, seconds: 2}
"""


def write_files(plan: Plan, state: StateDirectory) -> None:
    """Write everything that tells others how to reach this laboratory."""
    _make_keys(plan, state)
    state.topology.write_text(topology(plan))
    state.ssh_config.write_text(_ssh_config(plan, state))
    state.known_hosts.write_text(_known_hosts(plan, state))
    etc = state.common / "etc"
    (etc / "ssh").mkdir(parents=True, exist_ok=True)
    (etc / "hosts").write_text(_hosts(plan))
    (etc / "ssh" / "sshd_config").write_text(SSHD_CONFIG)
    keys = [Path(f"{key}.pub").read_text() for key in (state.identity, state.between)]
    (etc / "ssh" / "lab_authorized_keys").write_text("".join(keys))
    _write_between(plan, state)
    if plan.spec.slurm:
        slurm.write_files(plan, etc)


def _write_between(plan: Plan, state: StateDirectory) -> None:
    """Write the files that let root and the ordinary user log in from one node to another without being asked."""
    etc = state.common / "etc"
    (etc / "ssh" / "ssh_config.d").mkdir(exist_ok=True)
    (etc / "ssh" / "ssh_config.d" / "lab.conf").write_text(BETWEEN_CONFIG)
    (etc / "ssh" / "ssh_known_hosts").write_text(_known_hosts(plan, state, data=True))
    for user in ("root", ORDINARY_USER):
        identity = etc / "ssh" / f"lab_identity_{user}"
        identity.write_bytes(state.between.read_bytes())
        identity.chmod(0o600)  # boot.sh gives it to its owner
    for name, line in _USER_TABLES.items():
        table = etc / name
        table.write_text(Path("/etc", name).read_text() + line)
        table.chmod(0o640 if name == "shadow" else 0o644)


def make_key(path: Path, comment: str) -> None:
    """A fresh ed25519 pair without a pass phrase."""
    for old in (path, Path(f"{path}.pub")):
        old.unlink(missing_ok=True)
    run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(path)])


def _make_keys(plan: Plan, state: StateDirectory) -> None:
    wanted = [(state.node(name) / "host_key", name) for name in plan.nodes]
    wanted += [(state.identity, "benchconsole-lab"), (state.between, "benchconsole-lab-between-nodes")]
    together(lambda pair: make_key(*pair), wanted, hands=4)


def _ssh_config(plan: Plan, state: StateDirectory) -> str:
    hosts = [f"Host {n.name}\n  HostName {n.management}\n" for n in plan.nodes.values()]
    common = SSH_CONFIG.format(identity=state.identity, known_hosts=state.known_hosts)
    return "".join(hosts) + common


def _known_hosts(plan: Plan, state: StateDirectory, *, data: bool = False) -> str:
    def line(node: NodePlan) -> str:
        kind, key, *_ = (state.node(node.name) / "host_key.pub").read_text().split()
        names = [node.name, node.management, *([node.data] if data else [])]
        return f"{','.join(names)} {kind} {key}\n"

    return "".join(line(node) for node in plan.nodes.values())


def _hosts(plan: Plan) -> str:
    lines = [f"{node.management} {node.name}\n" for node in plan.nodes.values()]
    return "127.0.0.1 localhost\n" + "".join(lines)


def topology(plan: Plan) -> str:
    """The fabric in the product's own format."""
    spec = plan.spec
    head = f"""\
schema: 1
fabric: lab
ssh:
  user: root
  config: ssh_config
  known_hosts: known_hosts
  identity: id_ed25519
network:
  mtu: 1500
classes:
  compute: {{nic: {{mtu: 1500}}}}   # no speed: a veth says 10 Gb/s whatever shapes it
  storage: {{nic: {{mtu: 1500}}}}
switches:
  {_numbered("spine", spec.spines)}: {{role: spine}}
  {_numbered("leaf", spec.leaves)}: {{role: leaf}}
"""
    kept = (line for line in CRITERIA_AND_SUITES.splitlines(keepends=True) if spec.storage or "@storage" not in line)
    return head + _nodes(plan) + _links(plan) + "".join(kept)


def _nodes(plan: Plan) -> str:
    def segment(node: NodePlan) -> tuple[str, str]:
        return node.switch, node.management.rpartition(".")[0]

    lines = ["nodes:\n"]
    for _, group in groupby(plan.nodes.values(), key=segment):
        members = list(group)
        lines.append(
            f"  {_fold(n.name for n in members)}: {{class: {members[0].role}, "
            f"role: {members[0].role}, "
            f'address: "{_fold(n.management for n in members)}", '
            f'data_address: "{_fold(n.data for n in members)}"}}\n'
        )
    return "".join(lines)


def _links(plan: Plan) -> str:
    lines = ["links:\n"]
    for switch, group in groupby(plan.nodes.values(), key=lambda node: node.switch):
        members = list(group)
        names = _fold(node.name for node in members)
        lines.append(f'  - {{from: "{names}", to: {switch}, speed: {members[0].mbit} Mb/s}}\n')
    spec = plan.spec
    trunks = (
        f'  - {{from: "{_numbered("leaf", spec.leaves)}", '
        f'to: "{_numbered("spine", spec.spines)}", '
        f"speed: {spec.member_mbit} Mb/s, count: {spec.members}}}\n"
    )
    lines.insert(1 + spec.leaves, trunks)
    return "".join(lines)


def _numbered(word: str, count: int) -> str:
    return _fold(f"{word}{i}" for i in range(1, count + 1))


def _fold(names: Iterable[str]) -> str:
    """n1, n2, n3 as n[1-3]; the names differ only in a last number that counts up."""
    every = list(names)
    if len(every) == 1:
        return every[0]
    word = every[0].rstrip("0123456789")
    return f"{word}[{every[0][len(word) :]}-{every[-1][len(word) :]}]"
