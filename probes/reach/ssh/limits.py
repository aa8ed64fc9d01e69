"""The numbers that bound a session's use of the network and of a node."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SshLimits:
    """Seconds, bytes and counts. The defaults were measured to be safe for sshd's own defaults.

    ``connect`` bounds the TCP connection, ``silence`` the same where a network has shown to be fast
    (``probes.reach.ssh.tcp_connect``), ``login`` everything from there to a usable connection.
    ``dials`` TCP connections are tried, ``logins`` logged in and ``starts`` commands begun at once, ``behind_jump``
    connections through one jump host. ``channels`` commands share a connection (sshd allows 10), ``connections``
    go to a node. ``retries`` follow a connection that was dropped before any login, ``refusals``
    logins in a row end all trying. While a command runs a keepalive is sent after ``keepalive`` seconds of silence
    (more where many connections are silent), and three without an answer mean that the
    connection is lost; its node then has ``comeback`` seconds to be there again and say why.
    ``output`` bounds one output stream of a command, ``ending`` the time in which a command must have been ended.
    """

    connect: float = 10.0
    silence: float = 3.5
    login: float = 20.0
    dials: int = 64
    logins: int = 64
    starts: int = 64
    behind_jump: int = 8
    channels: int = 8
    connections: int = 8
    retries: int = 3
    refusals: int = 10
    keepalive: float = 4.0
    comeback: float = 8.0
    output: int = 4 * 1024 * 1024
    ending: float = 8.0
