import pytest

from benchconsole.probes.api import Output, ProbeOutputError, Reading, Unit
from benchconsole.probes.readers.readings import add_labels, known_labels, number_runs, refuse_failed


@pytest.mark.parametrize(("status", "signal"), [(1, None), (None, "KILL"), (0, "TERM")])
def test_a_failed_command_is_refused_with_its_last_words(status: int | None, signal: str | None) -> None:
    with pytest.raises(ProbeOutputError, match="last words"):
        refuse_failed(Output((), b"1 2 3", b"first\nlast words\n", status, signal), "tool")


def test_what_is_not_known_gives_no_label() -> None:
    assert known_labels(b="x", a=0, c=None, d="") == (("a", "0"), ("b", "x"))


def test_labels_that_are_added_are_sorted_in() -> None:
    assert add_labels((("b", "1"), ("d", "2")), c=3, a="4") == (("a", "4"), ("b", "1"), ("c", "3"), ("d", "2"))


def test_the_second_run_of_a_test_is_numbered() -> None:
    one, other = (Reading("x.rate", 1.0, Unit.ONE, marks) for marks in ((("z", "1"),), (("z", "2"),)))
    assert [reading.labels for reading in number_runs([one, one, other, one])] == [
        (("z", "1"),), (("run", "2"), ("z", "1")), (("z", "2"),), (("run", "3"), ("z", "1")),
    ]  # fmt: skip
