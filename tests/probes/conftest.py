"""A real sshd on loopback for tests outside of the room of SSH; the fixtures are those of ``tests.probes.reach.ssh``."""

from tests.probes.reach.ssh.conftest import bench, keys, server

__all__ = ["bench", "keys", "server"]
