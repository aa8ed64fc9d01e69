"""Dumps of subnets, each written anew from one plan: what is read is the plan, and a part of one never passes for it."""

import re
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.errors import TopologyError
from benchconsole.topology.infiniband.device_names import find_devices
from benchconsole.topology.infiniband.dump_files import read_dump, read_files, recognize
from benchconsole.topology.infiniband.subnet import Subnet
from tests.topology.infiniband.writers import WRITERS, Plan, Planned, plan_fat_tree, write_blocks, write_tables

EVERY = pytest.mark.parametrize("name", WRITERS)
SMALL = plan_fat_tree(2, 2, 2, trunk=2, adapters=2)


def cables(subnet: Subnet) -> Counter[tuple[frozenset[tuple[str, str]], str]]:
    """Each cable by the machines and ports at its ends, and its rate."""
    devices = find_devices(subnet)
    return Counter(
        (frozenset((devices.of[end.guid].name, devices.port(end)) for end in (cable.a, cable.b)), str(cable.rate))
        for cable in subnet.cables
    )


def planned(plan: Plan) -> Counter[tuple[frozenset[tuple[str, str]], str]]:
    """The same, from the plan."""

    def end(guid: int, port: int) -> tuple[str, str]:
        node = plan.node(guid)
        if node.kind == "S":
            return node.name.removeprefix("MF0;").partition(":")[0], str(port)
        host, _, adapter = node.name.partition(" ")
        return host, f"{adapter}/{port}"

    return Counter((frozenset((end(*a), end(*b))), f"{width}x{speed}") for a, b, width, speed in plan.cables)


def told(text: str) -> list[str]:
    """Every problem of a text that is refused."""
    with pytest.raises(TopologyError) as caught:
        read_dump(text, "f")
    return [str(problem) for problem in caught.value.problems]


@EVERY
def test_the_cables_of_the_plan_are_read_from_each_output(name: str) -> None:
    text = WRITERS[name](SMALL)
    assert recognize(text) == name.removesuffix(" -f").removesuffix(" -l")
    assert cables(read_dump(text, "f")) == planned(SMALL)


@settings(max_examples=30)
@given(
    name=st.sampled_from(sorted(WRITERS)),
    leaves=st.integers(1, 4),
    spines=st.integers(1, 3),
    hosts=st.integers(1, 3),
    trunk=st.integers(1, 3),
    adapters=st.integers(1, 2),
    width=st.sampled_from([1, 2, 4, 8, 12]),
    speed=st.sampled_from(["SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR"]),
)
def test_any_fat_tree_of_any_rate_is_read_as_it_is(
    name: str, leaves: int, spines: int, hosts: int, trunk: int, adapters: int, width: int, speed: str
) -> None:
    plan = plan_fat_tree(leaves, spines, hosts, trunk, adapters, (width, speed))
    assert cables(read_dump(WRITERS[name](plan), "f")) == planned(plan)


@EVERY
def test_a_dump_cut_behind_any_line_is_refused_or_told_as_partial(name: str) -> None:
    lines = WRITERS[name](SMALL).splitlines(keepends=True)
    whole = planned(SMALL)
    refused = 0
    for count in range(len(lines)):
        try:
            subnet = read_dump("".join(lines[:count]), "f")
        except TopologyError:
            refused += 1
        else:
            assert subnet.partial or cables(subnet) == whole, "".join(lines[:count])
    assert refused > 0.4 * len(lines)


@settings(max_examples=60)
@given(
    name=st.sampled_from(sorted(WRITERS)),
    leaves=st.integers(1, 3),
    hosts=st.integers(1, 3),
    order=st.randoms(use_true_random=False),
    part=st.floats(0, 1),
)
def test_a_part_of_any_fat_tree_in_any_order_never_passes_for_the_whole(
    name: str, leaves: int, hosts: int, order: Random, part: float
) -> None:
    plan = plan_fat_tree(leaves, 1, hosts)
    order.shuffle(plan.nodes)
    lines = WRITERS[name](plan).splitlines(keepends=True)
    try:
        subnet = read_dump("".join(lines[: int(part * len(lines))]), "f")
    except TopologyError:
        return
    assert subnet.partial or cables(subnet) == planned(plan)


@pytest.mark.parametrize("name", ["iblinkinfo", "iblinkinfo -l", "subnet.lst", "ibnetdiscover -p", "ibnetdiscover"])
def test_a_list_that_ends_in_the_ports_of_a_switch_may_be_cut_there(name: str) -> None:
    plan = Plan([Planned("H", 0x10, "n1", 1), Planned("S", 0xA0, "MF0;sw:M/U1", 8), Planned("H", 0x20, "n2", 1)])
    plan.cables = [((0x10, 1), (0xA0, 3), 4, "EDR"), ((0x20, 1), (0xA0, 5), 4, "EDR")]
    lines = WRITERS[name](plan).splitlines(keepends=True)
    ends = [number for number, line in enumerate(lines, 1) if "n1" in line]
    try:
        subnet = read_dump("".join(lines[: ends[1] if name != "ibnetdiscover" else ends[0]]), "f")
    except TopologyError:
        assert name == "ibnetdiscover -p"
        return
    assert len(subnet.cables) == 1
    assert subnet.partial


