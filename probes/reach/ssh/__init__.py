"""How nodes are reached over SSH. asyncssh is imported here and nowhere else in the package."""

from benchconsole.probes.reach.ssh.limits import SshLimits
from benchconsole.probes.reach.ssh.ssh_reach import SshReach

__all__ = ["SshLimits", "SshReach"]
