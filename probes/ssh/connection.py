"""Owns what a connection of ours leaves out of asyncssh's: dummy packets that protect nothing, and words nobody reads.

asyncssh sends an empty SSH_MSG_IGNORE before every packet, which hides the predictable start vector
of CBC ciphers (RFC 4251, 9.3.1). With the counter and AEAD ciphers that every server of the last ten years
agrees to it only doubles the packets. Its log messages are formatted before it is known that they are dropped.
Refuses to change what is sent otherwise.
"""

import logging

import asyncssh
from asyncssh.logging import SSHLogger
from asyncssh.packet import SSHPacketLogger

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


class Connection(asyncssh.SSHClientConnection):
    """A client connection that sends and formats only what somebody reads."""

    @property
    def logger(self) -> SSHLogger:
        """asyncssh's own where its messages are wanted."""
        return super().logger if _LOGGER.isEnabledFor(logging.INFO) else _SILENT

    def send_packet(self, pkttype: int, *args: bytes, handler: SSHPacketLogger | None = None) -> None:
        """Send a packet; an empty one only where the cipher chains blocks."""
        if pkttype != _IGNORE or str(self.get_extra_info("send_cipher")).endswith(_CBC):
            super().send_packet(pkttype, *args, handler=handler)
