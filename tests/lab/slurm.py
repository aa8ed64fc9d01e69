"""Slurm in a laboratory: munged and slurmd on every node, slurmctld on the first, over the management network.

Owned here: its configuration, starting the daemons as a node boots, waiting until the nodes are idle.
Refused here: ending them; they live in their node's PID namespace and go with it.

Nothing of it needs systemd, a cgroup file system or a shared directory.
"""

from __future__ import annotations

import json
import os
import pwd
import secrets
import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.lab.host import PATH, attempt, together, wait_for
from tests.lab.plan import Plan

if TYPE_CHECKING:
    from tests.lab.site import Site

PACKAGES = {
    "munged": "munge",
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "srun": "slurm-client",
}

# slurmd would look for the machine's processors and memory, which all nodes share: it is told instead.
_CONFIGURATION = """\
ClusterName=lab
SlurmctldHost={controller}
AuthType=auth/munge
CryptoType=crypto/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=/var/log/slurmctld.log
SlurmdLogFile=/var/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
KillWait=5
MinJobAge=300
SrunPortRange=60001-61000
"""

# Without this file slurmd looks for a mounted cgroup tree and ends, whatever tracks its processes.
_CGROUP = "CgroupPlugin=cgroup/v1\n"

_START_MUNGE = """\
set -eu
install -d -o munge -g munge -m 755 /run/munge
install -d -o munge -g munge -m 700 /var/lib/munge /var/log/munge
chown munge:munge /etc/munge/munge.key
chmod 400 /etc/munge/munge.key
runuser -u munge -- munged --num-threads 1
mkdir -p /var/spool/slurmd /var/spool/slurmctld
"""


def missing() -> list[str]:
    """Programs of Slurm that are not here, each with its Debian package."""
    return [
        f"{tool} is missing (Debian package {package})"
        for tool, package in PACKAGES.items()
        if shutil.which(tool, path=PATH) is None
    ]


def configuration(plan: Plan) -> str:
    """The text of slurm.conf: every compute node in one partition."""
    nodes = [node for node in plan.nodes.values() if node.role == "compute"]
    lines = [
        f"NodeName={node.name} NodeAddr={node.management} CPUs=2 RealMemory=1000 State=UNKNOWN\n" for node in nodes
    ]
    names = ",".join(node.name for node in nodes)
    partition = f"PartitionName=lab Nodes={names} Default=YES MaxTime=INFINITE State=UP\n"
    return _CONFIGURATION.format(controller=nodes[0].name) + "".join(lines) + partition


def write_files(plan: Plan, etc: Path) -> None:
    """Write what every node finds in its /etc."""
    (etc / "slurm").mkdir(exist_ok=True)
    (etc / "slurm" / "slurm.conf").write_text(configuration(plan))
    (etc / "slurm" / "cgroup.conf").write_text(_CGROUP)
    (etc / "munge").mkdir(exist_ok=True)
    munge = pwd.getpwnam("munge")
    os.chown(etc / "munge", munge.pw_uid, munge.pw_gid)
    (etc / "munge").chmod(0o700)
    key = etc / "munge" / "munge.key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o400)


def start(site: Site, names: list[str]) -> None:
    """Start the daemons of nodes that have just booted; returns when these nodes take jobs."""
    members = [name for name in names if site.plan.node(name).role == "compute"]
    controller = next(iter(site.plan.nodes))
    together(lambda name: site.inside(name, "sh", "-c", _START_MUNGE), members)
    if controller in members:
        site.inside(controller, "slurmctld", "-c")
    together(lambda name: site.inside(name, "slurmd"), members)
    if site.running(controller):
        wait_for(partial(_all_idle, site, controller, members), 60, f"Slurm to have {', '.join(members)} idle")


def _all_idle(site: Site, controller: str, members: list[str]) -> bool:
    states = node_states(site, controller)
    return all(states.get(name) == "idle" for name in members)


def node_states(site: Site, controller: str) -> dict[str, str]:
    """Each node's state in Slurm's own long word; empty while its controller does not answer."""
    done = attempt(site.enter(controller, "sinfo", "--json"))
    if done.returncode != 0:
        return {}
    return {node["name"]: "+".join([node["state"], *node["state_flags"]]) for node in json.loads(done.stdout)["nodes"]}
