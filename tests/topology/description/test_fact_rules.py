"""Facts that a class asks for by their names: every form, and every mistake with its place and its remedy."""

import pytest

from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.errors import TopologyError
from benchconsole.topology.model.fact_rule import FactRule


def read(facts: str, more: str = "") -> dict[str, FactRule]:
    text = f"schema: 1\nfabric: x\nclasses:\n  b:\n    facts: {facts}\n{more}nodes: {{n1: {{class: b}}}}\n"
    fabric = load_text(text, "x.yaml")
    (node,) = fabric.nodes.values()
    return dict(node.hardware.rules)


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        ("{nic.txqueuelen: 10000}", FactRule((10000.0,), text="10000")),
        ('{os.version: "8.10"}', FactRule(("8.10",), text="8.10")),
        ("{os.version: 8.10}", FactRule((8.1,), text="8.1")),
        ('{memory.dimm_size: ["16 GiB", "32 GiB"]}', FactRule((16 * 2.0**30, 32 * 2.0**30), text="16 GiB or 32 GiB")),
        ("{nic.pause_rx: off}", FactRule(("off",), text="off")),
        ("{nic.txqueuelen: [500, 1000]}", FactRule((500.0, 1000.0), text="500 or 1000")),
        ("{nic.driver_version: 1.3.47}", FactRule(("1.3.47",), text="1.3.47")),
        ('{cpu.threads: ">= 16"}', FactRule(at_least=16.0, text="at least 16")),
        ('{cpu.clock: "<= 2.5 GHz"}', FactRule(at_most=2.5e9, text="at most 2.5 GHz")),
        ("{memory.dimm_size: 16 GiB}", FactRule((16 * 2.0**30,), text="16 GiB")),
        ("{numa.nodes: 2}", FactRule((2.0,), text="2")),
        (
            '{fs.available mount=/data type=x: ">= 3 TB"}',
            FactRule(at_least=3e12, text="at least 3 TB", where=(("mount", "/data"), ("type", "x"))),
        ),
    ],
)
def test_a_fact_is_asked_for_by_its_name(written: str, rule: FactRule) -> None:
    assert list(read(written).values()) == [rule]


@pytest.mark.parametrize(
    ("facts", "more", "said"),
    [
        ("{txqueuelen: 1000}", "", "a fact 'txqueuelen', expected its whole name, such as nic.txqueuelen"),
        ("{nic.mtu: 9000}", "    nic: {mtu: 9000}\n", "nic.mtu a second time, expected each fact once"),
        ("{irq.balance: true}", "", "expected a number, a text such as on"),
        ("{cpu.threads: []}", "", "expected a number, a text such as on"),
        ('{cpu.model: ">= fast"}', "", "expected a bound such as"),
        ("{memory.total: much}", "", "expected"),
        ('{"": 3}', "", "a fact '', expected its whole name, such as nic.txqueuelen"),
        ('{" ": 3}', "", "a fact '', expected its whole name, such as nic.txqueuelen"),
        ("{fs.size /data: 3 TB}", "", "the parts '/data' of fs.size, expected labels such as mount=/data"),
        ("{fs.size mount=: 3 TB}", "", "the parts 'mount=' of fs.size, expected labels such as mount=/data"),
        ("{fs.size mount=/a mount=/b: 3 TB}", "", "the parts 'mount=/a mount=/b' of fs.size"),
    ],
)
def test_a_mistake_is_told_with_its_line(facts: str, more: str, said: str) -> None:
    with pytest.raises(TopologyError) as caught:
        read(facts, more)
    assert said in str(caught.value)
    assert "x.yaml:5" in str(caught.value)
