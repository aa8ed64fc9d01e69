"""``network`` and ``networks`` of a file: what each says, and what is refused with its place and remedy."""

from pathlib import Path

import pytest

from benchconsole.topology import load
from benchconsole.topology.errors import TopologyError
from benchconsole.topology.model.fabric import Fabric, HashPolicy
from benchconsole.topology.model.network import NetworkKind, NetworkRole

REST = 'switches: {sw: {}}\nnodes: {"n[1-2]": {}}\nlinks: [{from: "n[1-2]", to: sw, speed: 100G}]\n'


def described(folder: Path, text: str, rest: str = REST) -> Fabric:
    path = folder / "networks.yaml"
    path.write_text(f"schema: 1\nfabric: networks\n{text}{rest}")
    return load(path)


def test_the_data_network_says_what_others_say(tmp_path: Path) -> None:
    text = "network: {type: InfiniBand NDR, mtu: 4096, hash: l3l4, role: storage}\nnetworks: {e: {hash: l2}, f: {}}\n"
    found = described(tmp_path, text)
    data = found.networks["data"]
    assert (data.kind, data.role, data.is_role_inferred) == (NetworkKind.INFINIBAND, NetworkRole.STORAGE, False)
    assert (data.mtu, found.mtu) == (4092, 4092)
    assert data.goodput == pytest.approx(4040 / 4130)
    (one, _) = found.links.values()
    assert one.hash is HashPolicy.L3L4
    assert found.payload(one) == pytest.approx(100e9 / 8 * 4040 / 4130)
    stated = described(tmp_path, "network: {type: Omni-Path, goodput: 90 %}\n").networks["data"]
    assert (stated.kind, stated.goodput, stated.basis) == (NetworkKind.OMNI_PATH, 0.9, "as stated")


def test_hashes_of_each_network(tmp_path: Path) -> None:
    rest = (
        'switches: {sw: {}}\nnodes: {"n[1-3]": {}}\nlinks:\n'
        "  - {from: n1, to: sw, speed: 1G}\n  - {from: n2, to: sw, speed: 1G, network: e}\n"
        "  - {from: n3, to: sw, speed: 1G, network: f}\n  - {from: n3, to: n2, speed: 1G, network: e, hash: l3}\n"
    )
    found = described(tmp_path, "network: {hash: l3l4}\nnetworks: {e: {hash: l2}, f: {}}\n", rest)
    assert [link.hash.value for link in found.links.values()] == ["l3l4", "l2", "l3l4", "l3"]


def test_roles_that_follow_from_names(tmp_path: Path) -> None:
    found = described(tmp_path, "networks: {mgmt: {}, san: {role: data}, ib: {}}\n").networks
    assert [(each.role.value, each.is_role_inferred) for each in found.values()] == [
        ("data", False), ("management", True), ("data", False), ("data", False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "place", "sentence"),
    [
        (
            "networks: {ib: {type: infinband}}\n",
            "3:23",
            "unknown type 'infinband', expected ethernet, infiniband, roce",
        ),
        ("networks: {ib: {type: infinband}}\n", "3:23", "did you mean infiniband?"),
        ("network: {type: Myrinet}\n", "3:17", "unknown type 'Myrinet'"),
        ("networks: {o: {type: omni-path}}\n", "3:22", "'omni-path' without a goodput, expected a goodput"),
        ("networks: {o: {type: Infiniband QDR}}\n", "3:22", "'Infiniband QDR' without a goodput"),
        ("networks: {e: {mtu: 300}}\n", "3:21", "300, expected 576 or more"),
        ("networks: {e: {role: datta}}\n", "3:22", "'datta', expected"),
        ("networks: {e: {goodput: 0 %}}\n", "3:25", "more than 0 %"),
        ("network: {kind: ethernet}\n", "3:11", "unknown key 'kind'"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, place: str, sentence: str) -> None:
    with pytest.raises(TopologyError) as error:
        described(tmp_path, text)
    lines = [line for line in str(error.value).splitlines() if f":{place}:" in line]
    assert any(sentence in line for line in lines), str(error.value)
