"""Several networks of one machine, from the file to the sentence: expectations, refusals, other parts of the product."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchconsole.console.cli import command
from benchconsole.console.exits import BadInput
from benchconsole.probes.model.errors import PlanError
from benchconsole.store.store import Store
from benchconsole.topology.errors import SelectionError

# The InfiniBand fabric has two tiers, the management network one switch: the shorter way.
DUAL = """\
schema: 1
fabric: dual
networks:
  ib: {type: InfiniBand HDR, mtu: 4096}
  mgmt: {mtu: 1500}
switches:
  ibl[1-2]: {role: leaf}
  ibs[1-2]: {role: spine}
  msw: {role: leaf}
nodes:
  n[01-32]: {address: "10.0.0.[1-32]", addresses: {ib: "10.2.0.[1-32]"}}
links:
  - {from: "n[01-16]", to: ibl1, speed: 200 Gb/s, network: ib}
  - {from: "n[17-32]", to: ibl2, speed: 200 Gb/s, network: ib}
  - {from: "ibl[1-2]", to: "ibs[1-2]", speed: 200 Gb/s, count: 8, network: ib}
  - {from: "n[01-32]", to: msw, speed: 1 Gb/s, network: mgmt}
"""
GBPS = 1e9
IB, ETHERNET = 200 * GBPS * 4040 / 4130, GBPS * 1448 / 1538


def run(folder: Path, *arguments: str, text: str = DUAL) -> tuple[int, str]:
    path = folder / "dual.yaml"
    path.write_text(text)
    first, *rest = arguments
    found = CliRunner().invoke(command, [first, str(path), *rest])
    if isinstance(found.exception, (BadInput, PlanError, SelectionError)):
        return 2, str(found.exception)
    return found.exit_code, found.output


def expected(folder: Path, *arguments: str) -> float:
    code, said = run(folder, "expect", *arguments, "--json")
    assert code == 0, said
    return float(json.loads(said)["total_bps"])


@pytest.mark.parametrize("model", ["fluid", "hash", "polarised", "steered"])
@pytest.mark.parametrize("flow", ["n01>n17", "n01>n02"])
def test_the_fabric_is_expected_and_not_what_is_shorter(tmp_path: Path, flow: str, model: str) -> None:
    assert expected(tmp_path, flow, "--model", model) == pytest.approx(IB, rel=1e-9)


def test_another_network_is_chosen_by_its_name(tmp_path: Path) -> None:
    assert expected(tmp_path, "n01>n17", "--network", "mgmt") == pytest.approx(ETHERNET, rel=1e-9)
    code, said = run(tmp_path, "expect", "n01>n17")
    assert code == 0
    assert "1 flow at once over the network ib: 196 Gb/s in all" in said


def test_what_is_down_is_not_gone_round(tmp_path: Path) -> None:
    code, said = run(tmp_path, "expect", "n01>n17", "--without", "ibl1")
    assert code == 2
    assert said == "benchconsole: n01 has no way into the network ib: no cable of it there is up"
    assert expected(tmp_path, "n01>n17", "--without", "ibs1") == pytest.approx(IB, rel=1e-9)
    one = (*(each for n in range(1, 3) for each in ("--without", f"ibl1--ibs{n}:7")), "--without", "ibl1--ibs1")
    assert expected(tmp_path, "n01>n17", "n02>n18", *one) == pytest.approx(IB, rel=1e-9)


def test_a_slip_in_a_network_is_told_with_what_is_meant(tmp_path: Path) -> None:
    assert run(tmp_path, "expect", "n01>n17", "--network", "mgnt") == (
        2,
        "benchconsole: unknown network 'mgnt', expected one of data, ib, mgmt; did you mean mgmt?",
    )


def test_two_data_networks_are_asked_back(tmp_path: Path) -> None:
    text = DUAL.replace("mgmt", "eth")
    code, said = run(tmp_path, "expect", "n01>n17", text=text)
    assert code == 2
    assert "n01 and n17 have the data networks eth and ib in common: say which one (the option network)" in said
    code, said = run(tmp_path, "expect", "n01>n17", "--network", "ib", text=text)
    assert (code, "196 Gb/s in all" in said) == (0, True)


def test_slurm_gets_the_same_network(tmp_path: Path) -> None:
    head, links = DUAL.split("links:\n")
    turned = f"{head}links:\n{''.join(reversed(links.splitlines(keepends=True)))}"
    for text in (DUAL, turned):
        code, said = run(tmp_path, "export", "--format", "slurm", text=text)
        assert code == 0, said
        assert "SwitchName=ibl1 Nodes=n[01-16]" in said
        assert "SwitchName=msw" not in said


def test_a_plan_says_which_network_it_uses(tmp_path: Path) -> None:
    suite = (
        DUAL
        + "suites: {net: [{probe: iperf3, design: neighbours}, {probe: iperf3, design: neighbours, network: mgmt}]}\n"
    )
    code, said = run(tmp_path, "run", "--suite", "net", "--dry-run", "--db", str(tmp_path / "db"), text=suite)
    assert code == 0, said
    assert "; over the network ib" in said
    assert "; over the network mgmt" in said


def test_a_plan_without_addresses_is_refused_with_the_remedy(tmp_path: Path) -> None:
    text = DUAL.replace(', addresses: {ib: "10.2.0.[1-32]"}', "") + "suites: {net: [{probe: iperf3}]}\n"
    code, said = run(tmp_path, "run", "--suite", "net", "--dry-run", "--db", str(tmp_path / "db"), text=text)
    assert code == 2
    assert "iperf3 over the network ib: found no address of n[01-32] there, expected data_address, or addresses" in said


OUTPUT = """\
{"start": {"connected": [{"socket": 5, "local_host": "10.0.0.1", "local_port": 40000,
 "remote_host": "10.0.0.17", "remote_port": 5201}], "version": "iperf 3.12", "timestamp": {"timesecs": 1700000000},
 "test_start": {"protocol": "TCP", "num_streams": 1, "blksize": 131072, "omit": 0, "duration": 10, "bytes": 0,
 "blocks": 0, "reverse": 0, "tos": 0}},
 "intervals": [],
 "end": {"streams": [{"sender": {"socket": 5, "start": 0, "end": 10, "seconds": 10, "bytes": BYTES,
 "bits_per_second": BITS, "retransmits": 0, "sender": true}, "receiver": {"socket": 5, "start": 0, "end": 10,
 "seconds": 10, "bytes": BYTES, "bits_per_second": BITS, "sender": true}}],
 "sum_sent": {"start": 0, "end": 10, "seconds": 10, "bytes": BYTES, "bits_per_second": BITS, "retransmits": 0},
 "sum_received": {"start": 0, "end": 10, "seconds": 10, "bytes": BYTES, "bits_per_second": BITS}}}
