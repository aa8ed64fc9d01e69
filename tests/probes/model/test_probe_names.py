"""The probes that the program itself asks for are installed under these names."""

from benchconsole.probes.model.probe_names import AVAILABILITY, INVENTORY
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.probes.tools.availability.probe import Availability
from benchconsole.probes.tools.inventory.probe import Inventory


def test_the_names_are_those_of_our_own_probes() -> None:
    probes = load_probes().probes
    assert isinstance(probes[INVENTORY], Inventory)
    assert isinstance(probes[AVAILABILITY], Availability)
