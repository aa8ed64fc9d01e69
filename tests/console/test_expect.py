"""``expect``: what flows should reach, asked from the command line of a described machine."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from benchconsole.console.cli import command
from benchconsole.console.exits import BadInput

EXAMPLES = Path(__file__).parents[2] / "topology" / "examples"
JETSTREAM, SC11 = str(EXAMPLES / "jetstream.yaml"), str(EXAMPLES / "sc11-lag.yaml")
GOODPUT = 8948 / 9038


def expect(*arguments: str) -> Result:
    return CliRunner().invoke(command, ["expect", *arguments], prog_name="benchconsole")


def found(*arguments: str) -> dict[str, Any]:
    result = expect(*arguments, "--json")
    assert result.exit_code == 0, result.output
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def test_blades_that_read_from_storage_share_the_ports_of_the_servers() -> None:
    answer = found(JETSTREAM, "@storage>@compute")
    flows = answer["flows"]
    assert isinstance(flows, list)
    assert len(flows) == 20 * 320
    assert answer["total_bps"] == pytest.approx(400e9 * GOODPUT, rel=1e-9)
    assert flows[0]["model"] == "fluid"
    assert flows[0]["goodput"] == pytest.approx(GOODPUT)
    shown = " ".join(expect(JETSTREAM, "@storage>@compute").stdout.split())
    assert "6,400 flows at once" in shown
    assert "sender's NIC" in shown
    assert "certificate checked" in shown


def test_one_to_one_streams_and_parameters() -> None:
    answer = found(JETSTREAM, "b01-[01-16]>b05-[01-16]", "--one-to-one", "--streams", "2", "--set", "per_tor=2")
    flows = answer["flows"]
    assert isinstance(flows, list)
    assert len(flows) == 32
    assert answer["total_bps"] == pytest.approx(160e9 * GOODPUT, rel=1e-9)


def test_flows_that_are_too_many_to_list_are_told_in_groups() -> None:
    few, many = found(JETSTREAM, "@compute>@storage"), found(JETSTREAM, "@compute>@storage", "--streams", "128")
    assert isinstance(few["flows"], list)
    assert many["flows"] is None
    assert many["total_bps"] == pytest.approx(few["total_bps"], rel=1e-9)
    (group,) = many["groups"]
    assert (group["flows"], group["to"]) == (128 * 20 * 320, "st[01-20]")
    assert group["expected_bps"] == pytest.approx(400e9 * GOODPUT / group["flows"], rel=1e-5)
    assert "819,200 flows at once" in " ".join(
        expect(JETSTREAM, "@compute>@storage", "--streams", "128").stdout.split()
    )


def test_elements_can_be_taken_down() -> None:
    pairs = (JETSTREAM, "b01-[01-16]>b05-[01-16]", "--one-to-one")
    assert found(*pairs)["total_bps"] == pytest.approx(160e9 * GOODPUT, rel=1e-9)
    for down in ("mxl01-1", "mxl01-1 to tor1:1", "tor1--mxl01-1:1", "spine1"):
        left = found(*pairs, "--without", down)["total_bps"]
        assert left == pytest.approx(80e9 * GOODPUT, rel=1e-9), down


def test_a_hash_is_told_by_its_spread() -> None:
    pairs = (SC11, "c-sea[01-30]>c-ind[01-30]", "--one-to-one", "--model", "hash")
    drawn = found(*pairs, "--draws", "300")["over_hashes"]
    assert isinstance(drawn, dict)
    assert drawn["draws"] == 300
    assert drawn["total_bps"]["p5"] < drawn["total_bps"]["mean"] < drawn["total_bps"]["p95"]
    assert drawn["total_bps"]["mean"] / GOODPUT == pytest.approx(88.3e9, rel=0.02)
    shown = expect(*pairs).stdout
    assert "one hash of those that are possible" in shown
    assert "Over 200 hashes (model hash)" in " ".join(shown.split())


def test_hashes_end_with_their_time_and_say_how_many_were_tried() -> None:
    pairs = (SC11, "c-sea[01-30]>c-ind[01-30]", "--one-to-one", "--model", "hash", "--draws", "100000")
    drawn = found(*pairs, "--seconds", "1e-6")["over_hashes"]
    assert 1 <= drawn["draws"] < drawn["asked"] == 100_000
    shown = " ".join(expect(*pairs, "--seconds", "1e-6").stdout.split())
    assert f"Over {drawn['draws']:,} of 100,000 (the time was over) hashes" in shown


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["b01-01"], "is no flow, expected FROM>TO"),
        (["b01-01>nowhere"], "unknown node nowhere"),
        (["@stroage>b01-01"], "did you mean @storage?"),
        (["b01-01>b01-01"], "no flow between two different nodes"),
        (["b01-[01-03]>b01-[04-05]", "--one-to-one"], "3 nodes with 2"),
        (["@all>@all", "--streams", "8", "--model", "hash"], "more than 200,000 flows"),
        (["b01-01>st01", "--without", "spine3"], "spine3"),
        (["b01-01>st01", "--without", "mxl01-1 to tor1:x"], "a number of members"),
        (["b01-01>st01", "--without", "tor1"], "no path"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], what: str) -> None:
    result = expect(JETSTREAM, *arguments)
    assert isinstance(result.exception, BadInput)
    assert what in str(result.exception)


def test_a_placement_says_where_flows_are(tmp_path: Path) -> None:
    file = tmp_path / "placement.csv"
    file.write_text('from,to,link,member\n"c-sea[01-30]","c-ind[01-30]",vdx-sea to mlxe-sea,1\n')
    pairs = (SC11, "c-sea[01-30]>c-ind[01-30]", "--one-to-one", "--placement", str(file))
    answer = found(*pairs)
    assert answer["total_bps"] == pytest.approx(10e9 * 8948 / 9038, rel=1e-9)  # one member of twelve
    assert {flow["model"] for flow in answer["flows"]} == {"known members"}
    refused = expect(*pairs, "--model", "hash")
    assert "--placement and the model hash: a placement says itself where flows are" in str(refused.exception)


def test_a_bracket_tells_every_bound_and_the_one_that_judges() -> None:
    pairs = (SC11, "c-sea[01-30]>c-ind[01-30]", "--one-to-one", "--bracket")
    answer = found(*pairs)["bracket"]
    assert isinstance(answer, dict)
    for bound in ("slowest_bps", "total_bps"):
        rising = [answer[name][bound] for name in ("unlucky", "routing", "optimum", "cut")]
        assert rising == sorted(rising) or rising == pytest.approx(sorted(rising), rel=1e-9)
    assert answer["cut"]["total_bps"] == pytest.approx(100e9 * GOODPUT, rel=1e-9)
    assert answer["total_cut"] == ["mlxe-sea to mlxe-ind"]
    assert answer["judged"] == "hash, unlucky"
    shown = " ".join(expect(*pairs).stdout.split())
    assert "Cut of the slowest flow: mlxe-sea to mlxe-ind, 99.0 Gb/s for 30 flows." in shown
    assert "The bound that judges: hash, unlucky" in shown


def test_flows_have_streams_rates_and_a_matrix_of_their_own(tmp_path: Path) -> None:
    matrix = tmp_path / "demands.csv"
    matrix.write_text("from,to,rate,pairs\nb02-[01-16],b06-[01-16],1 Gb/s,in order\n")
    answer = found(JETSTREAM, "b01-01>b05-01", "streams=4", "rate=500Mb/s", "b01-02>b05-02", "--demands", str(matrix))
    flows = answer["flows"]
    assert isinstance(flows, list)
    rates = [round(flow["expected_bps"] / 1e6) for flow in flows]
    assert rates[:4] + rates[5:] == [500] * 4 + [1000] * 16
    assert flows[4]["expected_bps"] > 9e9


def test_links_and_ends_are_told() -> None:
    pairs = (JETSTREAM, "b01-[01-16]>b05-[01-16]", "--one-to-one", "--links", "--ends")
    answer = found(*pairs)
    links, nodes = answer["links"], answer["nodes"]
    assert isinstance(links, list)
    assert isinstance(nodes, list)
    full = {each["way"] for each in links if each["used"] == pytest.approx(1.0)}
    assert {"mxl01-1 to tor1", "mxl01-2 to tor1"} <= full
    sent = [each["sent_bps"] for each in nodes if each["node"].startswith("b01")]
    assert sent == pytest.approx([160e9 * GOODPUT / 16] * 16)
    shown = expect(*pairs).stdout
    assert "Links" in shown
    assert "Senders and receivers" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_links_of_a_hash_are_refused() -> None:
    result = expect(JETSTREAM, "b01-01>b05-01", "--model", "hash", "--links")
    assert isinstance(result.exception, BadInput)
    assert "of the model hash" in str(result.exception)


def test_cables_that_nobody_counted_are_told(tmp_path: Path) -> None:
    path = tmp_path / "tree.yaml"
    path.write_text(
        'schema: 1\nfabric: tree\nswitches: {"leaf[1-2]": {}, spine: {role: spine}}\nnodes: {"n[1-2]": {}}\nlinks:\n'
        '  - {from: "n[1-2]", to: "leaf[1-2]", wiring: one-to-one, speed: 10 Gb/s}\n'
        '  - {from: "leaf[1-2]", to: spine, speed: 10 Gb/s, count: unknown}\n'
    )
    assert found(str(path), "n1>n2")["uncounted"] == ["leaf1--spine", "leaf2--spine"]
    shown = " ".join(expect(str(path), "n1>n2").stdout.split())
    assert "Nobody counted the cables of leaf[1-2] to spine: one is taken for each link" in shown
    assert found(SC11, "c-sea01>c-ind01")["uncounted"] == []


RAILS = """\
schema: 1
fabric: rails
network: {goodput: 100 %}
switches: {"rail[1-8]": {role: leaf}}
nodes: {"g[01-32]": {}}
links:
  - {from: "g[01-32]:p[1-8]", to: "rail[1-8]", speed: 400 Gb/s}