"""


def ingest(folder: Path, gbps: float, *options: str, text: str = DUAL) -> tuple[int, str]:
    captured = folder / "output.json"
    captured.write_text(OUTPUT.replace("BYTES", str(int(gbps * 1.25e9))).replace("BITS", str(gbps * 1e9)))
    ends = ("--node", "n01", "--peer", "n17", "--at", "2026-11-20T10:00:00Z", "--db", str(folder / "db"))
    return run(folder, "ingest", "iperf3", str(captured), *ends, *options, text=text)


@pytest.mark.parametrize(("gbps", "code"), [(0.94, 1), (190.0, 3)])
def test_a_result_is_held_against_the_network_that_was_meant(tmp_path: Path, gbps: float, code: int) -> None:
    """0.94 Gb/s on 200 Gb/s fails and says whose rate that is; 190 Gb/s is sound (3: other nodes were not measured)."""
    ended, said = ingest(tmp_path, gbps)
    assert ended == code, said
    fallen = "n01 or n17 reached 940 Mb/s of 196 Gb/s: as its management network mgmt carries (1.00 Gb/s)"
    assert (fallen in " ".join(said.split())) == (code == 1)


def test_a_result_of_another_network_says_so(tmp_path: Path) -> None:
    ended, said = ingest(tmp_path, 0.94, "--network", "mgmt")
    assert ended == 3, said  # sound, and other nodes were not measured
    ended, said = ingest(tmp_path, 0.94, "--network", "mgnt")
    assert (ended, "unknown network 'mgnt', expected one of data, ib, mgmt; did you mean mgmt?" in said) == (2, True)
    ended, said = ingest(tmp_path, 0.94, text=DUAL.replace("mgmt", "eth"))
    assert (ended, "n01 and n17 have the data networks eth and ib in common" in said) == (2, True)


RAILS = """\
schema: 1
fabric: rails
switches: {"rail[1-2]": {role: leaf}}
nodes: {"n[01-20]": {}}
links: [{from: "n[01-20]:p[1-2]", to: "rail[1-2]", speed: 100 Gb/s}]
"""


@pytest.mark.parametrize(("gbps", "code"), [(40.0, 1), (90.0, 3)])
def test_a_result_between_two_ports_is_held_against_these(tmp_path: Path, gbps: float, code: int) -> None:
    ended, said = ingest(tmp_path, gbps, "--node", "n01:p2", "--peer", "n17:p2", text=RAILS)
    assert ended == code, said
    words = " ".join(said.split())
    assert ("40.0 Gb/s of 94.1 Gb/s" in words) == (code == 1), said
    assert ("leg to rail2" in words) == (code == 1), said
    assert "rail1" not in words, said


@pytest.mark.parametrize(
    ("node", "peer", "words"),
    [
        ("n01:p3", "n17:p2", "no port p3"),
        ("n[01-02]:p1", "n17:p1", "expected one node with one of its ports"),
        ("n01:p1", "n17:p2", "output.json: no path from n01 to n17 between the ports p1 and p2"),
    ],
)
def test_a_port_that_cannot_be_is_refused(tmp_path: Path, node: str, peer: str, words: str) -> None:
    ended, said = ingest(tmp_path, 40.0, "--node", node, "--peer", peer, text=RAILS)
    assert (ended, words in said) == (2, True), said
    with Store.open(tmp_path / "db") as store:
        assert store.list_sessions() == ()
