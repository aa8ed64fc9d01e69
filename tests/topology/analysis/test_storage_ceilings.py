"""Ceilings of storage systems: each layer, what unequal servers and copies do, and what contradicts."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchconsole.topology.analysis.static_finding import Severity, StaticFinding
from benchconsole.topology.analysis.storage_ceilings import Ceiling, Origin, compute_ceilings, list_findings
from benchconsole.topology.model.fabric import Fabric
from tests.fabrics import fabric

WIRE = 1448 / 1538  # of MTU 1500

SMALL = """\
schema: 1
fabric: small
switches:
  spine1: {{role: spine}}
  leaf[1-2]: {{role: leaf}}
nodes:
  c[1-8]: {{}}
  s[1-2]: {{role: storage}}
  loose: {{}}
links:
  - {{from: "c[1-4]", to: leaf1, speed: 10 Gb/s}}
  - {{from: "c[5-8]", to: leaf2, speed: 10 Gb/s}}
  - {{from: "leaf[1-2]", to: spine1, speed: 10 Gb/s, count: 2}}
  - {{from: s1, to: spine1, speed: {first}}}
  - {{from: s2, to: spine1, speed: {second}}}
storage:
  disk:
    servers: "s[1-2]"
    clients: {{all: {{nodes: "c[1-8]"{clients}}}}}
    {more}