@EVERY
def test_a_dump_without_any_one_line_is_refused_or_says_the_same(name: str) -> None:
    lines = WRITERS[name](SMALL).splitlines(keepends=True)
    whole = {ends for ends, _ in planned(SMALL)}
    for index in range(len(lines)):
        try:
            subnet = read_dump("".join(lines[:index] + lines[index + 1 :]), "f")
        except TopologyError:
            continue
        found = {tuple(sorted(port for _, port in ends)) for ends, _ in cables(subnet)}
        assert subnet.partial or name == "ibdiagnet2.db_csv" or len(cables(subnet)) == len(whole), found


@EVERY
def test_any_end_of_the_text_is_refused_or_told_or_says_the_same(name: str) -> None:
    text = WRITERS[name](plan_fat_tree(1, 1, 1))
    whole = {ends for ends, _ in planned(plan_fat_tree(1, 1, 1))}
    for end in range(len(text)):
        try:
            subnet = read_dump(text[:end], "f")
        except TopologyError:
            continue
        assert subnet.partial or {ends for ends, _ in cables(subnet)} == whole, text[:end][-80:]


@pytest.mark.parametrize("name", [name for name in WRITERS if name != "ibdiagnet2.net_dump"])
def test_two_subnets_in_one_file_are_refused(name: str) -> None:
    other = Plan(
        [Planned(node.kind, node.guid + 0x500000, f"x{node.name}", node.ports) for node in SMALL.nodes],
        [((a[0] + 0x500000, a[1]), (b[0] + 0x500000, b[1]), width, speed) for a, b, width, speed in SMALL.cables],
    )
    found = told(WRITERS[name](SMALL) + WRITERS[name](other))
    assert any(re.search("second dump|parts that no cable joins|a second time", line) for line in found)


def test_the_sentence_for_a_cut_dump_names_place_and_remedy() -> None:
    lines = write_blocks(SMALL).splitlines(keepends=True)
    (line,) = told("".join(lines[:-3]))
    assert line.startswith(f"f:{len(lines) - 3}:")
    assert "no line of the other end for 1 of 31 ports, such as 4 of 00000000000a0001 ('MF0;leaf2:MQM8700/U1')" in line
    assert "this one may be cut: save it again" in line


def test_two_parts_are_told_with_the_line_where_the_second_begins() -> None:
    one, two = plan_fat_tree(1, 1, 1), plan_fat_tree(1, 1, 1)
    moved = write_blocks(two).partition("\nvendid")[2]
    for old, new in (("a0000", "a9000"), ("e0000", "e9000"), ("10000", "19000"), ("10001", "19001")):
        moved = moved.replace(old, new)
    text = write_blocks(one)
    (line,) = told(f"{text}\nvendid{moved}")
    assert line.startswith(f"f:{len(text.splitlines()) + 6}:1: 2 parts that no cable joins: 3 nodes from here on")


@pytest.mark.parametrize("rate", ["4xEDS", "3xEDR", "4xZDR", "x4EDR", "44xEDR"])
def test_a_rate_that_the_standard_does_not_have_is_refused_with_its_place(rate: str) -> None:
    text = write_blocks(SMALL).replace("4xEDR", rate, 1)
    line = next(number for number, line in enumerate(text.splitlines(), 1) if rate in line)
    assert told(text)[0].startswith(f"f:{line}:1: the rate '{rate}', expected a width of 1x, 2x")


def test_a_rate_that_the_tool_did_not_know_is_left_open() -> None:
    subnet = read_dump(write_blocks(SMALL).replace("4xEDR", "4x???"), "f")
    assert {cable.rate for cable in subnet.cables} == {None}
    assert any(remark.startswith("rates that the tool did not know are left open: 4x???") for remark in subnet.remarks)


def test_ends_that_tell_different_rates_are_taken_for_the_slower() -> None:
    subnet = read_dump(write_blocks(SMALL).replace("4xEDR", "1xEDR", 1), "f")
    assert sorted(str(cable.rate) for cable in subnet.cables)[:2] == ["1xEDR", "4xEDR"]
    assert any(remark.startswith("ends that tell different rates") for remark in subnet.remarks)


def test_a_guid_that_two_nodes_have_is_refused() -> None:
    text = write_blocks(SMALL)
    doubled = text.replace('"H-0000000000010110"\t\t#', '"H-0000000000010100"\t\t#')
    assert any("the GUID 0000000000010100 a second time (first in line" in line for line in told(doubled))


