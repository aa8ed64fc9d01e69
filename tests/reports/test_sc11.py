"""SC11's 100 Gb/s line (Knepper et al., 2012) through the real command: what should come, what came, and what is wrong."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.reports.typed_outputs import benchconsole, print_check
from tests.reports.typed_tables import EXAMPLES, join_words, store_table

FINAL, FIRST = EXAMPLES / "sc11.yaml", EXAMPLES / "sc11-lag.yaml"
ODD, EVEN = range(1, 16), range(16, 31)
"""The clients of VLAN 265 and of VLAN 266."""

BOTH = [*ODD, *EVEN]
EIGHT = [*ODD[:4], *EVEN[:4]]


def expect(file: Path, flows: str, *options: str) -> float:
    """Gb/s in all of flows one to one, each of one stream."""
    found = json.loads(benchconsole("expect", file, flows, "--one-to-one", "--json", *options).out)
    return float(found["total_bps"]) / 1e9


def type_flows(
    rate: str, clients: Sequence[int], ends: tuple[str, str], at: str, labels: str = ""
) -> list[dict[str, str]]:
    """One flow of each client, all at once."""
    source, sink = ends
    return [
        {
            "metric": "iperf3.throughput", "value": rate, "nodes": f"{source}{each:02}>{sink}{each:02}",
            "labels": labels, "date": at, "round": f"{len(clients)} flows at {at}",
        }
        for each in clients
    ]  # fmt: skip


EAST, WEST = ("c-sea", "c-ind"), ("c-ind", "c-sea")


@pytest.mark.parametrize(
    ("file", "flows", "reported", "expected"),
    [
        # II.A: side by side, 30 clients; eight clients after the tuning; III: all thirty over the distance
        (FINAL, "c-sea[01-30]>c-ind[01-30]", 98, 99.0),
        (FINAL, "c-sea[01-04],c-sea[16-19]>c-ind[01-04],c-ind[16-19]", 80, 79.2),
        (FINAL, "c-sea[01-30]>c-ind[01-30]", 96, 99.0),
    ],
)
def test_the_rates_of_sections_2_and_3_beside_what_the_cabling_allows(
    file: Path, flows: str, reported: float, expected: float
) -> None:
    assert expect(file, flows) == pytest.approx(expected, abs=0.05)
    assert 0.96 < reported / expected < 1.011, "the report prints bits of the wire, an expectation is payload"


def test_a_ninth_stream_fills_one_vlan_while_the_other_has_room() -> None:
    """II.A: adding another single 10 Gb/s stream to either of the connections resulted in congestion."""
    nine = json.loads(
        benchconsole("expect", FINAL, "c-sea[01-06],c-sea[16-19]>c-ind[01-06],c-ind[16-19]", "--one-to-one", "--json",
                     "--links").out
    )  # fmt: skip
    limits = {limit for each in nine["flows"] for limit in each["limited_by"]}
    assert any("265" in limit for limit in limits)
    assert not any("266" in limit for limit in limits)


def test_the_lag_of_figure_3() -> None:
    """30 clients over twelve members: 2.5:1, and a hash that leaves less."""
    found = json.loads(benchconsole("check", FIRST, "--json").out)
    (vdx,) = {each["ratio"] for each in found["switches"] if each["name"].startswith("vdx")}
    assert vdx == pytest.approx(47 / 12, abs=0.005)
    assert "12 x 10.0 Gb/s, hash of addresses and ports" in print_check(FIRST)


def test_thirty_clients_east_reached_96_of_99(tmp_path: Path) -> None:
    ran = store_table(tmp_path, "sc11", "east", type_flows("3.2 Gb/s", BOTH, EAST, "2011-11-16T12:00:00Z"))
    assert ran.code == 3, "other nodes of the file were not tested"
    assert "Nothing that was judged is below its threshold" in join_words(ran)
    assert "30 3.20 Gb/s 3.20 Gb/s 3.30 Gb/s" in join_words(ran)


def test_the_same_thirty_rates_one_after_another_would_be_thirty_slow_hosts(tmp_path: Path) -> None:
    rows = [{**row, "round": ""} for row in type_flows("3.2 Gb/s", BOTH, EAST, "2011-11-16T12:00:00Z")]
    assert store_table(tmp_path, "sc11", "alone", rows).code == 1


def test_the_lag_over_the_distance_gave_30_gbps_and_what_that_can_be(tmp_path: Path) -> None:
    ran = store_table(tmp_path, "sc11-lag", "lag", type_flows("1 Gb/s", BOTH, EAST, "2011-11-13T12:00:00Z"))
    said = join_words(ran)
    assert ran.code == 1
    assert "c-sea01>c-ind01: 1.00 Gb/s of 3.30 Gb/s, 30 %" in said
    for part in ("mlxe-sea to mlxe-ind", "vdx-sea to mlxe-sea", "mlxe-ind to vdx-ind"):
        assert part in said
    assert "or what all hosts share" in said


def test_the_other_direction_is_the_finding(tmp_path: Path) -> None:
    """We were only ever able to achieve good TCP results in one direction."""
    rows = [
        *type_flows("3.2 Gb/s", BOTH, EAST, "2011-11-16T12:00:00Z"),
        *type_flows("1 Gb/s", BOTH, WEST, "2011-11-16T13:00:00Z"),
    ]
    said = join_words(store_table(tmp_path, "sc11", "both", rows))
    assert "✗ link mlxe-ind to mlxe-sea gives 30.0 Gb/s of 99.0 Gb/s, 30 %, this way only" in said


def test_udp_that_filled_the_line_takes_its_capacity_out_of_suspicion(tmp_path: Path) -> None:
    """We were able to saturate the link with UDP traffic and little loss: reordering caused TCP retransmits."""
    rows = [
        *type_flows("1 Gb/s", BOTH, WEST, "2011-11-16T13:00:00Z", "protocol=tcp"),
        *type_flows("3.2 Gb/s", BOTH, WEST, "2011-11-16T14:00:00Z", "protocol=udp"),
    ]
    said = join_words(store_table(tmp_path, "sc11", "udp", rows))
    assert "1 finding" in said
    assert "30 of 30 pairs are slow alike: 30 % of expected in the middle; UDP of the same pairs was full" in said
    assert (
        "cannot tell: where it arises: loss or reordering on the way, windows, or the processors of the hosts" in said
    )


@pytest.mark.parametrize(
    "sentence",
    [
        "the loss of mlxe-sea to mlxe-ind cuts off 47 nodes [single-point-of-failure]",
        "takes 470 Gb/s from below and has for the other switches of its tier 100 Gb/s: 4.70:1 [bottleneck]",
        "one flow reaches 10.0 Gb/s over 50.5 ms only if at most 1 packet in",
    ],
)
def test_check_says_before_a_packet_is_sent(sentence: str) -> None:
    assert sentence in print_check(FINAL)


@pytest.mark.parametrize(("buffer", "is_found"), [("167772160", False), ("16777216", True)])
def test_the_buffers_of_listing_1_hold_what_is_in_flight(tmp_path: Path, buffer: str, is_found: bool) -> None:
    """10 Gb/s over 50.5 ms are 63 MB in flight; the listing allows 167 MB, the tenth of it does not."""
    file = tmp_path / "sc11.yaml"
    file.write_text(FINAL.read_text().replace("167772160", buffer))
    found = json.loads(benchconsole("check", file, "--json").out)["findings"]
    assert any(each["code"] == "wan-window" for each in found) is is_found
