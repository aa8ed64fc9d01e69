"""Values that hypothesis draws: rounds, results and verdicts with everything that their types allow."""

from types import MappingProxyType

from hypothesis import strategies as st

from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Level, Verdict, Yardstick
from benchconsole.probes.model.measuring import (
    Bundle,
    Fact,
    FailedAt,
    Failure,
    Output,
    Reading,
    Result,
    Round,
    Swept,
    Target,
    Test,
)
from benchconsole.probes.model.sending import Directions, Sending
from benchconsole.store.model import NewSession
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Direction, LinkId
from benchconsole.topology.model.sweep import Ending
from benchconsole.topology.units import Shown, Unit
from tests.store.played import NODES

numbers = st.floats(allow_nan=False, allow_infinity=False)
words = st.text(max_size=12)  # surrogates are not drawn; they have a test of their own
pairs = st.lists(st.tuples(words, words), max_size=3).map(tuple)
integers = st.integers(-(2**63), 2**63 - 1)
options = st.dictionaries(words, words | numbers | integers, max_size=3).map(MappingProxyType)
nodes = st.sampled_from(NODES)
units = st.sampled_from(Unit)

members = st.just(()) | st.lists(nodes, min_size=2, max_size=4).map(tuple)
targets = st.builds(Target, node=nodes, peer=st.none() | nodes, options=options, members=members, labels=pairs)
sendings = st.builds(
    Sending,
    streams=integers,
    rate=st.none() | numbers,
    directions=st.sampled_from(Directions),
    source_port=st.none() | integers,
    bulk=st.booleans(),
)
endings = st.builds(Ending, gain=st.none() | numbers, after=integers, metric=words, on_failure=st.booleans())
points = st.builds(
    Swept,
    sweep=integers,
    point=pairs,
    repetition=integers,
    repeat=integers,
    order=words,
    ending=st.none() | endings,
)
outputs = st.builds(
    Output,
    argv=st.lists(words | words.map(lambda word: word * 300), max_size=3).map(tuple),  # long ones lie apart
    stdout=st.binary(max_size=40),
    stderr=st.binary(max_size=10),
    exit_status=st.none() | integers,
    signal=st.none() | words,
    seconds=numbers,
    truncated=st.booleans(),
    node=words,
)
readings = st.builds(Reading, metric=words, value=numbers, unit=units, labels=pairs, raw=words)
facts = st.builds(Fact, fact=words, value=words | numbers, unit=st.none() | units, labels=pairs)
failures = st.builds(Failure, stage=st.sampled_from(FailedAt), detail=words, node=words)
bundles = st.builds(
    Bundle,
    name=words,
    elements=st.lists(st.builds(Direction, link=words.map(LinkId), source=words), max_size=2).map(tuple),
)
sessions = st.builds(
    NewSession,
    topology=st.text(max_size=60),
    topology_path=words,
    fabric=words,
    suite=words,
    started=numbers,
    label=words,
    selection=words,
    options=options,
    simulated=st.booleans(),
    program=words,
)


@st.composite
def rounds(draw: st.DrawFn) -> Round:
    """A round of up to three tests."""
    # a name of a probe has no "+": it joins those of a mixed round
    number, probe = draw(integers), draw(words.filter(lambda name: "+" not in name) | st.just("fio+iperf3"))
    ids = draw(st.lists(words, max_size=3, unique=True))
    tests = tuple(
        Test(each, draw(st.sampled_from(probe.split("+"))), draw(targets), number, draw(words), draw(sendings))
        for each in ids
    )
    held = draw(st.lists(bundles, max_size=2).map(tuple))
    return Round(number, draw(words), probe, tests, draw(numbers), draw(words), held, draw(st.none() | points))


@st.composite
def closed_rounds(draw: st.DrawFn) -> ClosedRound:
    """A round with results for some of its tests, in any order."""
    each = draw(rounds())
    results = []
    for test in draw(st.permutations(each.tests)):
        if draw(st.booleans()):
            continue
        found = tuple(
            replace(reading, id=f"{test.id}#{i}", at=draw(numbers))
            for i, reading in enumerate(draw(st.lists(readings, max_size=2)))
        )
        results.append(
            Result(
                test,
                draw(st.lists(outputs, max_size=2).map(tuple)),
                found,
                draw(st.lists(facts, max_size=2).map(tuple)),
                draw(st.none() | failures),
                draw(numbers),
                draw(numbers),
                draw(numbers),
            )
        )
    reason = draw(st.sampled_from(CloseReason))
    return ClosedRound(each, tuple(results), reason, draw(numbers), draw(numbers), draw(words))


def verdicts(round_number: int) -> st.SearchStrategy[Verdict]:
    """Verdicts on one round."""
    return st.builds(
        Verdict,
        test=words,
        round=st.just(round_number),
        probe=words,
        subject=words,
        nodes=st.lists(words, max_size=3).map(tuple),
        metric=words,
        labels=pairs,
        level=st.sampled_from(Level),
        kind=st.sampled_from(Yardstick),
        because=words,
        unit=st.none() | units,
        shown=st.sampled_from(Shown),
        value=st.none() | numbers,
        expected=st.none() | numbers,
        required=st.none() | numbers,
        least=st.none() | numbers,
        text=words,
        expected_text=words,
        source=words,
        limiting=words,
        evidence=st.lists(words, max_size=3).map(tuple),
    )