"""


def small(
    folder: Path, *, first: str = "25 Gb/s", second: str = "25 Gb/s", clients: str = "", more: str = ""
) -> Fabric:
    return fabric(folder, SMALL.format(first=first, second=second, clients=clients, more=more))


def ceiling(described: Fabric, operation: str = "write") -> Ceiling:
    return compute_ceilings(described)[0].of(operation)


def rates(found: Ceiling) -> dict[str, float]:
    return {part.name: part.rate for part in found.parts}


def said(described: Fabric) -> dict[str, StaticFinding]:
    return {finding.code: finding for finding in list_findings(compute_ceilings(described))}


def test_layers_of_the_cabling(tmp_path: Path) -> None:
    found = ceiling(small(tmp_path))
    assert rates(found) == pytest.approx(
        {"client ports": 10e9 * WIRE, "leaf to spine links": 5e9 * WIRE, "server ports": 6.25e9 * WIRE}
    )
    assert found.limiting is not None
    assert found.second is not None
    assert (found.limiting.name, found.second.name) == ("leaf to spine links", "server ports")
    assert (found.limiting.origin, found.limiting.model) == (Origin.COMPUTED, "fluid")
    assert found.value == pytest.approx(5e9 * WIRE)
    assert found.required == pytest.approx(3e9 * WIRE)
    assert found.target == pytest.approx(4e9 * WIRE)


def test_layers_below_the_servers(tmp_path: Path) -> None:
    more = "layers: [{name: FC port, units: 2, write: 400 MB/s, read: 800 MB/s}, {name: controller, rate: 1 GB/s}]"
    described = small(tmp_path, more=more)
    assert (ceiling(described, "write").value, ceiling(described, "read").value) == (0.8e9, 1e9)
    read = ceiling(described, "read")
    assert read.limiting is not None
    assert (read.limiting.name, read.limiting.origin) == ("controller", Origin.DECLARED)
    assert read.disk == 1e9
    assert read.network == pytest.approx(5e9 * WIRE)


def test_uneven_servers_add_up_unless_striped(tmp_path: Path) -> None:
    own = rates(ceiling(small(tmp_path, first="10 Gb/s")))
    assert own["server ports"] == pytest.approx(35e9 / 8 * WIRE)
    striped = rates(ceiling(small(tmp_path, first="10 Gb/s", more="striped: true")))
    assert striped["server ports"] == pytest.approx(20e9 / 8 * WIRE)


def test_each_server_as_fast_as_its_slowest_part(tmp_path: Path) -> None:
    layers = "layers: [{name: port, units: 2, rate: 800 MB/s}]"
    found = ceiling(small(tmp_path, first="1 Gb/s", more=layers))
    assert found.limiting is not None
    assert found.limiting.name == "servers one by one"
    assert found.value == pytest.approx(125e6 * WIRE + 800e6)
    striped = ceiling(small(tmp_path, first="1 Gb/s", more=f"{layers}\n    striped: true"))
    assert striped.value == pytest.approx(2 * 125e6 * WIRE)


def test_copies_divide_what_is_written_only(tmp_path: Path) -> None:
    more = "replicas: 3\n    interconnect: {pingpong: 3 GB/s}\n    layers: [{name: disk, units: 12, rate: 300 MB/s}]"
    described = small(tmp_path, more=more)
    read, write = rates(ceiling(described, "read")), rates(ceiling(described, "write"))
    assert write["disk"] == pytest.approx(read["disk"] / 3) == pytest.approx(1.2e9)
    assert write["server ports"] == pytest.approx(read["server ports"] / 3)
    assert write["interconnect"] == pytest.approx(read["interconnect"] / 3) == pytest.approx(2e9)
    assert write["client ports"] == pytest.approx(read["client ports"])
    assert write["leaf to spine links"] == pytest.approx(read["leaf to spine links"])


def test_a_measured_network_that_is_lower_bounds(tmp_path: Path) -> None:
    found = ceiling(small(tmp_path, clients=", network: {write: 3 GB/s}"))
    assert found.limiting is not None
    assert (found.value, found.limiting.origin) == (3e9, Origin.MEASURED)


def test_a_network_measured_above_its_cables_contradicts(tmp_path: Path) -> None:
    described = small(tmp_path, clients=", network: {write: 4.8 GB/s, read: 4.7 GB/s}")
    assert ceiling(described, "write").value == pytest.approx(5e9 * WIRE)
    found = [
        finding for finding in list_findings(compute_ceilings(described)) if finding.code == "storage-network-above"
    ]
    assert [(finding.severity, finding.where) for finding in found] == [(Severity.ERROR, "disk")]
    assert "disk all write: measured 4.80 GB/s" in found[0].text
    assert "leaf to spine links carry 4.71 GB/s" in found[0].text


def test_a_stated_ceiling_above_the_layers(tmp_path: Path) -> None:
    clients = ", network: {write: 3 GB/s}, stated: {write: 3.2 GB/s, read: 4.7 GB/s}, source: the offer"
    found = said(small(tmp_path, clients=clients))
    assert found["storage-stated-above"].severity is Severity.ERROR
    assert found["storage-stated-above"].text == (
        "disk all write: stated 3.20 GB/s (the offer), the smallest layer allows 3.00 GB/s, limited by network (measured);"
        " after it come 4.71 GB/s of leaf to spine links"
    )
    assert "storage-stated-below" not in found  # 4.7 differs from 4.707 by rounding only


def test_a_stated_ceiling_below_the_layers_is_a_note(tmp_path: Path) -> None:
    found = said(small(tmp_path, clients=", stated: {read: 2 GB/s}"))
    assert found["storage-stated-below"].severity is Severity.NOTE


def test_what_is_not_cabled_makes_the_path_unknown(tmp_path: Path) -> None:
    described = small(tmp_path, clients="", more="layers: [{name: port, units: 2, rate: 400 MB/s}]")
    text = described.text.replace('nodes: "c[1-8]"', 'nodes: "c[1-8],loose"')
    described = fabric(tmp_path, text)
    found = ceiling(described)
    assert rates(found) == pytest.approx({"server ports": 6.25e9 * WIRE, "port": 0.8e9})
    assert [(each.name, each.why) for each in found.missing] == [
        ("clients to servers", "loose not described as cabled")
    ]
    assert "loose not described as cabled" in said(described)["storage-layer-unknown"].text


def test_nothing_known_is_no_ceiling(tmp_path: Path) -> None:
    text = "schema: 1\nfabric: x\nnodes: {n: {}}\nstorage: {st1: {protocol: NFS 3}}\n"
    described = fabric(tmp_path, text)
    found = ceiling(described)
    assert (found.value, found.required, found.target, found.limiting, found.second) == (None,) * 5
    note = said(described)["storage-ceiling-unknown"]
    assert note.severity is Severity.NOTE
    assert note.text == (
        "st1: the ceiling for read and write is unknown: no clients and no servers described;"
        " nothing described below the servers"
    )


def test_without_servers_what_they_reach_is_unknown(tmp_path: Path) -> None:
    system = "{interconnect: {pingpong: 1 GB/s}, layers: [{name: disk, units: 4, rate: 200 MB/s}]}"
    found = ceiling(fabric(tmp_path, f"schema: 1\nfabric: x\nnodes: {{n: {{}}}}\nstorage: {{st1: {system}}}\n"))
    assert rates(found) == {"disk": 0.8e9}
    assert [each.name for each in found.missing] == ["clients to servers", "interconnect"]


def test_a_rate_of_one_operation_only(tmp_path: Path) -> None:
    described = small(tmp_path, more="layers: [{name: port, units: 2, write: 400 MB/s}]")
    assert [each.why for each in ceiling(described, "read").missing] == ["read rate of port"]
    assert ceiling(described, "read").value == pytest.approx(5e9 * WIRE)


GATEWAYS = """\
schema: 1
fabric: gateways
networks: {{elan: {{goodput: 90 %}}}}
switches: {{elan: {{}}, gige: {{role: core}}}}
nodes:
  c[1-8]: {{}}
  g[1-2]: {{role: gateway, forwards: {forwards}}}
  s[1-4]: {{role: storage}}
links:
  - {{from: "c[1-8],g[1-2]", to: elan, speed: 3.2 Gb/s, network: elan}}
  - {{from: "g[1-2],s[1-4]", to: gige, speed: 1 Gb/s}}
