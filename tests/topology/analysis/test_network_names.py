"""Networks by name: tiers and losses of a fabric that has several are told apart."""

from benchconsole.topology.analysis.static_analysis import make_static_report
from benchconsole.topology.description.resolve import load_text

TWO = """\
schema: 1
fabric: two
networks: {ib: {type: infiniband}, mgmt: {role: management}}
switches: {"l[1-2]": {}, "s[1-2]": {role: spine}, m: {}}
nodes: {"n[1-32]": {}}
links:
  - {from: "n[1-16]", to: l1, speed: 100G, network: ib}
  - {from: "n[17-32]", to: l2, speed: 100G, network: ib}
  - {from: "l[1-2]", to: "s[1-2]", speed: 100G, count: 8, network: ib}
  - {from: "n[1-32]", to: m, speed: 1G, network: mgmt}
"""


def test_switches_of_two_networks_are_no_tier_together() -> None:
    report = make_static_report(load_text(TWO, "two.yaml"))
    gigabit = 1e9 / 8
    assert [(each.role.value, each.networks, each.switches, each.down / gigabit) for each in report.oversubscription.tiers] == [
        ("leaf", ("ib",), 2, 3200), ("leaf", ("mgmt",), 1, 32), ("spine", ("ib",), 2, 3200),
    ]  # fmt: skip


def test_a_loss_says_which_network_nodes_are_cut_off_from() -> None:
    report = make_static_report(load_text(TWO, "two.yaml"))
    said = [each.text for each in report.findings if each.code == "single-point-of-failure"]
    assert said == [
        "the loss of one leaf switch of 2 (l[1-2]) cuts off 16 nodes from the network ib",
        "the loss of m cuts off 32 nodes from the network mgmt",
    ]
    legs = [each for each in report.losses if each.kind == "leg"]
    assert sorted((each.networks, len(each.elements)) for each in legs) == [(("ib",), 32), (("mgmt",), 32)]


def test_one_network_has_no_name() -> None:
    report = make_static_report(load_text(TWO.replace("network: mgmt", "network: ib"), "two.yaml"))
    assert {each.networks for each in report.oversubscription.tiers} == {()}
    assert {each.networks for each in report.losses} == {()}


def test_the_network_for_management_is_no_part_of_what_halves_can_exchange() -> None:
    gigabit = 1e9 / 8
    for text, bound in ((TWO, 1600), (TWO.replace("role: management", "role: storage"), 1616)):
        halves = make_static_report(load_text(text, "two.yaml")).bisection.halves
        assert halves is not None
        assert halves.bound / gigabit == bound
