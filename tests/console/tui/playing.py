"""A session control that plays a story: everything at once, or event by event when told, or slowly for looking."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from benchconsole.console.session.controller import SessionController
from benchconsole.console.session.criterion_editor import CriterionEditor, CriterionForm, CriterionProposal
from benchconsole.console.session.run_planning import RunPlanning
from benchconsole.console.view.events import Event, RoundStarted, SessionEnded, SessionOpened, TestStarted
from benchconsole.console.view.run_view import DetectableFaults, RunView
from benchconsole.console.view.session_control import AskPassword, FlowHop, Hear, PlanNotes, Proposal, RunForm
from benchconsole.probes.api import Probe
from benchconsole.probes.blank_devices import Confirmation
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measuring import Metric, Result, Round, Test
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Criterion, NodeId
from tests.console.tui.story import Story


class PlayedEditor(CriterionEditor):
    """Takes every criterion, and remembers what was to be written."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.written: list[CriterionProposal] = []

    async def begin(self, criterion: Criterion | None = None) -> CriterionForm:
        """An empty form."""
        return CriterionForm(criterion, {}, "toy.yaml", "toy.yaml is not there.")

    async def propose(self, form: CriterionForm, typed: Mapping[str, str], path: str) -> CriterionProposal:
        """The typed words as a line of a diff."""
        words = " ".join(typed.values())
        return CriterionProposal(Path(path), None, b"", ("@@ -0,0 +1,1 @@", f"+{words}"), ("new",), self.story.fabric)

    async def write(self, proposal: CriterionProposal) -> str:
        """Remember it."""
        self.written.append(proposal)
        return "written"


class PlayedPlanning(RunPlanning):
    """Three options; every label but ``wrong`` is taken."""

    def __init__(self) -> None:
        self.asked: list[tuple[Mapping[str, str] | None, str]] = []

    def make_form(
        self, suite: str | None, nodes: Collection[NodeId] | None, options: Mapping[str, str] | None, *, is_suite: bool
    ) -> RunForm:
        """A form that begins with what is marked, or with what was typed before."""
        begun = {"nodes": ",".join(nodes or ())} if options is None else options
        meanings = {"nodes": "only these", "only": "only these stages", "label": "a name for the session"}
        choices = {"nodes": ("@all", "@storage"), "only": ("iperf3 neighbours", "iperf3 trunks")}
        return RunForm(meanings, begun, "", choices, lambda typed: ["--label: no"] * (typed["label"] == "wrong"))

    def complete_test(self, text: str, here: NodeId | None = None) -> tuple[str, ...]:
        """The node of the page."""
        return (f"iperf3 {here}",)


