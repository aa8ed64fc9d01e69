"""The faults that tests of a run could have shown, in sentences: so that a PASS says how small a fault it excludes."""

from collections.abc import Iterator, Sequence

from benchconsole.console.view.run_view import DetectableFaults
from benchconsole.probes.model.detectable_loss import DetectableLoss, Fault
from benchconsole.probes.planning.suites import LAG_SUITE, is_steered
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.units import percent

_ANY = {
    Fault.NIC: "any NIC below {} one way",
    Fault.LEG_LOST: "a lost leg of any bond",
    Fault.MEMBER_LOST: "a lost member of any LAG",
    Fault.MEMBER_HALF: "a member of any LAG at half speed",
    Fault.LINK: "any link between switches below {} one way",
    Fault.SWITCH_HALF: "any switch at half speed",
    Fault.PAIR: "the links of any MLAG pair below {} one way",
}
"""A fault that is seen wherever it is; ``{}`` is the share of its capacity that the element must lose it below."""

_ONE = {
    Fault.NIC: "a slow NIC",
    Fault.LEG_LOST: "a lost leg of {}",
    Fault.MEMBER_LOST: "a lost member of {}",
    Fault.MEMBER_HALF: "a member of {} at half speed",
    Fault.LINK: "a slow link between switches",
    Fault.SWITCH_HALF: "a switch at half speed",
    Fault.PAIR: "slow links of an MLAG pair",
}
"""A fault that is not seen, or not everywhere; ``{}`` is how many members or legs there are."""

_MEMBERS = (Fault.MEMBER_LOST, Fault.MEMBER_HALF)


def describe_detectable(fabric: Fabric, losses: Sequence[DetectableLoss], suite: str) -> DetectableFaults:
    """The faults that the tests of the session could have shown, for the screen."""
    sentences = tuple(list_detectable_sentences(fabric, losses, suite))
    return DetectableFaults(len(losses), sum(each.is_seen for each in losses), sentences)


def list_detectable_sentences(
    fabric: Fabric, losses: Sequence[DetectableLoss], suite: str, *, is_planned: bool = False
) -> Iterator[str]:
    """The faults that are seen anywhere, in one sentence, then one for each kind that is not, the shortest first.

    ``suite`` is the one that ran, or is planned. Nothing where nothing was held against the capacity of links.
    """
    seen = [_ANY[each.fault].format(_format_left(each)) for each in losses if each.is_seen]
    would = "would be seen" if is_planned else "would have been seen"
    if seen:
        yield f"{_join(seen)} {would}"
    unseen = [each for each in losses if not each.is_seen]
    yield from sorted((_describe_unseen(fabric, each, suite, would) for each in unseen), key=len)


def _describe_unseen(fabric: Fabric, each: DetectableLoss, suite: str, would: str) -> str:
    fault, never = _ONE[each.fault].format(each.widest), would.replace("would", "would not", 1)
    if not each.seen:
        return f"{fault} {never}{_advise(fabric, each, suite)}"
    where = f"{fault} {never} at {each.elements - each.seen:,} of {each.elements:,}"
    left = _format_left(each) if "{}" in _ANY[each.fault] else ""
    if left:
        where += f", at the others below {left} one way"
    return where


def _format_left(each: DetectableLoss) -> str:
    """The share of its capacity from which an element passes."""
    return percent(1 - each.loss) if each.loss is not None else ""


def _advise(fabric: Fabric, each: DetectableLoss, suite: str) -> str:
    """The suite that may see more, where tests can be put on single members of LAGs."""
    if each.fault not in _MEMBERS or suite == LAG_SUITE:
        return ""
    if is_steered(fabric):
        return f": run `--suite {LAG_SUITE}`, with `--dry-run` it says what it sees"
    return f": only where the file says `hash: steered` can `--suite {LAG_SUITE}` test a member by itself"


def _join(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]
