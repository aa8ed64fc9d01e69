"""How nodes are reached over SSH. asyncssh is imported here and nowhere else in the package."""

from benchconsole.probes.reach.ssh.limits import SshLimits
from benchconsole.probes.reach.ssh.openssh_compare import IgnoredSetting, OpensshError, find_ignored_settings
from benchconsole.probes.reach.ssh.ssh_config import ConfigError, Destination
from benchconsole.probes.reach.ssh.ssh_reach import SshReach

__all__ = [
    "ConfigError", "Destination", "IgnoredSetting", "OpensshError", "SshLimits", "SshReach", "find_ignored_settings",
]  # fmt: skip
