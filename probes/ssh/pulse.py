"""Owns how often a connection is asked whether its node still lives.

A silent connection costs a packet and its answer each time. While a command runs the question comes every few
seconds, a session's questions together no more than some hundred times a second; between
commands it only keeps firewalls from forgetting the connection. Refuses to judge the answer: asyncssh does.
"""

import asyncssh

IDLE = 60.0
_PER_SECOND = 250


class Pulse:
    """Of all connections of a session. ``interval`` is seconds between questions while a command runs."""

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._busy = 0

    def quicken(self, connection: asyncssh.SSHClientConnection) -> None:
        """The first command of a connection begins."""
        self._busy += 1
        connection.set_keepalive(max(self._interval, self._busy / _PER_SECOND))

    def calm(self, connection: asyncssh.SSHClientConnection, *, is_alive: bool) -> None:
        """The last command of a connection has ended."""
        self._busy -= 1
        if is_alive:
            connection.set_keepalive(IDLE)

    def of_jump_host(self, connection: asyncssh.SSHClientConnection) -> None:
        """A jump host is asked more often than those behind it, so that its loss is noticed first, as the cause."""
        connection.set_keepalive(self._interval / 2)
