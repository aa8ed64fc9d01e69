"""Ceilings inside devices: what the traffic of several ports, or of one, passes together before it is on a wire.

The rate of PCI Express is what a NIC moves by reads and writes of 256 bytes: the rate of the lanes less their code, the
data link packets that keep the link alive (8 %), and the 24 bytes around each 256 (Neugebauer et al., Understanding
PCIe performance for end host networking, SIGCOMM 2018; from generation 6 on flits of 236 bytes in 256, PCI Express Base
Specification 6.0, which hold the data link packets already).
"""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

_TRANSFERS = {1: 2.5e9, 2: 5e9, 3: 8e9, 4: 16e9, 5: 32e9, 6: 64e9, 7: 128e9}
"""Transfers of one bit each second on one lane, by generation."""

PCIE_GENERATIONS = tuple(_TRANSFERS)
PCIE_LANES = (1, 2, 4, 8, 16)
_DATA_LINK = 57.88 / 62.96
"""The share of the code that data link packets leave (Neugebauer et al., section 3)."""

_CODES: Mapping[int, float] = MappingProxyType({
    **dict.fromkeys((1, 2), 8 / 10 * _DATA_LINK),
    **dict.fromkeys((3, 4, 5), 128 / 130 * _DATA_LINK),
    **dict.fromkeys((6, 7), 236 / 256),
})  # fmt: skip
_PAYLOAD = 256 / (256 + 24)


def compute_pcie_rate(generation: int, lanes: int) -> float:
    """byte/s that a NIC moves in one direction over a slot of so many lanes."""
    return _TRANSFERS[generation] * _CODES[generation] * _PAYLOAD * lanes / 8


class Ceiling(Struct, frozen=True):
    """``rate`` byte/s in each direction, counted as on the wire, for what passes ``ports`` of a device; None for all.

    ``kind`` says what it is, such as ``PCIe 4.0 x8``; empty where only its rate is known.
    """

    name: str
    rate: float
    ports: frozenset[str] | None = None
    kind: str = ""


class CeilingSide(Struct, frozen=True, order=True):
    """One direction of a ceiling: into its device, or out of it.

    The device of a layer of a storage system is ``storage NAME``, which is no name of a device.
    """

    device: str
    name: str
    inward: bool
