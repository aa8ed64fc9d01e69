"""Writes fabrics.md: ten fabrics, each with its file and what ``expect`` says of it. Run it after a change."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner

from benchconsole.console.cli import command
from benchconsole.console.static_report.expected_bracket import RULES
from benchconsole.topology.model.routing_rule import RoutingRule
from benchconsole.topology.units import network_rate

HERE = Path(__file__).parent
PAGE = HERE / "fabrics.md"


class Question(NamedTuple):
    """Flows, what is down, and the routing instead of that of the file."""

    flows: str
    without: tuple[str, ...] = ()
    routing: str = ""


PODS = "h1-[01-16]>h2-[01-16]"
RAILS = "g[01-16]:p1>g[17-32]:p2 g[17-32]:p1>g[01-16]:p2"
GROUPS = "n0-[0-7]>n1-[0-7]"
FABRICS = {
    "fat-tree": (
        "Fat tree, k = 8, with failures",
        [Question(PODS), Question(PODS, ("core01",)), Question(PODS, ("a1-1",)), Question(PODS, ("core01", "a1-2"))],
    ),
    "rail-optimised": (
        "Rail-optimised: 32 machines of 8 x 400 Gb/s, 4 spines",
        [
            Question("g[01-16]:p1>g[17-32]:p1"),
            Question(RAILS),
            Question(RAILS, ("spine1",)),
            Question("g[01-16]>g[17-32]", ("rail1",)),
        ],
    ),
    "rail-only": (
        "Rail-only",
        [
            Question("g[01-16]:p1>g[17-32]:p1"),
            Question("g[01-16]>g[17-32]"),
            Question("g[01-16]>g[17-32]", ("rail1",)),
        ],
    ),
    "dual-plane": (
        "Dual plane",
        [
            Question("n[01-16]:port-a>n[17-32]:port-a"),
            Question("n[01-16]>n[17-32]"),
            Question("n[01-16]>n[17-32]", ("la1",)),
        ],
    ),
    "dragonfly": (
        "Dragonfly, a = 4, h = 2, g = 9",
        [Question(GROUPS), Question(GROUPS, routing="valiant"), Question(GROUPS, routing="shortest")],
    ),
    "torus": (
        "Torus, 4 x 4",
        [
            Question("n0-[0-3]>n2-[0-3]"),
            Question("n[0-1]-0>n[1-2]-1"),
            Question("n[0-3]-0,n[0-3]-1>n[0-3]-2,n[0-3]-3"),
        ],
    ),
    "ethernet-infiniband": (
        "Ethernet beside InfiniBand",
        [Question("n[01-16]>n[17-32]"), Question("n[01-16]>n[17-32]", ("ibs1",))],
    ),
    "two-sites": (
        "Two sites with unequal lines",
        [Question("a[1-8]>b[1-8]"), Question("a[1-8]>b[1-8]", routing="shortest")],
    ),
    "mlag": (
        "MLAG with orphans and a peer link",
        [Question("n[1-4],o[1-2]>st1"), Question("n[1-4],o[1-2]>st1", ("tora to spine",)), Question("o1>o2")],
    ),
    "nvme-of": (
        "NVMe-oF over two planes",
        [Question("h[1-8]:p1>c[1-4]:p1"), Question("h[1-8]>c[1-4]"), Question("h[1-8]>c[1-4]", ("sana",))],
    ),
}


def text_of(name: str, routing: str = "") -> str:
    """The file of a fabric, with another ``routing`` where one is given."""
    text = (HERE / "fabrics" / f"{name}.yaml").read_text()
    return text if not routing else "\n".join(_replace_routing(line, routing) for line in text.splitlines()) + "\n"


def _replace_routing(line: str, routing: str) -> str:
    before, found, _ = line.partition("routing: ")
    return f"{before}{found}{routing}}}" if found else line


def is_paired(question: Question, name: str) -> bool:
    """Whether the nodes are paired in order; all to all else."""
    return name != "nvme-of" and not question.flows.endswith(">st1")


def ask(name: str, question: Question) -> dict[str, Any]:
    """The answer of ``expect --json --bracket``."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.yaml"
        file.write_text(text_of(name, question.routing))
        words = [str(file), *question.flows.split(), "--bracket", "--json"]
        words += ["--one-to-one"] * is_paired(question, name)
        for element in question.without:
            words += ["--without", element]
        result = CliRunner().invoke(command, ["expect", *words], prog_name="benchconsole")
    if result.exit_code:
        raise SystemExit(f"{name}, {question}: {result.output}{result.exception}")
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def make_page() -> str:
    """The whole page."""
    return "\n".join(_list_parts()) + "\n"


def _list_parts() -> Iterator[str]:
    yield (
        "# Ten fabrics\n\nWritten by `docs/reference/fabric_page.py` from the files in `fabrics/` and from "
        "`expect --bracket`.\n\nGoodput is 100 % in all files, so the rates are those of the wire. Flows are "
        "one-to-one, to `st1` and to controllers each to each; one that names no port is the traffic of all ports of "
        "its nodes together.\nRates are of the slowest flow, `in all` is the sum "
        "by the routing; the columns are explained in [capacity](../explanation/capacity.md#brackets).\n"
        "`tests/topology/test_reference_fabrics.py` holds every rate and optimum against rational numbers and a "
        "program of its own.\n"
    )
    for name, (title, questions) in FABRICS.items():
        yield f"## {title}\n\n```yaml\n{text_of(name)}```\n"
        yield "| flows | routing | hash, unlucky | this routing | optimum | cut | in all |"
        yield "|---|---|---|---|---|---|---|"
        for question in questions:
            yield _make_row(name, question)
        yield ""


def _make_row(name: str, question: Question) -> str:
    bracket = ask(name, question)["bracket"]
    flows = " and ".join(f"`{flow}`" for flow in question.flows.split())
    flows += "".join(f" without `{element}`" for element in question.without)
    rates = [bracket[bound]["slowest_bps"] / 8 for bound in ("unlucky", "routing", "optimum", "cut")]
    cells = [*rates, bracket["routing"]["total_bps"] / 8]
    rule = RULES[RoutingRule(bracket["rule"] or "shortest")]
    return f"| {flows} | {rule} | " + " | ".join(map(network_rate, cells)) + " |"


if __name__ == "__main__":
    PAGE.write_text(make_page())
