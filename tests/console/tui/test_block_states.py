"""States of blocks: what is counted once and added to is what a count from nothing gives."""

from collections import Counter
from collections.abc import Mapping

from benchconsole.console.tui.fabric_map.blocks import BlockStates, blocks_of
from benchconsole.console.tui.fabric_map.map_cells import MapPicture
from benchconsole.console.tui.fabric_map.shape import read_shape
from benchconsole.console.tui.queries import view_queries
from benchconsole.console.view.reducer import advance_all
from benchconsole.console.view.run_view import RunView, State
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from tests.console.tui.looking import large

HEADED = (State.FAIL, State.UNREACHABLE, State.RUNNING)


def count_anew(picture: MapPicture, nodes: list[NodeId]) -> Mapping[State, int]:
    seen = (picture.view.nodes[node] for node in nodes)
    found = Counter(view_queries.find_shown_state(each, picture.busy) for each in seen)
    return {state: found[state] for state in HEADED}


def test_counts_are_those_of_a_count_from_nothing() -> None:
    story = large()
    begun = advance_all(RunView(story.fabric), [next(iter(story.events()))])
    judged = advance_all(RunView(story.fabric), story.events())
    name, seen = next(iter(judged.nodes.items()))
    lost = replace(judged, nodes={**judged.nodes, name: replace(seen, state=State.UNREACHABLE)})
    every = sorted(story.fabric.nodes)
    band = blocks_of(read_shape(story.fabric))
    members = [[node for rack in block.racks for node in rack.nodes] for block in band]
    states = BlockStates(band)
    told = set()
    for view in (begun, judged, lost, begun):
        for busy in (frozenset(), frozenset(every[::3]), frozenset(every[:700]), frozenset(every), frozenset({"gone"})):
            picture = MapPicture(view, busy=busy)  # type: ignore[arg-type]
            counts = states.count(picture)
            assert [{state: each[state] for state in HEADED} for each in counts] == [
                count_anew(picture, nodes) for nodes in members
            ]
            told |= {state for each in counts for state in HEADED if each[state]}
    assert told == {*HEADED}
