"""The options of ``show --area``, and the area that they ask for; its modules are imported when it is read."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchconsole.console.cli import common
from benchconsole.console.exits import BadInput
from benchconsole.topology.copying import replace

if TYPE_CHECKING:
    from benchconsole.console.tui.fabric_map.map_section import MapSection
    from benchconsole.console.tui.queries.area import Area
    from benchconsole.console.view.run_view import RunView
    from benchconsole.store.store import Store
    from benchconsole.topology.model.fabric import Fabric

AREAS = (
    "fabric", "nodes", "node", "links", "findings", "rounds", "pairs", "results", "curves", "criteria", "plot", "run",
    "suites", "probes", "logs", "sessions", "compare", "history", "filters",
)  # fmt: skip

_NAMED = 12
"""Names that are told in place of one that is none."""


@dataclass(frozen=True, slots=True)
class AreaWish:
    """The options of the command for an area; None where nothing was said."""

    other: str | None = None
    by: str | None = None
    node: str | None = None
    peer: str | None = None
    metric: str | None = None
    heat: str | None = None
    zoom: str | None = None
    columns: tuple[str, ...] | None = None


_TAKEN_BY: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "other": ("--with", ("compare",)), "by": ("--by", ("compare",)), "node": ("--node", ("node", "history")),
    "peer": ("--peer", ("node",)),
    "metric": ("--metric", ("plot", "history")), "heat": ("--heat", ("fabric",)), "zoom": ("--zoom", ("fabric",)),
    "columns": ("--columns", ("nodes",)),
}  # fmt: skip
"""The option of each wish, and the areas that take it."""


def require_fitting(area: str | None, wish: AreaWish) -> None:
    """BadInput for an option that the area does not take, and for one that is lacking; ``area`` is None for none."""
    for name, (option, areas) in _TAKEN_BY.items():
        if getattr(wish, name) is not None and area not in areas:
            raise BadInput(f"benchconsole: {option} needs --area {' or '.join(areas)}")
    lacks = {
        "compare": ("--with OTHER or --by GROUPING", (wish.other is None) is (wish.by is None)),
        "node": ("--node NODE", wish.node is None),
        "history": ("--node NODE or --metric METRIC", (wish.node is None) is (wish.metric is None)),
        "nodes": ("names of columns with --columns, such as kernel,memory", wish.columns == ()),
    }  # fmt: skip
    words, is_lacking = lacks.get(area or "", ("", False))
    if is_lacking:
        raise BadInput(f"benchconsole: --area {area} takes {words}")


def read_area(store: "Store", session: str, area: str, wish: AreaWish) -> "Area":
    """An area of one session, of all of the database, or of two sessions.

    BadInput for sessions that cannot be compared, and for what is not there.
    """
    if area == "sessions":
        return _list_sessions(store, session)
    if area == "compare":
        return _compare(store, session, wish)
    if area == "history":
        return _read_history(store, session, wish)
    probes = common.load_installed_probes()
    view = common.read_stored_view(store, session, probes)
    if area in _READERS:
        return _READERS[area](view, wish)
    from benchconsole.console.tui.queries import areas

    return areas.OF_PROBES[area](view, probes) if area in areas.OF_PROBES else areas.AREAS[area](view)


def list_filters() -> "Area":
    """The filters that the user keeps, for which no database is opened."""
    from benchconsole.console.session.saved_filters import SavedFilters
    from benchconsole.console.tui.queries.saved_filter_area import list_saved_filters

    return list_saved_filters(SavedFilters().read())


def _list_sessions(store: "Store", session: str) -> "Area":
    from benchconsole.console.session.listed_sessions import join_measures, list_newest_first, measure_sessions
    from benchconsole.console.tui.queries.session_area import list_session_rows

    listed = join_measures(list_newest_first(store), measure_sessions(store))
    return list_session_rows(listed, store.find_session(session) if listed else "", time.time())


def _compare(store: "Store", session: str, wish: AreaWish) -> "Area":
    from benchconsole.console.conclusions.session_comparison import ComparisonChoice
    from benchconsole.console.session.stored_comparison import (
        ComparisonError,
        compare_in_order,
        compare_session_parts,
        list_senses,
    )
    from benchconsole.console.tui.queries.comparison_area import list_compared

    probes = common.load_installed_probes()
    try:
        if wish.by is None:
            return list_compared(compare_in_order(store, wish.other or "", session, probes))
        choice = ComparisonChoice(list_senses(probes))
        return list_compared(compare_session_parts(store, session, wish.by, probes, choice))
    except ComparisonError as error:
        raise BadInput(f"benchconsole: {'' if wish.by is None else '--'}{error}") from None


def _read_history(store: "Store", session: str, wish: AreaWish) -> "Area":
    """The numbers of a node, or of a metric, over the last sessions of the fabric of this one."""
    from benchconsole.console.session.stored_fabric import describe_fabric
    from benchconsole.console.session.stored_history import read_metric_history, read_node_history
    from benchconsole.console.tui.queries.history_area import list_histories

    new = store.session(store.find_session(session)).describe().new
    if wish.node is not None:
        _require_node(describe_fabric(new), wish.node)
        history = read_node_history(store, new.fabric, wish.node, simulated=new.simulated)
    else:
        history = read_metric_history(store, new.fabric, wish.metric or "", simulated=new.simulated)
        if not history.numbers:
            raise BadInput(f"benchconsole: --metric {wish.metric}: no session of {new.fabric} has a number of it")
    area = list_histories(history, wish.node or wish.metric or "")
    # Its sessions stand in the title: the screen has them elsewhere.
    return replace(area, title=f"{area.title}, {area.note}; changes are shown, not judged", note="")


# -- of one session


def _read_nodes(view: "RunView", wish: AreaWish) -> "Area":
    from benchconsole.console.tui.queries.areas import list_nodes
    from benchconsole.console.tui.queries.column_reader import ChoiceError

    try:
        return list_nodes(view, wish.columns or ())
    except ChoiceError as error:
        raise BadInput(f"benchconsole: --columns: {error}") from None


def _read_node(view: "RunView", wish: AreaWish) -> "Area":
    from benchconsole.console.tui.queries.node_area import list_node
    from benchconsole.console.tui.queries.node_path import find_node_path, list_pair_tests
    from benchconsole.console.view.run_view import NodeView
    from benchconsole.topology.model.fabric import NodeId

    node = NodeId(wish.node or "")
    _require_node(view.fabric, node)
    tests = list_pair_tests(view, view.nodes.get(node) or NodeView(view.fabric.nodes[node]))
    if wish.peer is not None and wish.peer not in tests:
        raise BadInput(f"benchconsole: --peer {wish.peer}: no test of {node} with it, expected one of {_name(tests)}")
    test = tests[wish.peer] if wish.peer is not None else next(iter(tests.values()), None)
    return list_node(view, node, None if test is None else find_node_path(view, test))


def _read_plot(view: "RunView", wish: AreaWish) -> "Area":
    from benchconsole.console.tui.queries.plot_area import list_plotted

    area = list_plotted(view, wish.metric or "")
    known = {str(row.record["metric"]) for row in list_plotted(view).rows} if wish.metric and not area.rows else set()
    if known and wish.metric:
        hint = _guess(wish.metric, known)
        raise BadInput(f"benchconsole: --metric {wish.metric}: fewer than two values were measured of it{hint}")
    return area


def _read_fabric(view: "RunView", wish: AreaWish) -> "Area":
    from benchconsole.console.tui.fabric_map.fabric_area import list_fabric
    from benchconsole.console.tui.queries.heat_choices import HeatChoiceError, find_heat_choice, list_heat_choices
    from benchconsole.console.tui.queries.heat_reading import HeatReader

    section = None if wish.zoom is None else _find_section(view.fabric, wish.zoom)
    if wish.heat is None:
        return list_fabric(view, section)
    try:
        choice = find_heat_choice(list_heat_choices(view), wish.heat)
    except HeatChoiceError as error:
        raise BadInput(f"benchconsole: --heat: {error}") from None
    probes = common.load_installed_probes()
    metrics = {metric.name: metric for probe in probes.values() for metric in probe.metrics}
    return list_fabric(view, section, HeatReader(choice, metrics).read(view))


def _find_section(fabric: "Fabric", name: str) -> "MapSection":
    from benchconsole.console.tui.fabric_map.map_section import list_named_sections
    from benchconsole.console.tui.fabric_map.shape import read_shape

    sections = list_named_sections(fabric, read_shape(fabric))
    if name not in sections:
        hint = _guess(name, sections) or f", expected one of {_name(sections)}"
        raise BadInput(f"benchconsole: --zoom {name}: no part of {fabric.name} is called so{hint}")
    return sections[name]


def _read_run(view: "RunView", _wish: AreaWish) -> "Area":
    from benchconsole.console.tui.screens.run_area import list_run

    return list_run(view, time.time())


_READERS: Mapping[str, Callable[["RunView", AreaWish], "Area"]] = {
    "nodes": _read_nodes, "node": _read_node, "plot": _read_plot, "fabric": _read_fabric, "run": _read_run,
}  # fmt: skip
"""Areas of one session that a wish changes, or that have a page of their own."""


# -- names that are none


def _require_node(fabric: "Fabric", name: str) -> None:
    """BadInput for a name that no node has."""
    if name not in fabric.nodes:
        hint = _guess(name, fabric.nodes)
        raise BadInput(f"benchconsole: --node {name}: no node of {fabric.name} is called so{hint}")


def _guess(name: str, known: Iterable[str]) -> str:
    """A hint at the name that may have been meant; empty where nothing is like it."""
    from benchconsole.topology.errors import find_near

    near = find_near(name, known)
    return f", did you mean {near}?" if near else ""


def _name(known: Iterable[str]) -> str:
    """The names that there are, and how many more."""
    from benchconsole.console.tui.queries.view_queries import format_names

    return format_names(known, _NAMED) or "none"