class Player(SessionController):
    """Takes the place of the control of a session. ``pace`` 0 gives every event at once; ``stop_at`` keeps that many for ``feed``."""

    planning: PlayedPlanning
    running = False
    paused = False
    resumable = False
    limits: tuple[str, ...] = ()
    follows = ""
    suites: tuple[str, ...] = ("acceptance", "network")
    detectable = DetectableFaults(0, 0, ())
    metrics: Mapping[str, Metric] = {}
    probes: Mapping[str, Probe] = load_probes().probes

    def __init__(self, story: Story, *, pace: float = 0.0, until: int | None = None) -> None:
        self.story = story
        self.pace = pace
        self.waiting: list[Event] = list(story.events(tests=len(story.fabric.nodes) < 1000))
        self.queue: asyncio.Queue[Event] = asyncio.Queue()
        self.until = len(self.waiting) if until is None else until
        self.started: list[tuple[Round, ...]] = []
        self.stopped: list[bool] = []
        self.owed: tuple[Round, ...] = ()
        self.disks: tuple[Confirmation, ...] = ()
        self.typed: list[tuple[str, ...]] = []
        self.on: list[tuple[str, ...] | None] = []
        self.ask: AskPassword | None = None
        self.refusal = ""
        self.abandoned = False
        self.exported: list[tuple[str, Path]] = []
        self.replaced: list[Path] = []
        self.proposed: list[tuple[str | None, bool, tuple[str, ...]]] = []
        self.criteria = PlayedEditor(story)
        self.planning = PlayedPlanning()

    async def follow(self, hear: Hear) -> None:
        """The story, then whatever is fed."""
        for event in self.waiting[: self.until]:
            if self.pace:
                self.running = not isinstance(event, SessionEnded)
                await asyncio.sleep(self.pace * _weight(event))
            hear((event,))
        while True:
            hear((await self.queue.get(),))

    def feed(self, *events: Event) -> None:
        """More events."""
        for event in events:
            self.queue.put_nowait(event)

    def answered_by(self, ask: AskPassword) -> None:
        """Remember whom to ask."""
        self.ask = ask

    async def propose(
        self,
        suite: str | None,
        *,
        failed_only: bool = False,
        only: Collection[str] = (),
        typed: Collection[str] = (),
        nodes: Collection[NodeId] | None = None,
        options: Mapping[str, str] | None = None,
        test: str = "",
    ) -> Proposal:
        """The story's rounds, or fewer; what is owed is the last of them, ``disks`` are asked for until typed."""
        self.proposed.append((suite, failed_only, tuple(only)))
        self.typed.append(tuple(typed))
        self.on.append(None if nodes is None else tuple(nodes))
        self.planning.asked.append((options, test))
        if suite is None and self.resumable and not failed_only and not only:
            return Proposal(self.owed, self.notes()) if self.owed else Proposal((), ends="The nodes are searched.")
        rounds = tuple(self.story.rounds)
        if suite == "network":
            rounds = tuple(each for each in rounds if each.probe == "iperf3")
        elif failed_only or only:
            rounds = rounds[:1]
        left = tuple(each for each in self.disks if each.serial not in typed)
        held = tuple(f"fio-device is not run: {each.lost} would be lost; nobody confirmed it" for each in left)
        notes = replace(self.notes(), held_back=held)
        chosen = tuple(f"{name} {text}" for name, text in (options or {}).items() if text)
        return Proposal(rounds, notes, left, chosen=chosen, command=f"benchconsole run toy.yaml --suite {suite}")

    def notes(self) -> PlanNotes:
        """Words."""
        return PlanNotes(
            effects=(
                "fio writes 1 GiB under /tmp on every node and takes it away again",
                "iperf3 listens on port 5201",
            ),
            covers=("every node, every uplink in both directions",),
            shows=("a slow NIC would not be seen",),
            overrun=29.0,
            limits=self.limits,
        )

    async def start(self, rounds: Sequence[Round]) -> None:
        """Remember it; refuse it where ``refusal`` says why."""
        if self.refusal:
            raise PlanError(self.refusal)
        self.started.append(tuple(rounds))
        self.running = True

    def pause(self) -> None:
        """Wait."""
        self.paused = True

    def go_on(self) -> None:
        """Go on."""
        self.paused = False

    def stop(self, *, now: bool) -> None:
        """Remember how."""
        self.stopped.append(now)
        self.running = False

    def abandon(self) -> None:
        """Remember it."""
        self.abandoned = True

    async def assess(self, view: RunView) -> DetectableFaults:
        """The faults that the tests could have shown, as the story says."""
        return self.detectable

    async def export(self, kind: str, view: RunView, path: Path, *, force: bool = False) -> Path:
        """Remember what, and which file would be replaced."""
        self.exported.append((kind, path))
        self.replaced += [path] if force else []
        return path

    async def finished(self) -> None:
        """Nothing ever runs here."""

    async def close(self) -> None:
        """Nothing was opened."""

    async def path_of(self, test: Test) -> Sequence[FlowHop]:
        """Up over the first uplink and down again."""
        fabric = self.story.fabric
        if test.target.peer is None:
            return ()
        hops, here = [], test.target.node.id
        up = [next(iter(fabric.links_at[here]))]
        switch = up[0].other(here)
        uplink = next((x for x in fabric.links_at[switch] if fabric.tier(x.other(switch)) > fabric.tier(switch)), None)
        ends = [(here, switch, up[0])] + ([(switch, uplink.other(switch), uplink)] if uplink else [])
        down = next(iter(fabric.links_at[test.target.peer.id]))
        ends.append((down.other(test.target.peer.id), test.target.peer.id, down))
        own = tuple((test.id, flow, 1.0) for flow in test.flows[:1])
        for index, (source, sink, link) in enumerate(ends):
            hops.append(FlowHop(source, sink, link.id, link.count, link.capacity * fabric.goodput, limits=index == 0,
                            note="as built" if index else "leg of the node", crossing=own))  # fmt: skip
        return hops


def _weight(event: Event) -> float:
    if isinstance(event, (SessionOpened, ClosedRound)):
        return 20.0
    return {RoundStarted: 10.0, TestStarted: 0.0, Result: 1.0}.get(type(event), 1.0)
