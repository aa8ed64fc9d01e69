"""Partitions of OpenSM: statements over several lines, default members, names of machines, and what is none."""

from pathlib import Path

import pytest

from benchconsole.topology.errors import TopologyError
from benchconsole.topology.importers import import_sources
from benchconsole.topology.infiniband.device_names import find_devices, format_partitions
from benchconsole.topology.infiniband.dump_files import PARTITIONS, read_dump, recognize
from benchconsole.topology.infiniband.partitions import Partition, read_partitions
from tests.topology.infiniband.writers import plan_fat_tree, write_blocks

PLAN = plan_fat_tree(1, 1, 3)
CONF = """\
# of the storage team
Default=0x7fff, ipoib : ALL=limited, SELF=full ;
io = 0x8080 , defmember=full :
    0x0000000000010001, 0x10101=limited,   # n01 and n02
    0x00000000000dead0 ;
"""


def test_statements_are_read_with_their_keys_and_members() -> None:
    assert recognize(CONF) == PARTITIONS
    assert list(read_partitions(CONF, "f")) == [
        Partition("Default", 0x7FFF, (("ALL", "limited"), ("SELF", "full"))),
        Partition(
            "io", 0x80, (("0000000000010001", "full"), ("0000000000010101", "limited"), ("00000000000dead0", "full"))
        ),
    ]


def test_members_are_told_by_the_names_of_their_machines(tmp_path: Path) -> None:
    subnet = read_dump(write_blocks(PLAN), "f")
    told = format_partitions(list(read_partitions(CONF, "f")), subnet, find_devices(subnet))
    assert told == ["Default (0x7fff): limited ALL; full SELF", "io (0x0080): full 00000000000dead0,n01; limited n02"]
    (tmp_path / "dump").write_text(write_blocks(PLAN))
    (tmp_path / "partitions.conf").write_text(CONF)
    remarks = import_sources("ib", [tmp_path / "dump", tmp_path / "partitions.conf"]).remarks
    assert f"partitions: {'. '.join(told)}" in remarks


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CONF + "late=0x3 : ALL=full", "f:6:1: a partition without ';' at its end, expected a whole file"),
        (CONF + "late 0x3 ;", "f:6:1: 'late 0x3', expected NAME=0x8001 : 0xGUID=full"),
        (CONF + "late=3 : everybody ;", "f:6:1: the member 'everybody', expected a port GUID, ALL"),
    ],
)
def test_what_is_no_statement_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(TopologyError) as refused:
        list(read_partitions(text, "f"))
    assert str(refused.value).startswith(said)
