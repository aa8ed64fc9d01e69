"""The fabric of the demo, read once, and simulated nodes without SSH in front of them."""

from collections.abc import Callable

import pytest

from benchconsole.console.simulator.network import SimulatedNetwork
from benchconsole.console.simulator.nodes import SimulatedNodes
from benchconsole.console.simulator.scenarios import FABRIC, SCENARIOS, FaultKind, Scenario
from benchconsole.console.simulator.traffic import TimeScale, Traffic
from benchconsole.topology.description.resolve import load, load_text
from benchconsole.topology.model.fabric import Fabric

UNREACHABLE = frozenset((FaultKind.REFUSES, FaultKind.SILENT, FaultKind.HOST_KEY_CHANGED))
"""With these a node cannot be asked at all: they show up as coverage, not as a finding."""

QUICK = TimeScale(factor=0.0, quiet=1.0)


def machines_of(fabric: Fabric, scenario: Scenario) -> SimulatedNodes:
    """Simulated nodes without SSH in front of them, at a clock that stands still."""
    traffic = Traffic(SimulatedNetwork(fabric, scenario), QUICK)
    return SimulatedNodes(fabric, scenario, traffic, clock=lambda: 1_700_000_000.0)


def fabric_of(scenario: Scenario) -> Fabric:
    """The fabric that a scenario describes."""
    return load_text(scenario.describe(), f"{scenario.fabric}.yaml")


Simulate = Callable[[str], SimulatedNodes]


@pytest.fixture(scope="session")
def fabric() -> Fabric:
    return load(FABRIC)


@pytest.fixture
def simulate(fabric: Fabric) -> Simulate:
    """Simulated nodes of a scenario, at a clock that stands still."""

    def build(name: str) -> SimulatedNodes:
        return machines_of(fabric, SCENARIOS[name])

    return build
