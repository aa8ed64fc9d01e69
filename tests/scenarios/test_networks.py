"""Several networks of one machine, from the file to the sentence: expectations, refusals, other parts of the product."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchconsole.console.cli import command
from benchconsole.console.exits import BadInput

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
    if isinstance(found.exception, BadInput):
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
