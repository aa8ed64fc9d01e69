"""Rules for every foreign format: bad input is refused with its place, a cut file gives nothing new."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from ClusterShell.NodeSet import NodeSet
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology import importers, selection
from benchconsole.topology.copying import replace
from benchconsole.topology.description.document import MAX_BYTES, Document, source_text
from benchconsole.topology.errors import TopologyError
from benchconsole.topology.importers import import_sources, sniff
from tests.topology.importers.sources import FORMATS, cables, described, problems

EVERY = pytest.mark.parametrize("name", FORMATS)


@EVERY
def test_the_sample_is_read_and_is_recognised(name: str) -> None:
    parse, text = FORMATS[name]
    fabric = described(parse(text))
    assert fabric.nodes
    assert sniff(text) == name.removesuffix("-yaml")


@EVERY
def test_every_position_leads_into_the_source(name: str) -> None:
    parse, text = FORMATS[name]
    lines = text.split("\n")
    document = parse(text).document
    assert isinstance(document, Document)
    for place in [*document.keys.values(), *document.values.values()]:
        assert 1 <= place.line <= len(lines)
        assert 1 <= place.column <= len(lines[place.line - 1]) + 1


@EVERY
def test_a_file_cut_anywhere_gives_no_cable_that_the_whole_does_not_have_or_says_so(name: str) -> None:
    parse, text = FORMATS[name]
    whole = cables(described(parse(text)))
    refused = 0
    for end in range(len(text)):
        try:
            imported = parse(text[:end])
            found = cables(described(imported))
        except TopologyError:
            refused += 1
        else:
            line = text[:end].count("\n") + 1
            said = f"the last line has no end: line {line} is taken as whole, see that no name in it is cut short"
            assert found <= whole or said in imported.remarks, text[:end]
    assert refused > (len(text) // 2 if name in ("lldp", "netbox") else 0)


@pytest.mark.parametrize("name", ["slurm", "slurm-yaml", "containerlab", "ssh-config", "ansible", "ansible-yaml"])
def test_a_last_line_without_end_is_whole(name: str) -> None:
    parse, text = FORMATS[name]
    whole, unended = described(parse(text)), described(parse(text.removesuffix("\n")))
    assert replace(unended, text="") == replace(whole, text="")


@EVERY
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_whatever_is_changed_the_answer_is_a_document_or_a_topology_error(name: str, data: st.DataObject) -> None:
    parse, text = FORMATS[name]
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 12)))
        text = text[:start] + data.draw(st.text(max_size=6) | st.sampled_from(_NASTY)) + text[end:]
    try:
        described(parse(text))
    except TopologyError as refused:
        _is_told(refused)


def _is_told(refused: TopologyError) -> None:
    assert refused.problems
    assert all(problem.found and problem.expected for problem in refused.problems)


_NASTY = [
    "\n", "\t", "[", "]", "{", "}", ":", '"', "'", "\\", "#", "&a ", "*a", "!!x ", "null", "-", "\x1b[31m",
    "[1-9999999]", "[bold]", "n1", "leaf1", "\r\n", "{{ x }}", "@all", "=", "0", "true",
]  # fmt: skip


@EVERY
@settings(max_examples=25, deadline=None)
@given(text=st.text())
def test_any_text_gives_a_document_or_a_topology_error(name: str, text: str) -> None:
    parse, _ = FORMATS[name]
    try:
        parse(text)
    except TopologyError as refused:
        _is_told(refused)


NO_NAMES = ("n1;reboot", "[bold]n1", "\x1b[31mn1", "-oProxyCommand=x", "n[1-3]", "$(id)", "<b>n1</b>")
DESCRIBED = ("ib",)
"""Formats whose nodes call themselves anything, so that names are made of what they say."""
HOSTLISTS = ("slurm", "slurm-yaml")
"""Formats in which ``n[1-3]`` is a set of names."""


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        (name, bad)
        for name in FORMATS
        if name not in DESCRIBED
        for bad in NO_NAMES
        if bad != "n[1-3]" or name not in HOSTLISTS
    ],
)
def test_names_that_are_none_are_refused_with_their_place(name: str, bad: str) -> None:
    parse, text = FORMATS[name]
    escaped = bad.replace("\x1b", "\\u001b") if name in ("lldp", "netbox") else bad
    first = {"lldp": "leaf12", "ansible": "login1", "ansible-yaml": "st1", "ssh-config": "st1"}.get(name, "leaf12")
    first = "leaf1" if name == "netbox" else first
    if name in ("slurm-yaml", "containerlab", "ansible-yaml"):
        text = text.replace(f"{first}:", f"{_quoted(bad)}:").replace(f" {first}\n", f" {_quoted(bad)}\n")
    else:
        text = text.replace(first, escaped)
    assert problems(parse, text)[0].startswith(("f:", "n1:"))


def _quoted(text: str) -> str:
    return '"' + text.replace("\x1b", "\\e") + '"'


@EVERY
def test_deep_nesting_is_refused(name: str) -> None:
    parse, _ = FORMATS[name]
    for text in ("[" * 100_000, "{" * 100_000, '{"lldp":' * 5000, "- " * 5000 + "\n", "a:\n" * 3000):
        with pytest.raises(TopologyError):
            parse(text)


@pytest.mark.parametrize(
    ("name", "plain", "tagged"),
    [
        ("containerlab", "kind: arista_ceos", "kind: !!python/object/apply:os.system [id]"),
        ("slurm-yaml", "nodes: n[10-16]", "nodes: !evil n[10-16]"),
        ("ansible-yaml", "ansible_port: 2222", "ansible_port: !!python/name:os.system 1"),
    ],
)
def test_tags_construct_nothing_and_aliases_do_not_multiply(name: str, plain: str, tagged: str) -> None:
    parse, text = FORMATS[name]
    assert any("the tag" in line for line in problems(parse, text.replace(plain, tagged)))
    bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10)
    )
    assert "without end" in problems(parse, "all:\n  x: 1\n" + bomb)[0]


@pytest.mark.fault("F01")
@pytest.mark.parametrize("name", importers.FORMATS)
def test_files_that_are_huge_or_not_there_or_no_text_are_refused(name: str, tmp_path: Path) -> None:
    huge = tmp_path / "huge"
    with huge.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(TopologyError, match="more than 16 MiB"):
        import_sources(name, [huge])
    latin = tmp_path / "latin"
    latin.write_bytes(b"a: b\nname: caf\xe9\n")
    with pytest.raises(TopologyError, match=r"latin:2:10: the byte 0xe9, expected text in UTF-8"):
        import_sources(name, [latin])
    with pytest.raises(TopologyError, match="cannot be read"):
        import_sources(name, [tmp_path / "absent"])


@pytest.mark.fault("F01")
def test_a_file_without_end_is_not_read_to_its_end(tmp_path: Path) -> None:
    with pytest.raises(TopologyError, match="more than 16 MiB"):
        source_text(Path("/dev/zero"))


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "bom"
    path.write_bytes(b"\xef\xbb\xbfHost n1\n")
    assert source_text(path) == "Host n1\n"


@pytest.mark.parametrize("name", ["slurm", "slurm-yaml"])
def test_ten_million_hosts_are_refused_before_they_are_written_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parse, text = FORMATS[name]
    written_out: list[str] = []

    class Expanded(NodeSet):  # type: ignore[misc]
        def __iter__(self) -> Iterator[str]:
            written_out.append(str(self))
            return iter(()) if "10000000" in str(self) else super().__iter__()

    monkeypatch.setattr(selection, "NodeSet", Expanded)
    found = problems(parse, text.replace("n[1-4]", "n[1-10000000]", 1))
    assert "stands for more than 200,000 names" in found[0]
    assert not any("10000000" in term for term in written_out)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("slurm", "SwitchName=a Switches=b[1-2000]\n" + "SwitchName=c Nodes=n[1-2000]\n"),
        ("slurm", "SwitchName=x y\n" * 100_000),
        ("ansible", "n1 x\n" * 100_000),
        ("ssh-config", "Host a\n!\n" * 100_000),
    ],
)
def test_a_source_that_is_wrong_all_over_is_given_up_soon(name: str, text: str) -> None:
    parse, _ = FORMATS[name]
    assert len(problems(parse, text)) == 1001


@pytest.mark.parametrize("text", ["", "schema: 1\nfabric: x\n", "{}", "just words\n", '{"a": 1}'])
def test_what_is_no_foreign_format_is_not_taken_for_one(text: str) -> None:
    assert sniff(text) is None
