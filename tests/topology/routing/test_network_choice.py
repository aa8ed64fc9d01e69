"""Which network a flow takes: by what it is for and what is described, never by hops or by what is down."""

from pathlib import Path

import pytest

from benchconsole.topology import load
from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Fabric, Flow, LinkId, NodeId
from benchconsole.topology.model.failed_elements import remove_elements
from benchconsole.topology.model.network import NetworkRole
from benchconsole.topology.routing.network_choice import NetworkChoice

# n1 and n2 are far apart on the fabric (3 switches) and next to each other on the two others (1 switch).
TEXT = """\
schema: 1
fabric: several
networks:
  ib: {goodput: 100 %}
  mgmt: {goodput: 100 %}
  san: {goodput: 100 %}
MORE
switches: {"leaf[1-2]": {role: leaf}, spine: {role: spine}, msw: {role: leaf}, ssw: {role: leaf}, esw: {role: leaf}}
nodes: {n1: {}, n2: {}, "st[1-2]": {role: storage}, adm: {role: management}, e1: {}, alone: {}}
links:
  - {from: n1, to: leaf1, speed: 200G, network: ib}
  - {from: "n2,st1", to: leaf2, speed: 200G, network: ib}
  - {from: "leaf[1-2]", to: spine, speed: 800G, network: ib}
  - {from: "n1,n2,st1,adm,e1", to: msw, speed: 1G, network: mgmt}
  - {from: "n1,n2,st[1-2]", to: ssw, speed: 25G, network: san}
  - {from: "e1", to: esw, speed: 10G}
"""
GBPS = 1e9 / 8


def fabric(folder: Path, more: str = "", text: str = TEXT) -> Fabric:
    path = folder / "several.yaml"
    path.write_text(text.replace("MORE\n", more))
    return load(path)


def rate(described: Fabric, source: str, sink: str, *, model: Model = Model.FLUID, **kinds: object) -> float:
    flow = Flow(NodeId(source), NodeId(sink), **kinds)  # type: ignore[arg-type]
    return round(expect(described, [flow], model=model)[0].value / GBPS, 6)


@pytest.mark.parametrize("model", [Model.FLUID, Model.HASH, Model.POLARISED, Model.STEERED])
def test_a_flow_takes_the_data_network_whatever_is_shorter(tmp_path: Path, model: Model) -> None:
    described = fabric(tmp_path)
    assert rate(described, "n1", "n2", model=model) == 200
    assert rate(described, "n1", "n2", model=model, network="mgmt") == 1
    assert rate(described, "n1", "n2", model=model, network="san") == 25


