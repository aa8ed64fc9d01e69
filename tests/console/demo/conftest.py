"""The fabric of the demo, read once, and simulated nodes without SSH in front of them."""

from collections.abc import Callable

import pytest

from console.demo.machine import Machines
from console.demo.network import Network
from console.demo.scenarios import FABRIC, SCENARIOS
from console.demo.traffic import Pace, Traffic
from topology.model import Fabric
from topology.resolve import load

QUICK = Pace(factor=0.0, quiet=1.0)
Simulate = Callable[[str], Machines]


@pytest.fixture(scope="session")
def fabric() -> Fabric:
    return load(FABRIC)


@pytest.fixture
def simulate(fabric: Fabric) -> Simulate:
    """Simulated nodes of a scenario, at a clock that stands still."""

    def build(name: str) -> Machines:
        scenario = SCENARIOS[name]
        return Machines(fabric, scenario, Traffic(Network(fabric, scenario), QUICK), clock=lambda: 1_700_000_000.0)

    return build
