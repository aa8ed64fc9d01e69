"""A real sshd on loopback for the tests of this room; they are those of ``tests.probes.reach.ssh``."""

from tests.probes.reach.ssh.conftest import _impatient, bench, keys, server

__all__ = ["_impatient", "bench", "keys", "server"]
