"""The diagram of a fabric: all of a small one, the outline of a large one, in groups that hold it wholly."""

from pathlib import Path

import pytest

from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.exporters import EXPORTERS, ExportError, find_exporter
from benchconsole.topology.exporters.diagram import MOST_EDGES, make_diagram, replace_unprintable
from benchconsole.topology.model.fabric import Fabric
from tests.fabrics import SMALL, fabric
from tests.topology.exporters.hostile import TEXTS, hostile, large


def _star(nodes: int) -> Fabric:
    text = f"schema: 1\nfabric: star\nswitches: {{sw: {{role: leaf}}}}\nnodes: {{'n[1-{nodes}]': {{}}}}\n"
    return load_text(text + f"links: [{{from: 'n[1-{nodes}]', to: sw, speed: 10 Gb/s}}]\n", "star.yaml")


def test_up_to_200_edges_every_device_is_drawn() -> None:
    drawn = make_diagram(_star(MOST_EDGES))
    assert (drawn.folded, len(drawn.outline.boxes)) == (False, MOST_EDGES + 1)
    drawn = make_diagram(_star(MOST_EDGES + 1))
    assert (drawn.folded, [drawn.label(box)[0] for box in drawn.outline.boxes]) == (True, ["sw", "n[1-201] x 201"])


def test_many_devices_without_a_cable_are_folded_too() -> None:
    drawn = make_diagram(load_text("schema: 1\nfabric: bare\nnodes: {'n[1-500]': {}}\nlinks: []\n", "bare.yaml"))
    assert [drawn.label(box) for box in drawn.outline.boxes] == [["n[1-500] x 500", "compute nodes", "no cable"]]


def test_labels_of_a_small_fabric_are_short(tmp_path: Path) -> None:
    drawn = make_diagram(fabric(tmp_path, SMALL))
    assert drawn.label(drawn.outline.boxes[0]) == ["spine1", "spine switch"]
    assert ["2 x 10 Gb/s LAG"] in [drawn.words(edge) for edge in drawn.edges()]


def test_a_box_is_in_the_groups_that_hold_all_of_it() -> None:
    drawn = make_diagram(large())
    within = {box.name: [cluster.label for cluster in drawn.paths[box.id]] for box in drawn.outline.boxes}
    assert within == {
        "spine": [],
        "leaf1": ["site west"],
        "leaf2": ["site east"],
        "a[001-120]": ["site west"],
        "b[001-118]": ["site east"],
    }
    assert all(f"site {side}" not in drawn.label(box) for box in drawn.outline.boxes for side in ("west", "east"))


def test_racks_stand_in_sites_and_storage_where_its_servers_are(tmp_path: Path) -> None:
    text = SMALL + (
        'sites: {here: {members: "n[1-4],leaf1,st[1-2]"}}\nracks: {r1: {members: "n[1-4],leaf1"}, r2: {members: st1}}\n'
        "storage: {fs: {servers: 'st[1-2]'}, one: {servers: st1}}\n"
    )
    drawn = make_diagram(fabric(tmp_path, text))
    within = {box.name: [cluster.label for cluster in drawn.paths[box.id]] for box in drawn.outline.boxes}
    assert within["n1"] == ["site here", "rack r1"]
    assert within["st2"] == within["fs"] == ["site here"]
    assert within["one"] == ["site here", "rack r2"]
    assert within["n5"] == []


def test_what_does_not_print_is_replaced() -> None:
    assert replace_unprintable("a\nb\x1b[0m\u202ec\ud800 é 名") == "a�b�[0m�c� é 名"
    assert not all(text == replace_unprintable(text) for text in TEXTS)


@pytest.mark.parametrize("name", ["dot", "mermaid", "d2"])
def test_the_same_fabric_is_the_same_text(name: str) -> None:
    export = find_exporter(name)
    assert export(hostile()) == export(hostile())
    assert export(large()).isprintable() is False  # line ends are there, and nothing else that does not print:
    assert all(line.isprintable() for line in export(hostile()).split("\n"))


def test_every_listed_exporter_can_be_loaded_and_others_are_refused(tmp_path: Path) -> None:
    small = fabric(tmp_path, SMALL)
    assert all("leaf1" in find_exporter(name)(small) for name in EXPORTERS)
    with pytest.raises(ExportError, match=r"unknown format 'mermiad', .*did you mean mermaid\?"):
        find_exporter("mermiad")
