"""Public: what a plugin's author needs to test a probe without a cluster. Stable as ``probes.api`` is.

``PROBE_CHECKS`` is the contract of a probe as named functions, ``captured`` makes a transcript
from a file, and the fakes play nodes. ``probes.testing.server`` (an SSH server on loopback) is
imported by those who want it, because it costs an SSH library.
"""

from benchconsole.probes.testing.checks import PROBE_CHECKS, Check, captured
from benchconsole.probes.testing.fake import HANGS, Answer, Call, FakeContact, FakeReach, FakeRemote, a_node

__all__ = [
    "HANGS", "PROBE_CHECKS", "Answer", "Call", "Check", "FakeContact", "FakeReach", "FakeRemote", "a_node", "captured",
]  # fmt: skip
