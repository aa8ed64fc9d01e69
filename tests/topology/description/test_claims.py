"""The section ``stated``: ratios, cuts and totals with what they are of; each slip is refused where it stands."""

from pathlib import Path

import pytest

from benchconsole.topology.errors import TopologyError
from benchconsole.topology.model.claims import Claim
from benchconsole.topology.model.fabric import Fabric
from tests.fabrics import fabric

HEAD = """\
schema: 1
fabric: x
switches: {a1: {role: leaf}}
nodes:
  n[1-3]: {}
  st1: {role: storage}
"""


def described(folder: Path, text: str) -> Fabric:
    return fabric(folder, HEAD + text)


def test_a_claim_knows_what_it_is_of(tmp_path: Path) -> None:
    text = (
        'stated: [{oversubscription: "2:1", source: offer}, {bisection: 1.6 Tb/s, of: leaf}, {cores: "15,360"},'
        " {memory: 1.2 TB, of: st1}, {nodes: 3, of: '@compute'}, {peak: 5.6 TFLOP/s, of: st1}]\n"
    )
    everybody = ("n1", "n2", "n3", "st1")
    assert described(tmp_path, text).claims == (
        Claim("oversubscription", "end-to-end", 2.0, "offer"),
        Claim("bisection", "leaf", 2e11),
        Claim("cores", "", 15360.0, nodes=everybody),
        Claim("memory", "st1", 1.2e12, nodes=("st1",)),
        Claim("nodes", "@compute", 3.0, nodes=("n1", "n2", "n3")),
        Claim("peak", "st1", 5.6e12, nodes=("st1",)),
    )


@pytest.mark.parametrize(
    ("claim", "column", "what"),
    [
        ('{oversubscription: "2 to 1"}', 29, "a ratio such as 2:1"),
        ('{oversubscription: "2:1", of: leef}', 40, "did you mean leaf?"),
        ("{source: x}", 10, "no claim, expected one of oversubscription, bisection, nodes, sockets, cores,"),
        ("{cores: 24, sockets: 2}", 10, "sockets and cores, expected one of"),
        ("{cores: 0}", 18, "0, expected a whole number above 0"),
        ("{cores: 1.5}", 18, "a whole number above 0"),
        ('{cores: "15,36"}', 18, "a whole number above 0"),
        ("{memory: 40}", 19, "expected a size such as"),
        ("{peak: 5 TB}", 17, "expected a rate such as 645 GFLOP/s"),
        ("{cores: 24, of: leaf}", 26, "leaf"),
        ("{cores: 24, of: '@leaf'}", 26, "leaf"),
    ],
)
def test_a_slip_is_refused_where_it_stands(tmp_path: Path, claim: str, column: int, what: str) -> None:
    with pytest.raises(TopologyError) as caught:
        described(tmp_path, f"stated: [{claim}]\n")
    (found,) = map(str, caught.value.problems)
    assert f":7:{column}: " in found
    assert what in found
