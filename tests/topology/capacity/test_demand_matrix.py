"""Demand matrices: rows become flows, and every row that cannot be read is named with its line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.topology.capacity.demand_matrix import list_said, make_flow_set, read_matrix
from benchconsole.topology.capacity.flow_groups import FlowSet
from benchconsole.topology.errors import SelectionError
from benchconsole.topology.model.fabric import Flow, NodeId
from tests.fabrics import fabric


def read(folder: Path, text: str) -> list[FlowSet]:
    file = folder / "demands.csv"
    file.write_text(text)
    return read_matrix(file, fabric(folder))


def test_rows_are_flows(tmp_path: Path) -> None:
    text = 'from,to,rate,streams,pairs\n# a remark\n\nn1,st1,2 Gb/s,3,\n"n[1-2]","n5,n6",,,in order\n@storage,n8,100 MB/s,,each\n'
    first, second, third = read(tmp_path, text)
    assert list(first) == [Flow(NodeId("n1"), NodeId("st1"), demand=2.5e8)] * 3
    assert [(flow.source, flow.sink, flow.demand) for flow in second] == [("n1", "n5", None), ("n2", "n6", None)]
    assert [(flow.source, flow.demand) for flow in third] == [("st1", 1e8), ("st2", 1e8)]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "no line, expected a first line such as from,to,rate"),
        ("from,rate\nn1,1 Gb/s\n", "csv:1: no column 'to'"),
        ("from,to,rat\n", "csv:1: unknown column 'rat', expected from, to, rate, streams, pairs, did you mean rate?"),
        ("from,to,to\n", "csv:1: the column 'to' a second time"),
        ("from,to\n", "no row below the names"),
        ("from,to\nn1,n2,n3\n", "csv:2: 3 cells, expected 2 (from, to); a set with a comma stands in quotes"),
        ("from,to,rate\nn1,n2,5\n", "csv:2: rate '5', expected a rate above 0 with its unit"),
        ("from,to,rate\nn1,n2,0 Gb/s\n", "csv:2: rate '0 Gb/s'"),
        ("from,to,rate\nn1,n2,-1 Gb/s\n", "csv:2: rate '-1 Gb/s'"),
        ("from,to,streams\nn1,n2,0\n", "csv:2: streams '0', expected a number from 1 to 128"),
        ("from,to,pairs\nn1,n2,sorted\n", "csv:2: pairs 'sorted', expected each or in order"),
        ('from,to,pairs\n"n1,n2",n3,in order\n', "csv:2: 'n1,n2>n3' pairs 2 nodes with 1 in order"),
        ('from,to\n"n1,n2\n', "csv:2: "),
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_read_is_named(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(SelectionError) as error:
        read(tmp_path, text)
    assert what in str(error.value)


def test_all_bad_rows_are_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(SelectionError) as error:
        read(tmp_path, "from,to\nx,n1\nn1,n2\nn1,y\n")
    assert [line.split(": ")[0].rsplit(":", 1)[1] for line in str(error.value).splitlines()] == ["2", "4"]
    with pytest.raises(SelectionError, match="and 5 rows more"):
        read(tmp_path, "from,to\n" + "x,n1\n" * 25)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"from,to\n\xff\xfe\n")
    with pytest.raises(SelectionError, match="cannot be read as text"):
        read_matrix(tmp_path / "x.csv", fabric(tmp_path))


@given(st.text(max_size=60))
def test_any_text_is_flows_or_one_error(text: str) -> None:
    try:
        for flow, said in list_said(text.split()):
            made = make_flow_set(FlowSet((NodeId(flow),), (NodeId("b"),)), said)
            assert 1 <= made.streams <= 128
    except SelectionError:
        assert "=" in text


def test_what_stands_after_a_flow_is_its_own() -> None:
    assert list(list_said(["a>b", "streams=8", "c>d", "rate=5Gb/s", "e"])) == [
        ("a>b", {"streams": "8"}), ("c>d", {"rate": "5Gb/s"}), ("e", {}),
    ]  # fmt: skip
    for words in (["streams=8"], ["a>b", "streams=1", "streams=2"], ["a>b", "speed=1"]):
        with pytest.raises(SelectionError, match="once after a flow"):
            list(list_said(words))
