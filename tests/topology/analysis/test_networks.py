"""Findings of check on networks: nobody in one, a choice of several, a slower one taken, no address there."""

from pathlib import Path

import pytest

from benchconsole.topology import load
from benchconsole.topology.analysis.networks import list_findings
from benchconsole.topology.analysis.static_analysis import make_static_report

TEXT = """\
schema: 1
fabric: networks
networks: {ib: {}, mgmt: {role: management}}
switches: {a: {}, b: {}}
nodes: {"n[1-4]": {data_address: "10.2.0.[1-4]"}, only: {}}
links:
  - {from: "n[1-4],only", to: a, speed: 200G, network: ib}
  - {from: "n[1-4]", to: b, speed: 1G, network: mgmt}
"""


def told(folder: Path, text: str) -> list[tuple[str, str, str]]:
    path = folder / "networks.yaml"
    path.write_text(text)
    fabric = load(path)
    found = list(list_findings(fabric))
    assert set(found) <= set(make_static_report(fabric).findings)
    return [(each.severity.value, each.code, each.text) for each in found]


def test_a_sound_description_says_nothing(tmp_path: Path) -> None:
    assert told(tmp_path, TEXT) == []
    assert (
        told(tmp_path, TEXT[: TEXT.index('  - {from: "n[1-4]", to: b')].replace(", mgmt: {role: management}", "")) == []
    )


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (
            "mgmt: {role: management}",
            "mgmt: {role: management}, san: {}",
            ("warning", "network-unused", "nobody is in the network san: no link says network: san"),
        ),
        (
            "mgmt: {role: management}",
            "mgmt: {}",
            (
                "note",
                "network-role",
                "the network mgmt is for management by its name: role: data would make it one for data",
            ),
        ),
        (
            "role: management",
            "role: data",
            (
                "warning",
                "network-choice",
                (
                    "n[1-4] are in the networks ib and mgmt, all of them for data: a flow between them has to say which one, "
                    "or the others need another role"
                ),
            ),
        ),
        (
            ", network: mgmt",
            "",
            (
                "warning",
                "network-slower",
                (
                    "flows of n[1-4] take the network data (1.00 Gb/s) and not ib (200 Gb/s): if that is for management, say "
                    "network: {role: management}"
                ),
            ),
        ),
        (
            'data_address: "10.2.0.[1-4]"',
            "",
            (
                "note",
                "network-address",
                (
                    "4 nodes without an address in the network ib, n[1-4]: tests over it are refused without data_address, "
                    "or addresses: {ib: ...}"
                ),
            ),
        ),
    ],
)
def test_what_is_told(tmp_path: Path, old: str, new: str, found: tuple[str, str, str]) -> None:
    assert found in told(tmp_path, TEXT.replace(old, new))
