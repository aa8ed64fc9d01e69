"""Prints the summary of a stored session, or an area of the screen."""

import shutil
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchconsole.console.cli import common
from benchconsole.console.exits import BadInput
from benchconsole.topology.collector import pause_collector

if TYPE_CHECKING:
    from benchconsole.console.tui.queries.area import Area
    from benchconsole.console.view.run_view import RunView
    from benchconsole.store.store import Store
    from benchconsole.topology.model.fabric import Fabric

AREAS = (
    "fabric", "nodes", "node", "links", "findings", "rounds", "pairs", "results", "curves", "criteria", "plot", "run",
    "sessions", "compare", "history", "filters",
)  # fmt: skip


@click.command("show")
@click.argument("session", default="last")
@click.option("--area", type=click.Choice(AREAS), help="An area of the screen instead of the summary, whole.")
@click.option("--with", "other", default=None, metavar="OTHER", help="With --area compare: the other session.")
@click.option("--node", "node", default=None, metavar="NODE", help="With --area node or history: the node.")
@click.option("--peer", "peer", default=None, metavar="PEER", help="With --area node: the path to this node.")
@click.option("--metric", "metric", default=None, metavar="METRIC", help="With --area plot or history: the metric.")
@click.option(
    "--heat", "heat", default=None, metavar="NAME", help="With --area fabric: a metric or a fact of each node."
)
@click.option("--zoom", "zoom", default=None, metavar="PART", help="With --area fabric: a site, pod, leaf or chassis.")
@click.option(
    "--columns",
    "columns",
    default="",
    metavar="NAMES",
    help="With --area nodes: metrics, facts that nodes told, or of.peers, as K on the screen has them.",
)
@click.option("--filter", "text", default="", metavar="TEXT", help="With --area: what / takes on the screen.")
@common.db_option
@click.option("--json", "as_json", is_flag=True, help="With --area: as JSON, in base units.")
@click.option("--ascii", "ascii_only", is_flag=True, help="Only ASCII characters.")
@pause_collector()
def command(
    session: str, area: str | None, other: str | None, node: str | None, peer: str | None, metric: str | None,
    heat: str | None, zoom: str | None, columns: str, text: str, db: Path | None, as_json: bool, ascii_only: bool,
) -> None:  # fmt: skip
    """Print the summary of SESSION (id, label, last, last-1; default last).

    With --area what a tab of the console shows, every row of it: `show --area nodes --filter state!=pass`, or with
    other columns: `show --area nodes --columns default,kernel,memory`.
    The area run tells how far it came, what is held back and what releases it, stages, the tests of its last round and
    events.
    The area node tells of one NODE its results, the path of the worst one to another node (or to PEER), and its facts;
    plot tells the values of each metric, or of one METRIC its histogram, quantiles and bounds; sessions lists all of
    the database; compare holds SESSION against OTHER, the one that began first as A; history puts the numbers of a
    NODE, or of one METRIC of all nodes, of the last sessions of the same fabric beside each other; filters lists those
    that you keep. The area fabric prints one PART alone with --zoom (`--zoom leaf3`), and with --heat the sign of each
    node in the heat map of a metric or a fact (`--heat stream.triad`).
    """
    ascii_only = ascii_only or not common.can_show_unicode()
    if (other is None) is (area == "compare"):
        raise BadInput("benchconsole: --area compare takes --with OTHER, and --with needs --area compare")
    if (node is None) is (area == "node") and (node is None or area != "history"):
        raise BadInput("benchconsole: --area node takes --node NODE, and --node needs --area node or history")
    if area == "history" and (node is None) is (metric is None):
        raise BadInput("benchconsole: --area history takes --node NODE or --metric METRIC")
    if peer is not None and area != "node":
        raise BadInput("benchconsole: --peer needs --area node")
    if metric is not None and area not in ("plot", "history"):
        raise BadInput("benchconsole: --metric needs --area plot or history")
    if (heat is not None or zoom is not None) and area != "fabric":
        raise BadInput(f"benchconsole: --{'heat' if heat is not None else 'zoom'} needs --area fabric")
    names = tuple(columns.replace(",", " ").split())
    if columns and (area != "nodes" or not names):
        raise BadInput("benchconsole: --columns takes names of columns such as kernel,memory, and needs --area nodes")
    if area is not None:
        of = (heat, zoom) if area == "fabric" else (other or node, peer or metric)
        _show_area(session, area, of, text, db, names=names, as_json=as_json, ascii_only=ascii_only)
        return
    if text or as_json:
        raise BadInput(
            f"benchconsole: --{'filter' if text else 'json'} without --area, expected one of {', '.join(AREAS)}"
        )
    from benchconsole.console.reports import ReportOptions

    common.make_report(db, session, "text", ReportOptions(ascii=ascii_only))(sys.stdout)


