"""The option ``--cohort``: every result of a session gets a label of its own, as ``phase=after``."""

from collections.abc import Sequence

import click

from benchconsole.console.exits import BadInput
from benchconsole.topology.model.cohorts import DIMENSION_WORDS, VALUE_WORDS, is_dimension, is_value
from benchconsole.topology.model.fabric import Fabric

cohort_option = click.option(
    "--cohort",
    "cohorts",
    metavar="DIMENSION=NAME",
    multiple=True,
    help="Label every result of the session, as phase=after; recorded. Repeat for more.",
)


def make_cohort_options(fabric: Fabric, given: Sequence[str]) -> dict[str, str | int | float]:
    """The options that record the cohorts of a session; BadInput for one that could be taken for another label."""
    from benchconsole.console.session.metadata import COHORT

    sweeps = (stage.sweep for suite in fabric.suites.values() for stage in suite.stages if stage.sweep is not None)
    axes = {axis.name for sweep in sweeps for axis in sweep.axes}
    taken = {dimension for node in fabric.nodes.values() for dimension, _ in node.cohorts}
    found: dict[str, str | int | float] = {}
    for text in given:
        dimension, sign, name = text.partition("=")
        if not sign or not is_dimension(dimension, axes):
            raise BadInput(f"benchconsole: --cohort {text}: expected DIMENSION=NAME, the dimension {DIMENSION_WORDS}")
        if not is_value(name):
            raise BadInput(f"benchconsole: --cohort {text}: expected as its name {VALUE_WORDS}")
        if dimension in taken or COHORT + dimension in found:
            where = "the topology file" if dimension in taken else "another --cohort"
            raise BadInput(f"benchconsole: --cohort {text}: {where} has cohorts of {dimension}; use another dimension")
        found[COHORT + dimension] = name
    return found
