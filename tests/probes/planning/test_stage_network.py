"""The network that a stage uses: chosen by role or by option, and addresses, flows and the summary that follow."""

from pathlib import Path
from types import MappingProxyType

import pytest

from benchconsole.probes.api import Probe
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import Round, Test
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.plan_summary import summarise
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.probes.tools.stream.probe import Stream
from benchconsole.store.codec.rows import make_round_row, make_test_row, parse_test
from benchconsole.topology import load
from benchconsole.topology.model.fabric import Fabric, Stage, Suite
from benchconsole.topology.routing.routes import Routes

TEXT = """\
schema: 1
fabric: dual
networks: {ib: {type: InfiniBand, mtu: 4096}, mgmt: {}}
switches: {ibl1: {role: leaf}, ibl2: {role: leaf}, ibs: {role: spine}, msw: {role: leaf}}
nodes:
  n[1-8]: {address: "10.0.0.[1-8]", addresses: {ib: "10.2.0.[1-8]"}}
  adm: {role: management, address: 10.0.0.99}
links:
  - {from: "n[1-4]", to: ibl1, speed: 200G, network: ib}
  - {from: "n[5-8]", to: ibl2, speed: 200G, network: ib}
  - {from: "ibl[1-2]", to: ibs, speed: 200G, count: 4, network: ib}
  - {from: "n[1-8],adm", to: msw, speed: 1G, network: mgmt}
"""
PROBES: dict[str, Probe] = {"iperf3": Iperf3(), "stream": Stream()}


def fabric(folder: Path, text: str = TEXT) -> Fabric:
    path = folder / "dual.yaml"
    path.write_text(text)
    return load(path)


def planned(described: Fabric, probe: str = "iperf3", **options: str) -> tuple[Round, ...]:
    stage = Stage(probe, tuple(described.nodes), MappingProxyType(options))
    return plan(described, Suite("s", (stage,)), PROBES)


def list_tests(rounds: tuple[Round, ...]) -> list[Test]:
    return [test for each in rounds for test in each.tests]


@pytest.mark.parametrize("design", ["neighbours", "trunks", "permutation", "all-pairs"])
def test_tests_use_the_network_for_data(tmp_path: Path, design: str) -> None:
    described = fabric(tmp_path)
    found = list_tests(planned(described, design=design))
    assert found
    assert {test.sending.network for test in found} == {"ib"}
    routes = Routes(described)
    for test in found:
        assert {node.data_address.rpartition(".")[0] for node in test.target.nodes} == {"10.2.0"}
        for flow in test.flows:
            links = {described.links[way.link].network for way in routes.shares_of(flow)}
            assert links == {"ib"}


def test_commands_bind_to_the_addresses_there(tmp_path: Path) -> None:
    described, probe = fabric(tmp_path), Iperf3()
    for network, prefix in (("", "10.2.0."), ("mgmt", "10.0.0.")):
        for test in list_tests(planned(described, **({"network": network} if network else {}))):
            client, server = probe.client(test.target, 5201), probe.server(test.target, 5201)
            ends = (client[client.index("-c") + 1], client[client.index("-B") + 1], server[server.index("-B") + 1])
            assert all(each.startswith(prefix) for each in ends), ends
            assert ends[0] == ends[2] != ends[1]


def test_an_option_names_another(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    rounds = planned(described, network="mgmt", design="neighbours")
    found = list_tests(rounds)
    assert {test.sending.network for test in found} == {"mgmt"}
    assert "adm" in {node.id for test in found for node in test.target.nodes}
    assert all(each.because.endswith("; over the network mgmt") for each in rounds)
    summary = summarise(described, rounds, PROBES)
    assert summary.total.link is not None
    assert summary.total.link.share == pytest.approx(1)
    whys = {each.why for each in summary.links}
    assert "of the network ib, which no test uses" in whys


def test_the_summary_tells_who_is_not_in_the_network(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    summary = summarise(described, planned(described), PROBES)
    left = {each.what: each.why for each in summary.nodes}
    assert left == {("adm",): "not in the network ib, which the tests use"}
    links = {each.why: len(each.what) for each in summary.links}
    assert links["of the network mgmt, which no test uses"] == 9


def test_a_node_that_one_stage_leaves_out_is_told_though_another_tests_it(tmp_path: Path) -> None:
    forgotten = TEXT.replace('from: "n[5-8]", to: ibl2', 'from: "n[5-6,8]", to: ibl2').replace(
        '  n[1-8]: {address: "10.0.0.[1-8]", addresses: {ib: "10.2.0.[1-8]"}}',
        '  n[1-6,8]: {address: "10.0.0.[1-6,8]", addresses: {ib: "10.2.0.[1-6,8]"}}\n  n7: {address: 10.0.0.7}',
    )
    described = fabric(tmp_path, forgotten)
    nodes = tuple(described.nodes)
    stages = tuple(Stage("iperf3", nodes, MappingProxyType({"network": name})) for name in ("mgmt", "ib"))
    summary = summarise(described, plan(described, Suite("s", stages), PROBES), PROBES)
    assert [(each.what, each.why) for each in summary.nodes] == [
        (("n7", "adm"), "not in the network ib, which tests of iperf3 use")
    ]


def test_a_test_keeps_its_network_and_addresses_in_the_store(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    for of, test in ((each, test) for each in planned(described) for test in each.tests):
        row = make_test_row(of, test)
        again = parse_test(row, make_round_row(of), described)
        assert again == test


def test_without_an_address_there_nothing_is_planned(tmp_path: Path) -> None:
    bare = TEXT.replace(', addresses: {ib: "10.2.0.[1-8]"}', "")
    with pytest.raises(PlanError) as error:
        planned(fabric(tmp_path, bare))
    assert str(error.value) == (
        "iperf3 over the network ib: found no address of n[1-8] there, expected data_address, or addresses: {ib: ...}, "
        "for address is where SSH goes"
    )
    assert list_tests(planned(fabric(tmp_path, bare), network="mgmt"))
    assert list_tests(planned(fabric(tmp_path, bare), "stream"))


@pytest.mark.parametrize(
    ("old", "new", "options", "sentence"),
    [
        (
            "",
            "",
            {"network": "imb"},
            "unknown network of iperf3 'imb', expected one of data, ib, mgmt; did you mean ib?",
        ),
        ("", "", {"network": "data"}, "found none of adm,n[1-8] in the network data"),
        ("mgmt", "eth", {}, "found 8 nodes in several of the networks eth and ib, expected the option network"),
        ("{ib: {type", "{ib: {role: management, type", {}, "which is for management, expected the option network"),
    ],
)
def test_what_is_refused(tmp_path: Path, old: str, new: str, options: dict[str, str], sentence: str) -> None:
    with pytest.raises(PlanError) as error:
        planned(fabric(tmp_path, TEXT.replace(old, new) if old else TEXT), **options)
    assert sentence in str(error.value)


def test_a_test_on_one_node_uses_no_network(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    assert {test.sending.network for test in list_tests(planned(described, "stream"))} == {""}
    with pytest.raises(PlanError, match="found network=ib, expected none"):
        planned(described, "stream", network="ib")


def test_one_network_is_as_ever(tmp_path: Path) -> None:
    text = TEXT[: TEXT.index('  - {from: "n[1-8],adm"')].replace(', addresses: {ib: "10.2.0.[1-8]"}', "")
    found = list_tests(planned(fabric(tmp_path, text)))
    assert {test.sending.network for test in found} == {""}
    assert {test.target.node.data_address[:7] for test in found} == {"10.0.0."}