storage: {{disk: {{servers: "s[1-4]", clients: {{all: {{nodes: "c[1-8]", gateways: "g[1-2]"}}}}}}}}
"""


def test_gateways_limit(tmp_path: Path) -> None:
    found = ceiling(fabric(tmp_path, GATEWAYS.format(forwards="true")))
    assert rates(found) == pytest.approx(
        {"client ports": 8 * 400e6 * 0.9, "gateways": 2 * 125e6 * WIRE, "server ports": 4 * 125e6 * WIRE}
    )
    assert found.limiting is not None
    assert found.limiting.name == "gateways"


def test_gateways_that_do_not_forward_leave_no_path(tmp_path: Path) -> None:
    found = ceiling(fabric(tmp_path, GATEWAYS.format(forwards="false")))
    assert list(rates(found)) == ["server ports"]
    assert found.missing[0].name == "clients to servers"
    assert "no path" in found.missing[0].why


def test_gateways_that_paths_avoid_are_unknown(tmp_path: Path) -> None:
    found = ceiling(small(tmp_path, clients=", gateways: loose"))
    assert [each.name for each in found.missing] == ["gateways", "disks"]


ONBOARD = """\
schema: 1
fabric: onboard
switches: {{leaf1: {{}}}}
nodes: {{"h[1-3]": {{}}, "vm[1-6]": {{host: "h[1-3]"}}, "sv[1-3]": {{host: "h[1-3]", role: storage}}}}
links: [{{from: "h[1-3]", to: leaf1, speed: 10 Gb/s}}]
storage: {{disk: {{servers: "{servers}", striped: {striped}, clients: {{on: {{nodes: "{clients}"}}}}}}}}
"""


@pytest.mark.parametrize("striped", ["true", "false"])
def test_what_stays_on_board_comes_on_top(tmp_path: Path, striped: str) -> None:
    described = fabric(tmp_path, ONBOARD.format(servers="sv[1-3]", clients="vm[1-6]", striped=striped))
    assert rates(ceiling(described)) == pytest.approx({"server ports": 3 * 1.25e9 * WIRE * 3 / 2})


def test_nothing_crosses_a_cable(tmp_path: Path) -> None:
    described = fabric(tmp_path, ONBOARD.format(servers="sv1", clients="vm[1-2]", striped="false"))
    found = ceiling(described)
    assert found.value is None
    assert found.missing[0].why == "every path stays inside one machine"


def test_virtual_machines_share_the_ports_of_their_host(tmp_path: Path) -> None:
    described = fabric(tmp_path, ONBOARD.format(servers="h3", clients="vm[1-4]", striped="false"))
    assert rates(ceiling(described)) == pytest.approx({"client ports": 2.5e9 * WIRE, "server ports": 1.25e9 * WIRE})


def test_a_split_line_bounds_each_vlan(tmp_path: Path) -> None:
    described = fabric(
        tmp_path,
        "schema: 1\nfabric: far\nswitches: {west: {role: core}, east: {role: core}}\n"
        'nodes: {"c[1-9]": {}, "s[1-9]": {}}\n'
        'links:\n  - {from: "c[1-9]", to: west, speed: 10G}\n  - {from: "s[1-9]", to: east, speed: 10G}\n'
        "  - {from: west, to: east, speed: 40G, channels: {1: 20G, 2: 20G}}\n"
        'vlans: {1: {members: "c[1-8],s[1-8]"}, 2: {members: "c9,s9"}}\n'
        'storage: {a: {servers: "s[1-8]", clients: {x: {nodes: "c[1-8]"}}}}\n',
    )
    assert rates(ceiling(described))["core to core links"] == pytest.approx(20e9 / 8 * WIRE)


def test_required_and_target_are_shares_of_the_ceiling(tmp_path: Path) -> None:
    found = ceiling(small(tmp_path, more="layers: [{name: disk, rate: 1 GB/s}]"))
    assert (found.value, found.required, found.target) == pytest.approx((1e9, 0.6e9, 0.8e9))


LAYER = st.tuples(st.integers(1, 20), st.integers(10, 5000))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LAYER, max_size=3), LAYER, st.booleans())
def test_a_further_layer_never_raises_a_ceiling(
    tmp_path: Path, layers: list[tuple[int, int]], further: tuple[int, int], striped: bool
) -> None:
    values = []
    for chosen in (layers, [*layers, further]):
        written = ", ".join(
            f"{{name: l{i}, units: {units}, rate: {rate} MB/s}}" for i, (units, rate) in enumerate(chosen)
        )
        more = f"layers: [{written}]\n    striped: {str(striped).lower()}"
        values.append(ceiling(small(tmp_path, first="10 Gb/s", more=more)).value or 0.0)
    assert values[1] <= values[0] * (1 + 1e-9)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 6), LAYER, st.booleans())
def test_a_further_copy_never_raises_what_can_be_written(
    tmp_path: Path, copies: int, layer: tuple[int, int], striped: bool
) -> None:
    found = []
    for number in (copies, copies + 1):
        more = (
            f"replicas: {number}\n    striped: {str(striped).lower()}\n"
            f"    layers: [{{name: disk, units: {layer[0]}, rate: {layer[1]} MB/s}}]"
        )
        described = small(tmp_path, first="10 Gb/s", more=more)
        found.append((ceiling(described, "write").value or 0.0, ceiling(described, "read").value or 0.0))
    assert found[1][0] <= found[0][0] * (1 + 1e-9)
    assert found[1][1] == pytest.approx(found[0][1])