def test_roles_decide(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    assert rate(described, "n1", "st1", role=NetworkRole.STORAGE) == 25
    assert rate(described, "n1", "st1") == 200
    assert rate(described, "n1", "st2") == 25  # they have no data network in common, and one for storage
    assert rate(described, "n1", "adm", role=NetworkRole.MANAGEMENT) == 1


def test_nothing_falls_back(tmp_path: Path) -> None:
    """A switch that is down does not change the network that a flow is meant for."""
    described = fabric(tmp_path)
    for down in ("leaf1", "leaf2"):
        hurt = remove_elements(described, switches=[down])
        with pytest.raises(RoutingError, match=r"n[12] has no way into the network ib: no cable of it there is up"):
            rate(hurt, "n1", "n2")
        assert rate(hurt, "n1", "n2", network="mgmt") == 1
    apart = remove_elements(described, switches=["spine"])
    with pytest.raises(RoutingError, match="no path from n1 to n2 over the network ib"):
        rate(apart, "n1", "n2")
    twice = remove_elements(remove_elements(described, switches=["spine"]), switches=["leaf1"])
    with pytest.raises(RoutingError, match="n1 has no way into the network ib"):
        rate(twice, "n1", "n2")
    with pytest.raises(RoutingError, match="n1 has no way into the network ib"):
        rate(remove_elements(described, links=["n1--leaf1"]), "n1", "n2")


@pytest.mark.parametrize(
    ("ends", "network", "sentence"),
    [
        (("n1", "adm"), "", "n1 and adm have only the management network mgmt in common: name it to send over it"),
        (("n1", "e1"), "", "n1 and e1 have only the management network mgmt in common"),
        (("n1", "adm"), "ib", "adm is not in the network ib: it is in the network mgmt"),
        (("n1", "n2"), "imb", "unknown network 'imb', expected one of data, ib, mgmt, san; did you mean ib?"),
        (("st2", "e1"), "", "no path from st2 to e1: they have no network in common, and nothing joins theirs"),
        (("alone", "n1"), "", "alone is not cabled to anything"),
        (("alone", "n1"), "ib", "alone is not in the network ib: it is not cabled to anything"),
    ],
)
def test_what_is_refused(tmp_path: Path, ends: tuple[str, str], network: str, sentence: str) -> None:
    with pytest.raises(RoutingError) as error:
        rate(fabric(tmp_path), *ends, network=network)
    assert sentence in str(error.value)


def test_two_data_networks_are_told_apart_by_name_only(tmp_path: Path) -> None:
    described = fabric(tmp_path, text=TEXT.replace("  san:", "  eth:").replace("network: san", "network: eth"))
    with pytest.raises(RoutingError, match="n1 and n2 have the data networks eth and ib in common: say which one"):
        rate(described, "n1", "n2")
    assert (rate(described, "n1", "n2", network="ib"), rate(described, "n1", "n2", network="eth")) == (200, 25)
    assert rate(described, "n1", "st2") == 25
    assert rate(described, "n1", "n2", leg=LinkId("n1--ssw")) == 25


def test_the_network_of_links_without_one_comes_first(tmp_path: Path) -> None:
    text = TEXT.replace("  san: {goodput: 100 %}\n", "").replace(", network: san", "")
    described = fabric(tmp_path, "network: {goodput: 100 %}\n", text)
    assert rate(described, "n1", "n2") == 25
    other = fabric(tmp_path, "network: {goodput: 100 %, role: storage}\n", text)
    assert rate(other, "n1", "n2") == 200


def test_what_joins_two_networks_carries_between_them(tmp_path: Path) -> None:
    """A switch with cables of two kinds, and a gateway; never one that is for management."""
    text = """\
schema: 1
fabric: joined
networks: {ddr: {goodput: 100 %}, qdr: {goodput: 100 %}, elan: {goodput: 100 %}, mgmt: {goodput: 100 %}}
switches: {ib: {}, old: {}, msw: {}}
nodes: {a: {}, b: {}, c: {}, gw: {role: gateway, forwards: true}}
links:
  - {from: a, to: ib, speed: 20G, network: ddr}
  - {from: "b,gw", to: ib, speed: 40G, network: qdr}
  - {from: "c,gw", to: old, speed: 3G, network: elan}
  - {from: "a,b,c,gw", to: msw, speed: 1G, network: mgmt}
"""
    described = fabric(tmp_path, text=text)
    assert [rate(described, *ends) for ends in (("a", "b"), ("a", "gw"), ("c", "gw"), ("c", "a"))] == [20, 20, 3, 3]
    with pytest.raises(RoutingError, match="no path from c to a"):
        rate(remove_elements(described, nodes=["gw"]), "c", "a")
    assert NetworkChoice(described).list_common(NodeId("a"), NodeId("b")) == ("mgmt",)


def test_order_and_names_decide_nothing(tmp_path: Path) -> None:
    head, links = TEXT.split("links:\n")
    turned = head + "links:\n" + "".join(reversed(links.splitlines(keepends=True)))
    renamed = (
        TEXT.replace("ib", "zz")
        .replace("msw", "aaa")
        .replace("mgmt:", "mgmt2:")
        .replace("network: mgmt", "network: mgmt2")
    )
    for text in (turned, renamed):
        assert rate(fabric(tmp_path, text=text), "n1", "n2") == 200
