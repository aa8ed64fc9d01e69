"""Speeds of ports by their type and by the names that vendors give them."""

import pytest

from benchconsole.topology.ethernet_speeds import read_mau_type, read_port_name


@pytest.mark.parametrize(
    ("name", "gigabits"),
    [
        ("GigabitEthernet1/0/17", 1), ("Ten-GigabitEthernet1/0/1", 10), ("TenGigE0/0/0/1", 10), ("Te1/1/1", 10),
        ("TwentyFiveGigE1/0/1", 25), ("Twe1/0/1", 25), ("FortyGigE1/0/1", 40), ("HundredGigE1/0/25", 100),
        ("FourHundredGigE0/0/0/1", 400), ("100GE1/0/1", 100), ("25GE1/0/2", 25), ("XGigabitEthernet0/0/1", 10),
        ("M-GigabitEthernet0/0/0", 1), ("ge-0/0/0", 1), ("xe-0/0/1", 10), ("TwoGigabitEthernet1/0/1", 2.5),
        ("Ethernet1/1", None), ("swp1", None), ("et-0/0/1", None), ("Eth1/1", None), ("tentacle", None), ("ge", None),
        ("7GE1/0/1", None), ("to 100GE core", None), ("", None),
    ],
)  # fmt: skip
def test_names_of_ports(name: str, gigabits: float | None) -> None:
    found = read_port_name(name)
    assert (None if found is None else found * 8 / 1e9) == gigabits


@pytest.mark.parametrize(
    ("text", "gigabits"), [("1000BaseTFD", 1), ("100GbaseSR4", 100), ("2p5GigT", None), ("1000Base-T", 1), ("x", None)]
)
def test_types(text: str, gigabits: float | None) -> None:
    found = read_mau_type(text)
    assert (None if found is None else found * 8 / 1e9) == gigabits
