"""Owns the plan: fabric, suite and selection to ordered rounds, before anything is sent.

Pure, so that ``--dry-run`` is printing it. A round's tests run together; which ones may is
the design's business (``probes.designs``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from probes.api import Probe, Shape
from probes.designs import DEFAULT_DESIGN, DESIGNS, Layout
from probes.errors import PlanError
from probes.model import Bundle, Round, Target, Test
from topology.model import Direction, Fabric, Link, NodeId, Stage, Suite
from topology.routing import Routes
from topology.selection import near
from topology.units import digits3

MOST_TESTS = 512
"""Tests of one round; more are run in several rounds."""

Options = Mapping[str, str | int | float]


def default_suite(fabric: Fabric) -> Suite:
    """What runs when a file declares no suite: inventory, then NICs and trunks."""
    everyone = tuple(fabric.nodes)
    none: Options = MappingProxyType({})
    return Suite(
        "default",
        (
            Stage("inventory", everyone, none),
            Stage("iperf3", everyone, MappingProxyType({"design": "neighbours"})),
            Stage("iperf3", everyone, MappingProxyType({"design": "trunks", "streams": 8})),
        ),
    )


def suite_named(fabric: Fabric, name: str | None) -> Suite:
    """The suite ``name``; without a name ``default``, or the only one, or ours. PlanError when unknown."""
    if name is None:
        if "default" in fabric.suites:
            return fabric.suites["default"]
        return next(iter(fabric.suites.values())) if len(fabric.suites) == 1 else default_suite(fabric)
    if name in fabric.suites:
        return fabric.suites[name]
    if name == "default" and not fabric.suites:
        return default_suite(fabric)
    hint = near(name, fabric.suites)
    known = ", ".join(fabric.suites) or "default"
    raise PlanError(f"unknown suite {name!r}, expected one of {known}" + (f"; did you mean {hint}?" if hint else ""))


def plan(
    fabric: Fabric, suite: Suite, probes: Mapping[str, Probe], *, nodes: Sequence[NodeId] | None = None, first: int = 1
) -> tuple[Round, ...]:
    """Rounds for every stage of ``suite`` on ``nodes`` (None: all), numbered from ``first``.

    Raises PlanError for an unknown probe or when nothing is left to run.
    """
    chosen = set(fabric.nodes if nodes is None else nodes)
    routes = Routes(fabric)
    rounds: list[Round] = []
    for stage in suite.stages:
        members = [node for node in stage.nodes if node in chosen]
        probe = probes.get(stage.probe)
        if probe is None:
            known = ", ".join(sorted(probes))
            raise PlanError(f"unknown probe {stage.probe!r} in suite {suite.name!r}, expected one of {known}")
        rounds += _stage_rounds(fabric, probe, stage, members, routes)
    if not rounds:
        raise PlanError(f"suite {suite.name!r} has nothing to run on the selected nodes")
    return tuple(_numbered(each, number) for number, each in enumerate(rounds, first))


def _numbered(each: Round, number: int) -> Round:
    tests = tuple(
        replace(test, id=f"{number:04d}/{test.probe}/{index:04d}/{test.target.key}", round=number)
        for index, test in enumerate(each.tests)
    )
    return replace(each, number=number, tests=tests)


def _stage_rounds(fabric: Fabric, probe: Probe, stage: Stage, members: Sequence[NodeId], routes: Routes) -> list[Round]:
    options: Options = MappingProxyType({**probe.options, **stage.options})
    if probe.shape is Shape.NODE:
        return _node_rounds(fabric, probe, members, options)
    name = str(options.get("design", DEFAULT_DESIGN))
    if name not in DESIGNS:
        raise PlanError(f"unknown design {name!r}, expected one of {', '.join(DESIGNS)}")
    layouts = DESIGNS[name](fabric, members, routes)
    return [each for layout in layouts for each in _pair_rounds(fabric, probe, name, layout, options)]


def _node_rounds(fabric: Fabric, probe: Probe, members: Sequence[NodeId], options: Options) -> list[Round]:
    rounds = []
    for start in range(0, len(members), MOST_TESTS):
        tests = tuple(
            Test("", probe.name, Target(fabric.nodes[node], None, options), 0)
            for node in members[start : start + MOST_TESTS]
        )
        rounds.append(Round(0, probe.name, probe.name, tests, probe.estimate(options), probe.summary))
    return rounds


def _pair_rounds(fabric: Fabric, probe: Probe, design: str, layout: Layout, options: Options) -> list[Round]:
    """One layout as rounds of at most MOST_TESTS tests; a load is never torn apart."""
    rounds: list[Round] = []
    tests: list[Test] = []
    bundles: list[Bundle] = []
    for load in [*layout.loads, None]:
        if tests and (load is None or len(tests) + len(load.flows) > MOST_TESTS):
            seconds = probe.estimate(options)
            stage = f"{probe.name} {design}"
            rounds.append(Round(0, stage, probe.name, tuple(tests), seconds, layout.because, tuple(bundles)))
            tests, bundles = [], []
        if load is None:
            break
        name = load.bundle.name if load.bundle else ""
        if load.bundle:
            bundles.append(load.bundle)
        for flow in load.flows:
            target = Target(fabric.nodes[flow.source], fabric.nodes[flow.sink], options)
            tests.append(Test("", probe.name, target, 0, name))
    return rounds


def rerun(tests: Sequence[Test], rounds: Sequence[Round], *, first: int) -> tuple[Round, ...]:
    """The rounds that hold any of ``tests``, to be run again under new numbers.

    A bundle is repeated whole, for its sum is what is judged; tests that stand alone are
    repeated alone.
    """
    wanted = {test.id for test in tests}
    again: list[Round] = []
    for each in rounds:
        names = {test.bundle for test in each.tests if test.id in wanted and test.bundle}
        kept = tuple(test for test in each.tests if test.id in wanted or test.bundle in names)
        if kept:
            bundles = tuple(bundle for bundle in each.bundles if bundle.name in names)
            again.append(replace(each, tests=kept, bundles=bundles))
    return tuple(_numbered(each, number) for number, each in enumerate(again, first))


def uncrossed(fabric: Fabric, rounds: Sequence[Round]) -> tuple[Link, ...]:
    """Links that no flow of ``rounds`` crosses in one of their directions, in file order.

    What no test sends over cannot be found faulty: it is told, never passed. Empty where the plan
    has no flows at all; legs that stand by are left out.
    """
    routes = Routes(fabric)
    flows = {(flow.source, flow.sink) for each in rounds for flow in each.flows}
    if not flows:
        return ()
    crossed = {way for source, sink in flows for way in routes.shares(source, sink)}
    return tuple(
        link
        for link in fabric.links.values()
        if not link.standby and not crossed.issuperset((Direction(link.id, link.a), Direction(link.id, link.b)))
    )


def describe(rounds: Sequence[Round]) -> str:
    """One line: how many rounds, tests and minutes."""
    tests = sum(len(each.tests) for each in rounds)
    minutes = sum(each.seconds for each in rounds) / 60
    return f"{len(rounds)} rounds, {tests:,} tests, about {digits3(max(minutes, 0.1))} min"
