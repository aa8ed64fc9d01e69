"""Ceilings that pass less than the cables below them are told, once for devices that are alike."""

import pytest

from benchconsole.topology.analysis.device_ceilings import list_findings
from benchconsole.topology.description.resolve import load_text

TEXT = """
schema: 1
fabric: narrow
switches:
  "leaf[1-2]": {{role: leaf, ceilings: {{{switch}}}}}
  sp: {{role: spine}}
nodes: {{"n[1-8]": {{ceilings: {{{node}}}}}}}
links:
  - {{from: "n[1-4]:p1", to: "leaf1:1/[1-4]", speed: 100 Gb/s}}
  - {{from: "n[5-8]:p1", to: "leaf2:1/[1-4]", speed: 100 Gb/s}}
  - {{from: leaf1, to: sp, speed: 100 Gb/s, count: 4}}
  - {{from: leaf2, to: sp, speed: 100 Gb/s, count: 4}}
"""


def find(switch: str = "", node: str = "") -> list[tuple[str, str, str]]:
    text = TEXT.format(switch=switch, node=node)
    if "ports" in switch:
        text = text.replace("from: leaf1", 'from: "leaf1:2/[1-4]"').replace("from: leaf2", 'from: "leaf2:2/[1-4]"')
    return [(each.severity.value, each.where, each.text) for each in list_findings(load_text(text, "narrow.yaml"))]


@pytest.mark.parametrize(("rate", "found"), [("800 Gb/s", 0), ("799 Gb/s", 1), ("400 Gb/s", 1)])
def test_a_backplane_is_held_against_all_cables_of_its_switch(rate: str, found: int) -> None:
    assert len(find(f"backplane: {{rate: {rate}}}")) == found


def test_the_sentence_says_how_much_less_and_which_numbers_do_not_count_it() -> None:
    ((severity, where, text),) = find("backplane: {rate: 400 Gb/s}")
    assert (severity, where) == ("warning", "leaf[1-2]")
    assert text.startswith(
        "leaf[1-2]: backplane passes 400 Gb/s in each direction, less than its 8 cables of 800 Gb/s in all (2.00:1);"
    )


def test_a_line_card_is_held_against_its_own_ports() -> None:
    assert find('card: {ports: "2/[1-4]", rate: 400 Gb/s}') == []
    ((_, _, text),) = find('card: {ports: "2/[1-4]", rate: 200 Gb/s}')
    assert "4 cables of 400 Gb/s" in text


def test_a_slot_below_its_port_is_a_note() -> None:
    ((severity, where, text),) = find(node="slot: {pcie: {generation: 3, lanes: 8}}")
    assert (severity, where) == ("note", "n[1-8]")
    assert "slot (PCIe 3.0 x8) passes 53.0 Gb/s" in text
    assert find(node="slot: {pcie: {generation: 3, lanes: 16}}") == []
