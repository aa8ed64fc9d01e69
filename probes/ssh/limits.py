"""Owns the numbers that bound a session's use of the network and of a node."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds, bytes and counts. The defaults are what was measured to be safe for sshd's own defaults.

    ``connect`` bounds the TCP connection, ``silence`` the same where a network has shown to be fast
    (``probes.ssh.dialing``), ``login`` everything from there to a usable connection.
    ``dials`` connections are tried, ``logins`` logged in and ``starts`` commands begun at once, ``behind_jump``
    connections through one jump host. ``channels`` commands share a connection (sshd allows 10), ``lanes`` connections
    go to a node. ``retries`` follow a connection that was dropped before any login, ``refusals``
    logins in a row end all trying. While a command runs ``keepalive`` seconds of silence lead to a question
    (more where many connections are silent, ``probes.ssh.pulse``) and three of them to the verdict that the
    connection is lost; its node is then given ``comeback`` seconds to be there again and say why.
    ``output`` is what one stream of a command may say.
    """

    connect: float = 10.0
    silence: float = 3.5
    login: float = 20.0
    dials: int = 64
    logins: int = 64
    starts: int = 64
    behind_jump: int = 8
    channels: int = 8
    lanes: int = 8
    retries: int = 3
    refusals: int = 10
    keepalive: float = 4.0
    comeback: float = 8.0
    output: int = 4 * 1024 * 1024
    ending: float = 8.0