def test_grouped_output_tells_the_chips_of_a_chassis_twice_and_ports_by_their_place() -> None:
    text = write_blocks(SMALL)
    head, _, rest = text.partition("\nvendid")
    spine = rest.split("\nvendid")[0]
    grouped = f"{head}\nChassis 1 (guid 0xe0000)\n\n# Spine Nodes\nvendid{spine}\n# Line Nodes\n\nvendid{rest}"
    assert cables(read_dump(grouped.replace("[1]\t", "[1][ext 9]\t"), "f")) == planned(SMALL)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "an empty file"),
        ("\n \n", "an empty file"),
        ("hello\n", "a file that begins with 'hello'"),
        ("\x00\x01\x02", "a file that begins with '\\x00\\x01\\x02'"),
        (f'Switch 36 "S-0002c903000fe480"\t# "{"x" * 5000}" base\n', "a line of 5,0"),
    ],
)
def test_what_is_no_dump_is_refused_in_one_sentence(text: str, found: str) -> None:
    (line, *_) = told(text)
    assert line.startswith("f:1:1: ")
    assert found in line
    assert "expected " in line


def test_binary_files_are_refused_with_the_place_of_the_byte(tmp_path: Path) -> None:
    (tmp_path / "core").write_bytes(b"Switch\n\x7fELF\xff\xfe")
    with pytest.raises(TopologyError, match=r"core:2:5: the byte 0xff, expected text in UTF-8"):
        read_files([tmp_path / "core"])


@settings(max_examples=150)
@given(data=st.data(), name=st.sampled_from(sorted(WRITERS)))
def test_whatever_is_changed_the_answer_is_a_subnet_or_an_error_with_places(data: st.DataObject, name: str) -> None:
    text = WRITERS[name](plan_fat_tree(1, 1, 2))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 12)))
        nasty = st.sampled_from(['"', "[", "]", "\n", "{", "}", "\x1b[31m", "'", "#", "0x", "==>", "lid", ",", " : "])
        text = text[:start] + data.draw(st.text(max_size=6) | nasty) + text[end:]
    try:
        find_devices(read_dump(text, "f"))
    except TopologyError as refused:
        _is_told(refused)


def _is_told(refused: TopologyError) -> None:
    assert all(problem.found and problem.expected for problem in refused.problems)


def test_a_file_of_the_simulator_is_read_without_rates() -> None:
    text = 'Switch 8 "sw"\n[1] "n1"[1]\n[2] "n2"[1] w=1\n\nHca 2 "n1"\n[1] "sw"[1]\n\nHca 2 "n2"\n[1] "sw"[2]\n'
    subnet = read_dump(text, "f")
    assert {ends for ends, _ in cables(subnet)} == {
        frozenset({("sw", "1"), ("n1", "1")}),
        frozenset({("sw", "2"), ("n2", "1")}),
    }


def test_firmware_and_virtual_lanes_are_read_where_they_are_told(tmp_path: Path) -> None:
    (tmp_path / "ibdiagnet2.ibnetdiscover").write_text(write_blocks(SMALL))
    (tmp_path / "ibdiagnet2.db_csv").write_text(write_tables(SMALL, {0xA0000: "27.2010.5042"}, links=False))
    (tmp_path / "ibdiagnet2.log").write_text("not read")
    found = read_files([tmp_path])
    assert found.dump == "ibnetdiscover"
    assert found.subnet.nodes["00000000000a0000"].firmware == "27.2010.5042"
    assert found.subnet.lanes == {8: 2 * len(SMALL.cables)}
    assert (
        read_dump(
            write_blocks(
                SMALL,
            ),
            "f",
        ).lanes
        == {}
    )


def test_a_table_without_links_or_cut_within_a_section_says_so() -> None:
    assert "no section LINKS, expected a .db_csv with links" in told(write_tables(SMALL, links=False))[0]
    cut = write_tables(SMALL).partition("END_LINKS")[0]
    assert "no END_LINKS, expected the end of the section of line" in told(cut)[0]


def test_two_dumps_are_refused_and_a_map_and_counters_are_none(tmp_path: Path) -> None:
    one, two, names = tmp_path / "one", tmp_path / "two", tmp_path / "names"
    one.write_text(write_blocks(SMALL))
    two.write_text(write_blocks(SMALL))
    names.write_text('# map\n0x00000000000a0000 "edge 7 (rack 3)"\n')
    with pytest.raises(TopologyError, match="a second dump"):
        read_files([one, two])
    assert "edge-7-rack-3" in find_devices(read_files([one, names]).subnet).by_name
    with pytest.raises(TopologyError, match="no dump of the subnet"):
        read_files([names])
    names.write_text('0x00000000000a0000 "edge 7"\n' * 30 + "0xzz edge\n")
    with pytest.raises(TopologyError, match=r"names:31:1: '0xzz edge', expected 0xGUID"):
        read_files([one, names])