"""


def test_a_flow_names_its_ports_or_stands_for_all_of_them(tmp_path: Path) -> None:
    (tmp_path / "rails.yaml").write_text(RAILS)
    file = str(tmp_path / "rails.yaml")
    answer = found(file, "g01:p1>g02:p1")
    (flow,) = answer["flows"]
    assert (flow["from"], flow["from_port"], flow["to"], flow["to_port"]) == ("g01", "p1", "g02", "p1")
    assert flow["expected_bps"] == pytest.approx(400e9)
    assert flow["limited_by"] == ["g01:p1 out", "g02:p1 in"]
    shown = " ".join(expect(file, "g[01-16]:p[1-8]>g[17-32]:p[1-8]", "--one-to-one").stdout.split())
    assert "128 g[01-16]:p[1-8] g[17-32]:p[1-8] 400 Gb/s" in shown
    assert "names no port" not in shown
    together = " ".join(expect(file, "g01>g02").stdout.split())
    assert "3.20 Tb/s" in together
    assert "name it, as in g01:p1>g02:p1" in together
    assert found(file, "g01>g02")["flows"][0]["from_port"] is None


def test_a_port_can_be_down_and_rails_do_not_meet(tmp_path: Path) -> None:
    (tmp_path / "rails.yaml").write_text(RAILS)
    file = str(tmp_path / "rails.yaml")
    assert found(file, "g01>g02", "--without", "g01:p1")["total_bps"] == pytest.approx(2.8e12)
    for arguments, what in (
        (("g01:p1>g02:p2",), "such data crosses rails inside a node"),
        (("g01:p1>g02:p1", "--without", "g01:p1"), "a flow of g01 cannot take p1: its cable is down"),
        (("g01:p9>g02:p1",), "g01: no port p9"),
        (("g[01-02]:p[1-2]>g03:p1", "--one-to-one"), "pairs 4 ports with 1 in order"),
    ):
        result = CliRunner().invoke(command, ["expect", file, *arguments], prog_name="benchconsole")
        assert isinstance(result.exception, BadInput)
        assert what in str(result.exception)
