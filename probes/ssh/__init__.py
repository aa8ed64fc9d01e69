"""How nodes are reached over SSH. asyncssh is imported here and nowhere else in the package."""

from probes.ssh.limits import Limits
from probes.ssh.reach import SshReach

__all__ = ["Limits", "SshReach"]
