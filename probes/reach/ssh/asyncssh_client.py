"""How asyncssh is used: the oldest version that may be, and a client connection that sends and formats less.

asyncssh sends an empty SSH_MSG_IGNORE before every packet, which hides the predictable start vector
of CBC ciphers (RFC 4251, 9.3.1). With the counter and AEAD ciphers that every server of the last ten years
offers it only doubles the packets. Its log messages are formatted before it is known that they are dropped.
"""

import logging

import asyncssh
from asyncssh.logging import SSHLogger
from asyncssh.packet import SSHPacketLogger

from benchconsole.probes.model.errors import ProbeError

OLDEST = (2, 14, 2)


def require_safe_version(version: str = asyncssh.__version__) -> None:
    """ProbeError when ``version`` of asyncssh is too old, or is not a version."""
    words = version.split(".")[:3]
    numbers = tuple(int(word) for word in words if word.isdigit())
    if numbers < OLDEST or len(numbers) < len(words):
        oldest = ".".join(map(str, OLDEST))
        raise ProbeError(
            f"found asyncssh {version}, expected {oldest} or newer (older ones have CVE-2023-46445, -46446 and -48795);"
            " install a newer one beside benchconsole"
        )


_IGNORE = 2  # RFC 4253, 12
_CBC = "-cbc"


class _Silent(SSHLogger):
    """Says nothing, for as long as nobody listens."""

    def log(self, level: int, msg: object, *args: object, **kwargs: object) -> None:
        """Drop it."""

    def info(self, msg: object, *args: object, **kwargs: object) -> None:
        """Drop it."""

    def packet(self, pktid: int | None, packet: bytes, msg: str, *args: object, **kwargs: object) -> None:
        """Drop it."""

    def get_child(self, child: str = "", context: str = "") -> SSHLogger:
        """Children are silent too."""
        return self


_LOGGER = logging.getLogger("asyncssh")
_SILENT = _Silent(_LOGGER)


class QuietConnection(asyncssh.SSHClientConnection):
    """A client connection that sends and formats only what somebody reads."""

    @property
    def logger(self) -> SSHLogger:
        """asyncssh's own where its messages are wanted."""
        return super().logger if _LOGGER.isEnabledFor(logging.INFO) else _SILENT

    def send_packet(self, pkttype: int, *args: bytes, handler: SSHPacketLogger | None = None) -> None:
        """Send a packet; an empty one only where the cipher chains blocks."""
        if pkttype != _IGNORE or str(self.get_extra_info("send_cipher")).endswith(_CBC):
            super().send_packet(pkttype, *args, handler=handler)
