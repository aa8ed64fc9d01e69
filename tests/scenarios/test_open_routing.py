"""A file that does not say how its rings are routed, from outputs of iperf3 to the sentence in every report."""

from pathlib import Path

import pytest

from benchconsole.console.exits import Exit
from tests.scenarios.test_judging_trials import Site
from tests.scenarios.test_networks import OUTPUT

# A full mesh, where traffic may go by a third switch, with one link that is thinner than the others.
MESH = """\
schema: 1
fabric: mesh
network: {mtu: 9000}
switches: {"r[1-4]": {}}
nodes: {"n[1-4]": {address: "10.0.0.[1-4]"}}
links:
  - {from: "n[1-4]", to: "r[1-4]", wiring: one-to-one, speed: 100 Gb/s}
  - {from: r1, to: "r[2-4]", speed: 100 Gb/s}
  - {from: r2, to: "r[3-4]", speed: 100 Gb/s}
  - {from: r3, to: r4, speed: 40 Gb/s}
suites: {net: [{probe: iperf3, design: all-pairs}]}
"""


def measure(folder: Path, gbps: float, text: str = MESH) -> tuple[Site, int, str]:
    site = Site(folder, text=text)
    told = OUTPUT.replace("BYTES", str(int(gbps * 1.25e9))).replace("BITS", str(gbps * 1e9))
    return site, *site.ingest("iperf3", told, "--node", "n1", "--peer", "n2", "--at", "2026-11-20T10:00:00Z")


@pytest.mark.parametrize(("gbps", "code"), [(95.0, Exit.UNTESTED), (35.0, Exit.UNTESTED), (30.0, Exit.BELOW)])
def test_what_another_routing_may_give_is_no_failure(tmp_path: Path, gbps: float, code: int) -> None:
    _, ended, said = measure(tmp_path, gbps)
    assert ended == code, said
    assert ("below what any routing gives" in said) is (gbps == 30.0)


def test_the_bound_that_judged_is_named_in_every_report(tmp_path: Path) -> None:
    site, _, said = measure(tmp_path, 35.0)
    why = "nobody said the routing, and any gives at least 40 % (39.6 Gb/s): say `routing` of the network"
    assert why in said
    (verdict,) = site.verdicts()
    assert (verdict["level"], verdict["source"]) == ("unknown", "capacity (fluid, any routing)")
    assert verdict["least"] == pytest.approx(verdict["expected"] * 0.4, rel=1e-9)
    for kind in ("html", "md", "txt"):
        code, _ = site.call("report", "-o", tmp_path / f"r.{kind}")
        assert code == Exit.PASSED
        assert "nobody said the routing" in (tmp_path / f"r.{kind}").read_text(), kind


def test_no_link_is_accused_where_the_way_is_not_known(tmp_path: Path) -> None:
    site, _, _ = measure(tmp_path, 10.0)
    (finding,) = site.report()["findings"]
    assert finding["suspect"] == "fabric"
    assert finding["cannot_tell"] == "which links these flows took: the file does not say how the fabric is routed"


def test_a_routing_that_is_said_is_held_against(tmp_path: Path) -> None:
    site, ended, _ = measure(tmp_path, 35.0, MESH.replace("mtu: 9000", "mtu: 9000, routing: shortest"))
    assert ended == Exit.BELOW
    assert site.verdicts()[0]["source"] == "capacity (fluid)"


def test_the_plan_says_that_the_routing_is_not_known(tmp_path: Path) -> None:
    said = "nobody said how the network data is routed, and links inside a tier close rings"
    for text, is_open in ((MESH, True), (MESH.replace("mtu: 9000", "mtu: 9000, routing: shortest"), False)):
        code, printed = Site(tmp_path, text=text).call("run", tmp_path / "site.yaml", "--suite", "net", "--dry-run")
        assert code == Exit.PASSED, printed
        assert (said in printed) is is_open