def _show_area(
    session: str,
    name: str,
    of: tuple[str | None, str | None],
    text: str,
    db: Path | None,
    *,
    names: tuple[str, ...],
    as_json: bool,
    ascii_only: bool,
) -> None:
    from benchconsole.console.text.cells import to_ascii
    from benchconsole.console.text.table import format_table
    from benchconsole.console.tui.queries.filtering import FilterError

    if name == "filters":
        whole = _list_filters()
    else:
        with common.open_store(db, create=False) as store:
            whole = _read_nodes(store, session, names) if names else _read_area(store, session, name, *of)
    try:
        area = whole.filter(text, partial(_find_saved, name)) if "@" in text else whole.filter(text)
    except FilterError as error:
        raise BadInput(f"benchconsole: --filter: {error}") from None
    if as_json:
        common.print_json(area.records)
        return
    if not area.rows:
        click.echo(f"{area.title}: none of {len(whole.rows):,}")
        return
    lines = list(format_table(area.table, shutil.get_terminal_size().columns, ascii_only=ascii_only))
    lines += ["", area.note] if area.note else []
    click.echo("\n".join(map(to_ascii, lines) if ascii_only else lines))


def _list_filters() -> "Area":
    from benchconsole.console.session.saved_filters import SavedFilters
    from benchconsole.console.tui.queries.saved_filter_area import list_saved_filters

    return list_saved_filters(SavedFilters().read())


def _find_saved(area: str, name: str) -> str:
    from benchconsole.console.session.saved_filters import SavedFilters

    return SavedFilters().find(area, name)


def _read_area(store: "Store", session: str, name: str, of: str | None, more: str | None) -> "Area":
    """An area of one session, of all of the database, or of two sessions.

    ``of`` is the other session, the node, or what a heat map shows; ``more`` the other end of the path of a node, the
    metric of a plot or history, or the part of the fabric. BadInput for sessions that cannot be compared, and for what
    is not there.
    """
    if name == "sessions":
        from benchconsole.console.session.listed_sessions import join_measures, list_newest_first, measure_sessions
        from benchconsole.console.tui.queries.session_area import list_session_rows

        listed = join_measures(list_newest_first(store), measure_sessions(store))
        return list_session_rows(listed, store.find_session(session) if listed else "", time.time())
    if name == "compare" and of is not None:
        from benchconsole.console.session.stored_comparison import ComparisonError, compare_in_order
        from benchconsole.console.tui.queries.comparison_area import list_compared

        try:
            return list_compared(compare_in_order(store, of, session, common.load_installed_probes()))
        except ComparisonError as error:
            raise BadInput(f"benchconsole: {error}") from None
    if name == "history":
        return _read_history(store, session, of, more)
    view = common.read_stored_view(store, session, common.load_installed_probes())
    if name == "node" and of is not None:
        return _read_node(view, of, more)
    if name == "plot":
        return _read_plot(view, more or "")
    if name == "fabric":
        return _read_fabric(view, of, more)
    if name == "run":
        from benchconsole.console.tui.screens.run_area import list_run

        return list_run(view, time.time())
    from benchconsole.console.tui.queries import areas

    return areas.AREAS[name](view)


def _read_nodes(store: "Store", session: str, names: tuple[str, ...]) -> "Area":
    """The nodes with the columns of these names. BadInput for a name that is none."""
    from benchconsole.console.tui.queries.areas import list_nodes
    from benchconsole.console.tui.queries.column_reader import ChoiceError

    try:
        return list_nodes(common.read_stored_view(store, session, common.load_installed_probes()), names)
    except ChoiceError as error:
        raise BadInput(f"benchconsole: --columns: {error}") from None


