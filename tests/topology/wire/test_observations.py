from pathlib import Path

import pytest

from benchconsole.topology.wire.observations import SysNames, is_same_port
from tests.fabrics import SMALL, fabric


@pytest.mark.parametrize(
    ("described", "told", "same"),
    [
        ("Eth1/3", ("Ethernet1/3",), True),
        ("Te1/0/1", ("TenGigabitEthernet1/0/1",), True),
        ("swp7", ("swp7", "to n3"), True),
        ("1/1/9", ("ethernet1/1/9",), True),
        ("xe-0/0/1", ("517", "xe-0/0/1.0"), True),
        ("Eth1", ("Eth10",), False),
        ("Eth1/3", ("Ethernet1/33",), False),
        ("swp1", ("swp1s0",), None),
        ("Eth5", ("517",), None),
        ("Te1/1", ("GigabitEthernet1/1",), None),
        ("Eth5", ("0c:42:a1:00:00:01",), None),
        ("Eth5", ("to rack 3, n05",), None),
        ("Eth5", (), None),
        # A text that people write on a port does not outweigh its name.
        ("Eth1", ("Ethernet5", "Eth1"), False),
        ("Eth1", ("Ethernet1", "Eth5"), True),
    ],
)
def test_ports_are_one_another_or_cannot_be_compared(described: str, told: tuple[str, ...], same: bool | None) -> None:
    assert is_same_port(described, told) is same


@pytest.mark.parametrize(
    ("told", "device"),
    [
        ("leaf1", "leaf1"),
        ("Spine2.lab", "spine2"),
        ("n3.cluster.example.org", "n3"),
        ("leaf", None),
        ("", None),
        ("..", None),
    ],
)
def test_names_on_the_wire(tmp_path: Path, told: str, device: str | None) -> None:
    assert SysNames(fabric(tmp_path, SMALL)).device(told) == device


def test_a_short_name_that_two_devices_share_names_neither(tmp_path: Path) -> None:
    two = (
        SMALL.replace("st[1-2]", "st.west,st.east")
        .replace("from: st1", "from: st.west")
        .replace("from: st2", "from: st.east")
    )
    names = SysNames(fabric(tmp_path, two))
    assert names.device("st") is None
    assert names.device("ST.East.example.org") == "st.east"
