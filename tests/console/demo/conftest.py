"""The fabric of the demo, read once, and simulated nodes without SSH in front of them."""

from collections.abc import Callable

import pytest

from console.demo.faults import Scenario
from console.demo.machine import Machines
from console.demo.network import Network
from console.demo.scenarios import FABRIC, SCENARIOS
from console.demo.traffic import Pace, Traffic
from topology.model import Fabric
from topology.resolve import load, load_text

QUICK = Pace(factor=0.0, quiet=1.0)


def machines_of(fabric: Fabric, scenario: Scenario) -> Machines:
    """Simulated nodes without SSH in front of them, at a clock that stands still."""
    traffic = Traffic(Network(fabric, scenario), QUICK)
    return Machines(fabric, scenario, traffic, clock=lambda: 1_700_000_000.0)


def fabric_of(scenario: Scenario) -> Fabric:
    """The fabric that a scenario describes."""
    return load_text(scenario.describe(), f"{scenario.fabric}.yaml")


Simulate = Callable[[str], Machines]


@pytest.fixture(scope="session")
def fabric() -> Fabric:
    return load(FABRIC)


@pytest.fixture
def simulate(fabric: Fabric) -> Simulate:
    """Simulated nodes of a scenario, at a clock that stands still."""

    def build(name: str) -> Machines:
        return machines_of(fabric, SCENARIOS[name])

    return build
