"""How nodes are reached over SSH. asyncssh is imported here and nowhere else in the package."""

from probes.ssh.config import ConfigError, Place
from probes.ssh.limits import Limits
from probes.ssh.oracle import OracleError, Unhonoured, unhonoured
from probes.ssh.reach import SshReach

__all__ = ["ConfigError", "Limits", "OracleError", "Place", "SshReach", "Unhonoured", "unhonoured"]
