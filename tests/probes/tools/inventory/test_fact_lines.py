"""The line of an inventory that a fact was read from."""

import pytest

from benchconsole.probes.api import Output, labels
from benchconsole.probes.tools.inventory.fact_lines import FactLine, find_line
from benchconsole.probes.tools.inventory.script import Answer, make_command
from tests.probes.tools.captures import text
from tests.probes.tools.inventory.cases import format_answers

WORD = "0123456789abcdef"
MEMINFO = "MemTotal:       115343360 kB\nMemFree:        1024 kB\nSwapTotal:      2097148 kB\nHugePages_Total:       0"
DMIDECODE = text("inventory/dmidecode-2.12.txt")
LSCPU = '{"lscpu": [{"field": "Architecture:", "data": "x86_64"},\n{"field": "Model name:", "data": "A 1"}\n]}'


def say(*answers: Answer) -> Output:
    return Output(tuple(make_command(WORD)), format_answers(WORD, answers).encode())


def find(output: Output, name: str, **labelled: str) -> FactLine | None:
    return find_line(output, lambda fact: fact.fact == name and {*labels(**labelled)} <= {*fact.labels})


def find_text(output: Output, name: str) -> str | None:
    line = find(output, name)
    if line is None:
        return None
    found = output.text.split("\n")[line.number]
    assert line.is_heading is found.startswith("benchconsole-")
    return found


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("memory.total", "MemTotal:       115343360 kB"),
        ("memory.swap", "SwapTotal:      2097148 kB"),
        ("kernel.machine", "Linux 6.1.0-28-amd64 x86_64"),
        ("cpu.model", f"benchconsole-{WORD} begin lscpu"),
        ("memory.hugepages", f"benchconsole-{WORD} begin meminfo"),
        ("nic.speed", None),
    ],
    ids=["first line", "a line within", "one line", "read as a whole", "completed by the last line", "not told"],
)
def test_the_line_that_completes_a_fact(name: str, told: str | None) -> None:
    kernel = Answer("kernel", 0, "Linux 6.1.0-28-amd64 x86_64\n")
    assert find_text(say(kernel, Answer("lscpu", 0, LSCPU), Answer("meminfo", 0, MEMINFO)), name) == told


def test_the_part_that_is_labelled() -> None:
    output = say(Answer("dmidecode", 0, DMIDECODE))
    lines = output.text.split("\n")
    for dimm in ("DIMM_A1", "DIMM_A3"):
        line = find(output, "memory.dimm_size", slot=dimm)
        assert line is not None
        assert not line.is_heading
        assert any(dimm in each for each in lines[line.number - 10 : line.number + 10])
    assert find(output, "memory.dimm_size", slot="DIMM_A1") != find(output, "memory.dimm_size", slot="DIMM_A3")
    assert find_text(output, "memory.dimm_size") == f"benchconsole-{WORD} begin dmidecode"


def test_a_line_with_text_is_meant_where_an_empty_one_completes_a_fact() -> None:
    found = find_text(say(Answer("dmidecode", 0, DMIDECODE), Answer("meminfo", 0, MEMINFO)), "memory.dimms")
    assert found is not None
    assert found.strip()


def test_a_source_that_failed_told_nothing() -> None:
    output = say(Answer("meminfo", 1, MEMINFO), Answer("meminfo", 0, MEMINFO))
    before = format_answers(WORD, [Answer("meminfo", 1, MEMINFO)]).count("\n")
    assert find(output, "memory.total") == (before + 1, False)


@pytest.mark.parametrize("said", ["", "MemTotal: 1 kB\n", f"benchconsole-{WORD} begin meminfo\n{MEMINFO}"])
def test_an_output_without_an_answer_has_no_line(said: str) -> None:
    assert find(Output(("sh",), said.encode()), "memory.total") is None