def _read_plot(view: "RunView", metric: str) -> "Area":
    from benchconsole.console.tui.queries.plot_area import list_plotted
    from benchconsole.topology.errors import find_near

    area = list_plotted(view, metric)
    known = {str(row.record["metric"]) for row in list_plotted(view).rows} if metric and not area.rows else set()
    if known:
        near = find_near(metric, known)
        hint = f", did you mean {near}?" if near else ""
        raise BadInput(f"benchconsole: --metric {metric}: fewer than two values were measured of it{hint}")
    return area


def _read_fabric(view: "RunView", heat: str | None, zoom: str | None) -> "Area":
    from benchconsole.console.text.sanitize import sanitize
    from benchconsole.console.tui.fabric_map.fabric_area import list_fabric
    from benchconsole.console.tui.fabric_map.map_section import list_named_sections
    from benchconsole.console.tui.fabric_map.shape import read_shape
    from benchconsole.console.tui.queries.heat_choices import HeatChoiceError, find_heat_choice, list_heat_choices
    from benchconsole.console.tui.queries.heat_reading import HeatReader
    from benchconsole.topology.errors import find_near

    section = None
    if zoom is not None:
        sections = list_named_sections(view.fabric, read_shape(view.fabric))
        section = sections.get(zoom)
        if section is None:
            near = find_near(zoom, sections)
            hint = f", did you mean {near}?" if near else f", expected one of {', '.join([*sections][:12])}"
            raise BadInput(sanitize(f"benchconsole: --zoom {zoom}: no part of {view.fabric.name} is called so{hint}"))
    if heat is None:
        return list_fabric(view, section)
    try:
        choice = find_heat_choice(list_heat_choices(view), heat)
    except HeatChoiceError as error:
        raise BadInput(f"benchconsole: --heat: {error}") from None
    probes = common.load_installed_probes()
    metrics = {metric.name: metric for probe in probes.values() for metric in probe.metrics}
    return list_fabric(view, section, HeatReader(choice, metrics).read(view))


def _read_node(view: "RunView", name: str, peer: str | None) -> "Area":
    from benchconsole.console.tui.queries.node_area import list_node
    from benchconsole.console.tui.queries.node_path import find_node_path, list_pair_tests
    from benchconsole.console.view.run_view import NodeView
    from benchconsole.topology.model.fabric import NodeId

    _require_node(view.fabric, name)
    node = NodeId(name)
    tests = list_pair_tests(view, view.nodes.get(node) or NodeView(view.fabric.nodes[node]))
    if peer is not None and peer not in tests:
        told = ", ".join([*tests][:12]) or "none"
        raise BadInput(f"benchconsole: --peer {peer}: no test of {name} with it, expected one of {told}")
    test = tests[peer] if peer is not None else next(iter(tests.values()), None)
    return list_node(view, node, None if test is None else find_node_path(view, test))


def _require_node(fabric: "Fabric", name: str) -> None:
    """BadInput for a name that no node has."""
    from benchconsole.topology.errors import find_near

    if name not in fabric.nodes:
        near = find_near(name, fabric.nodes)
        hint = f", did you mean {near}?" if near else ""
        raise BadInput(f"benchconsole: --node {name}: no node of {fabric.name} is called so{hint}")


def _read_history(store: "Store", session: str, node: str | None, metric: str | None) -> "Area":
    """The numbers of a node, or of a metric, over the last sessions of the fabric of this one."""
    from benchconsole.console.session.stored_fabric import describe_fabric
    from benchconsole.console.session.stored_history import read_metric_history, read_node_history
    from benchconsole.console.tui.queries.history_area import list_histories

    new = store.session(store.find_session(session)).describe().new
    if node is not None:
        _require_node(describe_fabric(new), node)
        history = read_node_history(store, new.fabric, node, simulated=new.simulated)
        return _name_sessions(list_histories(history, node))
    history = read_metric_history(store, new.fabric, metric or "", simulated=new.simulated)
    if not history.numbers:
        raise BadInput(f"benchconsole: --metric {metric}: no session of {new.fabric} has a number of it")
    return _name_sessions(list_histories(history, metric or ""))


def _name_sessions(area: "Area") -> "Area":
    """A history with its sessions in the title, where the screen has them elsewhere."""
    return replace(area, title=f"{area.title}, {area.note}; changes are shown, not judged")
