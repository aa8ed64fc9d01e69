"""A real sshd on loopback for the tests of this room; they are those of ``tests.probes.ssh``."""

from tests.probes.ssh.conftest import _impatient, bench, keys, server

__all__ = ["_impatient", "bench", "keys", "server"]
