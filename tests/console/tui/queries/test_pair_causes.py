"""The causes of pairs: each low pair is explained by the findings that name its test, or by none."""

from benchconsole.console.tui.queries.pair_causes import (
    WELL,
    PairCauses,
    describe_pair_causes,
    find_cause,
    find_pair_causes,
    name_causes,
)
from benchconsole.console.tui.queries.pair_matrix import list_pair_rows, make_pair_matrix
from benchconsole.console.tui.queries.result_areas import list_pairs
from benchconsole.console.view.reducer import advance_all
from benchconsole.console.view.run_view import RunView, State
from benchconsole.topology.copying import replace
from tests.console.tui.looking import faulty, healthy

PATTERN = "row: n3 as sender is slow in 7 of 7 pairs, 50 % of expected, all others 95 %"


def view() -> RunView:
    story = faulty()
    return advance_all(RunView(story.fabric), story.events())


def test_every_low_pair_is_in_a_cause_or_counted() -> None:
    seen = view()
    rows = list_pair_rows(seen)
    low = {row.test for row in rows if row.state not in WELL}
    found = find_pair_causes(seen, rows)
    assert low
    assert found.causes
    explained: set[str] = set()
    for cause in found.causes:
        finding = seen.findings[cause.place]
        own = low & {*finding.tests}
        assert cause.pairs == len(own) > 0
        assert (cause.where, cause.words, cause.state) == (finding.where, finding.what, State(finding.level.value))
        explained |= own
    assert found.unexplained == len(low - explained)
    alone = find_pair_causes(replace(seen, findings=()), rows)
    assert (alone.causes, alone.unexplained) == ((), len(low))


def test_a_pattern_is_called_by_its_name() -> None:
    seen = view()
    place = find_pair_causes(seen, list_pair_rows(seen)).causes[0].place
    named = replace(seen.findings[place], because=("3 results are low", f"pattern {PATTERN}"))
    changed = replace(seen, findings=(*seen.findings[:place], named, *seen.findings[place + 1 :]))
    assert find_pair_causes(changed, list_pair_rows(changed)).causes[0].words == PATTERN


def test_each_low_pair_names_its_first_cause_and_the_others_none() -> None:
    seen = view()
    rows = list_pair_rows(seen)
    named = name_causes(seen, rows)
    for row in rows:
        places = [place for place, each in enumerate(seen.findings) if row.test in each.tests]
        expected = f"{seen.findings[places[0]].where}: {seen.findings[places[0]].what}" if places else None
        assert named.get(row.test) == (None if row.state in WELL else expected)
    assert named
    for pair in list_pairs(seen).rows:
        assert pair.record["cause"] == pair.words("cause") == named.get(str(pair.record["test"]), "")


def test_of_two_causes_the_worse_one_is_named() -> None:
    seen = view()
    first = seen.findings[find_pair_causes(seen, list_pair_rows(seen)).causes[0].place]
    twice = replace(seen, findings=(first, replace(first, where="elsewhere")))
    named = name_causes(twice, list_pair_rows(twice))
    assert set(named.values()) == {f"{first.where}: {first.what}"}


def test_the_causes_in_a_sentence_count_every_low_pair() -> None:
    seen = view()
    rows = list_pair_rows(seen)
    found = find_pair_causes(seen, rows)
    told = [f"{each.where}, {each.pairs} pair{'s' * (each.pairs > 1)}" for each in found.causes]
    assert not found.unexplained
    assert describe_pair_causes(found) == f"causes: {'; '.join(told)}" == list_pairs(seen).note
    assert describe_pair_causes(PairCauses(found.causes[:1], 3)) == f"causes: {told[0]}; no known cause, 3 pairs"
    assert describe_pair_causes(PairCauses((), 1)) == "causes: no known cause, 1 pair"
    assert describe_pair_causes(PairCauses()) == ""


def test_the_finding_of_a_cell_is_that_of_its_low_pairs() -> None:
    seen = view()
    cells = make_pair_matrix(seen, list_pair_rows(seen)).cells
    low = {place: cell for place, cell in cells.items() if cell.tests}
    assert low
    for cell in low.values():
        found = find_cause(seen, cell.tests)
        assert found is not None
        assert cell.tests & {*seen.findings[found].tests}
    assert find_cause(seen, frozenset()) is None


def test_of_a_healthy_fabric_there_is_no_cause() -> None:
    story = healthy()
    seen = advance_all(RunView(story.fabric), story.events())
    assert find_pair_causes(seen, list_pair_rows(seen)) == ((), 0)
