"""The laboratory: a spine/leaf fabric of network namespaces on this machine.

Every node has a real sshd, iperf3 and fio; faults are injected by tests; one command up,
one down, nothing left behind. `python -m tests.lab up` for people, `fixtures.py` for pytest.

Real in it: TCP/IP, routing, ECMP, queues and drops, sshd and its limits, kills, orphans.
Played: hardware descriptions. All nodes share this machine's processors, so nothing here
may be judged by CPU or memory speed, and 10 Gbit/s is modelled as 100 Mbit/s.
"""

from tests.lab.host import LabError, LabInUseError, obstacles, wait_for
from tests.lab.injection import Injected
from tests.lab.lab import Lab
from tests.lab.observe import Counter, Listener, Process
from tests.lab.spec import SPECS, LabSpec, StorageServer, in_slot

__all__ = [
    "SPECS",
    "Counter",
    "Injected",
    "Lab",
    "LabError",
    "LabInUseError",
    "LabSpec",
    "Listener",
    "Process",
    "StorageServer",
    "in_slot",
    "obstacles",
    "wait_for",
]
