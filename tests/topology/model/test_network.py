"""The payload shares of networks, counted out header by header; kinds and roles as they are read."""

import pytest

from benchconsole.topology.model.network import (
    NetworkKind,
    NetworkRole,
    compute_goodput,
    find_ip_mtu,
    find_kind,
    infer_role,
    is_called_by_signals,
)


def share(kind: NetworkKind, written: int | None) -> float:
    found = compute_goodput(kind, find_ip_mtu(kind, written))
    assert found is not None
    return found[0]


@pytest.mark.parametrize(
    ("kind", "mtu", "payload", "wire"),
    [
        (NetworkKind.ETHERNET, None, 1448, 1538),  # preamble 8, header 14, packet 1500, check 4, gap 12
        (NetworkKind.ETHERNET, 9000, 8948, 9038),
        (NetworkKind.INFINIBAND, 256, 200, 290),  # LRH 8, BTH 12, DETH 8, encapsulation 4, packet 252, ICRC 4, VCRC 2
        (NetworkKind.INFINIBAND, None, 1992, 2082),
        (NetworkKind.INFINIBAND, 2048, 1992, 2082),
        (NetworkKind.INFINIBAND, 2044, 1992, 2082),
        (NetworkKind.INFINIBAND, 4096, 4040, 4130),
        (NetworkKind.INFINIBAND, 4092, 4040, 4130),
        (NetworkKind.INFINIBAND, 65520, 65468, 65524 + 32 * 26),  # 65,524 bytes are 31 packets of 2,048 and one more
        (NetworkKind.ROCE, 1500, 1024, 1024 + 38 + 20 + 8 + 12 + 4),
        (NetworkKind.ROCE, 9000, 4096, 4096 + 82),
    ],
)
def test_payload_shares(kind: NetworkKind, mtu: int | None, payload: int, wire: int) -> None:
    assert share(kind, mtu) == pytest.approx(payload / wire, rel=1e-12)


def test_roce_is_no_better_than_tcp() -> None:
    assert all(share(NetworkKind.ROCE, mtu) <= share(NetworkKind.ETHERNET, mtu) for mtu in range(576, 10_000))


def test_no_rule_is_known_for_others() -> None:
    assert compute_goodput(NetworkKind.OMNI_PATH, 8192) is None
    assert compute_goodput(NetworkKind.OTHER, 1500) is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (None, NetworkKind.ETHERNET),
        ("Ethernet", NetworkKind.ETHERNET),
        ("25GbEthernet", NetworkKind.ETHERNET),
        ("Mellanox Infiniband QDR", NetworkKind.INFINIBAND),
        ("InfiniBand NDR", NetworkKind.INFINIBAND),
        ("RoCEv2", NetworkKind.ROCE),
        ("roce", NetworkKind.ROCE),
        ("Omni-Path 100", NetworkKind.OMNI_PATH),
        ("OmniPath", NetworkKind.OMNI_PATH),
        ("Quadrics Elan3", NetworkKind.OTHER),
        ("infinband", NetworkKind.OTHER),
        ("crocest", NetworkKind.OTHER),
    ],
)
def test_kinds(text: str | None, kind: NetworkKind) -> None:
    assert find_kind(text) is kind


def test_roles_by_name() -> None:
    assert [infer_role(name) for name in ("mgmt", "ipmi-lan", "oob1")] == [NetworkRole.MANAGEMENT] * 3
    assert [infer_role(name) for name in ("storage", "san_a")] == [NetworkRole.STORAGE] * 2
    assert [infer_role(name) for name in ("ib", "data", "admin", "sand", "eth")] == [NetworkRole.DATA] * 5


def test_generations_called_by_their_signals() -> None:
    assert all(is_called_by_signals(f"Infiniband {name}") for name in ("SDR", "DDR", "QDR", "FDR10", "FDR-10", "FDR"))
    assert not any(is_called_by_signals(text) for text in (None, "Infiniband", "InfiniBand EDR", "InfiniBand HDR"))
