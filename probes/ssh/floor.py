"""Owns the oldest asyncssh that may be used: older ones let a network change or steer a session.

Refuses to connect below it: CVE-2023-46445 and CVE-2023-46446 (2.14.1), CVE-2023-48795 (Terrapin, 2.14.2).
"""

import asyncssh

from probes.errors import ProbeError

OLDEST = (2, 14, 2)


def require(version: str = asyncssh.__version__) -> None:
    """ProbeError when ``version`` of asyncssh is too old, or is not a version."""
    words = version.split(".")[:3]
    numbers = tuple(int(word) for word in words if word.isdigit())
    if numbers < OLDEST or len(numbers) < len(words):
        oldest = ".".join(map(str, OLDEST))
        raise ProbeError(
            f"found asyncssh {version}, expected {oldest} or newer (older ones have CVE-2023-46445, -46446 and -48795);"
            " install a newer one beside benchconsole"
        )
