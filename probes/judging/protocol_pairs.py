"""TCP beside UDP of the same pair: where datagrams arrive at the rate that TCP did not reach, its links carry it."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.flow_conditions import FlowConditions
from benchconsole.probes.judging.host_limits import find_asked
from benchconsole.probes.judging.reasons import Cause, explain_flow
from benchconsole.probes.judging.round_flows import DATAGRAMS, MeasuredFlow, RoundFlows
from benchconsole.probes.judging.set_cover import LowVerdict
from benchconsole.probes.model.judgement import Finding
from benchconsole.topology.copying import replace
from benchconsole.topology.units import digits3, network_rate


@dataclass(frozen=True, slots=True, eq=False)
class _Datagrams:
    """One measured flow of UDP, and the number of its round."""

    round: int
    flow: MeasuredFlow

    def describe(self) -> str:
        loss = FlowConditions(self.flow).find("loss")
        lost = "" if loss is None else f" ({digits3(loss * 100)} % lost)"
        return f"UDP {network_rate(self.flow.value)}{lost} in round {self.round}"


class ProtocolPairs:
    """Takes in the flows of rounds; of each pair the newest one of UDP counts."""

    def __init__(self) -> None:
        self._datagrams: dict[tuple[str, str], _Datagrams] = {}

    def add(self, flows: RoundFlows, number: int) -> None:
        """Take in the datagrams of round ``number``."""
        for flow, measured in zip(flows.flows, flows.measurements, strict=True):
            known = self._datagrams.get((flow.source, flow.sink))
            if DATAGRAMS in measured[0].labels and (known is None or known.round <= number):
                (each,) = flows.find_measured([measured[0].id])
                self._datagrams[flow.source, flow.sink] = _Datagrams(number, each)

    def clear(self) -> None:
        """Forget every round."""
        self._datagrams.clear()

    def list_beside(self, seen: Sequence[LowVerdict]) -> tuple[object, ...]:
        """The known flows of UDP of the pairs of low throughputs: the same objects while nothing is new."""
        pairs = ((each.flow.source, each.flow.sink) for _, flows in seen for each in flows)
        return tuple(self._datagrams[pair] for pair in pairs if pair in self._datagrams)

    def add_conditions(self, context: JudgingContext, finding: Finding, seen: Sequence[LowVerdict]) -> Finding:
        """``finding`` on low throughputs with the reasons that their tests measured, and with UDP of the same pairs."""
        lines: dict[Cause | None, str] = {}
        is_full = True
        for verdict, flows in seen:
            asked = find_asked(verdict)
            slow = [each for each in flows if each.value < asked * each.expected.value]
            for each in slow:
                reason, beside = explain_flow(context, each, asked), self._find_full(each, asked)
                is_full = is_full and beside is not None
                words = [beside.describe()] if beside is not None else []
                words += [reason.text] if reason is not None else []
                if words:
                    protocol = FlowConditions(each).protocol.upper() or "arrived"
                    name = f"{each.flow.source}>{each.flow.sink}: {protocol} {network_rate(each.value)}"
                    lines.setdefault(None if reason is None else reason.cause, "; ".join([name, *words]))
            is_full = is_full and bool(slow)
        told = replace(finding, because=(*finding.because, *lines.values())) if lines else finding
        if not is_full:
            return told
        cause = "loss or reordering on the way" if Cause.LOSS in lines else "TCP or its hosts"
        return replace(
            told,
            what=f"{finding.what}; UDP of the same {'pairs' if len(seen) > 1 else 'pair'} was full",
            cannot_tell="where it arises: loss or reordering on the way, windows, or the processors of the hosts",
            do="compare retransmissions and windows of TCP on both ends, then look for loss and reordering hop by hop",
            means=f"{cause}, not capacity: UDP of the same pair brought what was asked over the same links",
        )

    def _find_full(self, each: MeasuredFlow, asked: float) -> _Datagrams | None:
        """UDP of the same pair, where it brought what was asked of a slow flow of TCP."""
        found = self._datagrams.get((each.flow.source, each.flow.sink))
        is_tcp = FlowConditions(each).protocol == "tcp"
        return found if is_tcp and found is not None and found.flow.value >= asked * each.expected.value else None
