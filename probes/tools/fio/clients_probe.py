"""The set probe ``fio-clients``: one fio drives the fio of every node of a set, and sums them up itself.

A fio server does whatever job it is sent, commands included. So it listens on a Unix socket in a directory that only
our own user may enter (``probes.scratch``), for one test, under the watchdog; the console joins the sockets of all
nodes with the first one's (``probes.serving.joined``), where fio's client runs.
"""

import asyncio
import re
import secrets
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from benchconsole.probes import scratch
from benchconsole.probes.api import (
    Contact,
    Demands,
    FailedAt,
    Failure,
    Output,
    ProbeOutputError,
    Reading,
    Remote,
    RemoteError,
    Running,
    Shape,
    Target,
    labels,
)
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.readers.readings import refuse_failed
from benchconsole.probes.serving import READY, joined
from benchconsole.probes.tools.fio import json_reader
from benchconsole.probes.tools.fio.probe import RUNS, WORDS, Fio, rename_metric
from benchconsole.topology.copying import replace

_T = TypeVar("_T")

_STARTING = 20.0
_DRIVING = 3.0
"""Seconds that one run takes longer than fio alone: connecting, and collecting what all have measured."""
_LONGEST_SOCKET = 103
"""Bytes of a path that fit sockaddr_un, 107, without the digits of a node's number; fio cuts what is longer."""

_NOWHERE = "where the sockets are"
"""In a command that nobody runs: stands for what is known only when the servers listen."""

_CLIENTS = re.compile(r"^benchconsole: clients((?: \S+)+)$", re.MULTILINE)
_GONE = re.compile(
    r"^client(?:: host=| <)/.*\.([0-9]{1,6})(?: disconnected|>: exited with error [0-9]+)$", re.MULTILINE
)
_SOCKET = re.compile(r"/.*\.([0-9]{1,6})")

_LISTENS = r"""
    listens() { awk -v s="/$1" '$4 == "00010000" {
        p = substr($0, index($0, "/"));
        if (substr(p, length(p) - length(s) + 1) == s) { print p; found = 1; exit } }
        END { exit found ? 0 : 1 }' /proc/net/unix; };
"""
"""``listens NAME`` prints the path of the Unix socket of that name that somebody listens on, as the kernel has it."""

# $1 scratch directory, $2 bytes, $3 files, $4 name of the socket. Files without a directory are made where we are.
_SERVER = scratch.script(
    _LISTENS
    + rf"""
    command -v fio >/dev/null 2>&1 || {{ say "fio: command not found"; exit 127; }};
    scratch "$1" "$2" "$3";
    socket="$made/$4";
    [ "$(printf %s "$socket" | wc -c)" -le {_LONGEST_SOCKET} ] ||
        refuse "$socket is too long for a Unix socket ({_LONGEST_SOCKET} bytes): name a scratch with a shorter path";
    cd "$made" || exit 1;
    fio --server="sock:$socket" & child=$! ;
    tries=0;
    until listens "$4" >/dev/null; do
        kill -0 "$child" 2>/dev/null || {{ wait "$child"; exit $?; }};
        tries=$((tries + 1));
        [ "$tries" -lt 300 ] || {{ say "fio never listened at $socket"; exit 98; }};
        sleep 0.05;
    done;
    echo "{READY}";
    wait "$child"; s=$? child=;
    [ "$s" -le 128 ] || {{ say "fio was ended by signal $((s - 128))"; s=1; }};
    exit "$s"
    """
)
_WHERE = scratch.one_line(f'{_LISTENS} fio --version; listens "$1"')

# The words of ``fio``, then the runs, what the sockets' paths begin with, and the nodes in the sockets' order.
_CLIENT = scratch.script(
    WORDS
    + r"""
    runs=$1 at=$2; shift 2; count=$#;
    scratch "$place" 65536;
    printf "benchconsole: clients"; printf " %s" "$@"; echo;
    one() {
        printf "[%s]\n" "$1" >"$made/job"; shift;
        for option; do printf "%s\n" "${option#--}" >>"$made/job"; done;
        set --; number=0;
        while [ "$number" -lt "$count" ]; do
            number=$((number + 1));
            set -- "$@" "--client=sock:$at.$number" "$made/job";
        done;
        run fio --output-format=json --eta=never "$@"; };
    """
    + RUNS
)


@dataclass(frozen=True, slots=True)
class _Server:
    """The fio of one node that waits for jobs: its version as it says it, and the path of its socket."""

    remote: Remote
    running: Running
    version: str
    path: str


class FioClients(Fio):
    """The options of ``fio`` for each node of a set, with ``file`` for the bytes of each job's file (``size`` is the
    number of nodes of a set), and ``runs``: some of write, read, randwrite and randread instead of all.
    """

    name = "fio-clients"
    closing = Fio.closing
    label_names = Fio.label_names - {"size"} | {"file"}
    summary = "Throughput, operations and latency of files written and read by all nodes of a set, driven by one fio"
    source = "Jetstream acceptance report, random reads and writes, with the client and the server of fio"
    metrics = tuple(replace(metric, name=rename_metric(metric.name, "fio-clients")) for metric in Fio.metrics)
    options = MappingProxyType(
        {
            "file": Fio.options["size"],
            **{name: value for name, value in Fio.options.items() if name != "size"},
            "runs": "",
        }
    )
    shape = Shape.SET
    file = "file"

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        return super().estimate(options) + len(self.runs(options)) * _DRIVING + 5.0

    def runs(self, options: Mapping[str, str | int | float]) -> Sequence[str]:
        """Those that were asked for, in fio's order; PlanError for other words."""
        given, every = self.given(options), super().runs(options)
        wanted = given.text("runs").replace(",", " ").split()
        if any(word not in every for word in wanted):
            raise given.refused("runs", f"some of {', '.join(every)}, or nothing for all")
        return [run for run in every if run in wanted or not wanted]

    def demands(self, target: Target) -> Demands:
        one, nodes = super().demands(target), len(target.nodes)
        shared = MappingProxyType({name: nodes * amount for name, amount in one.shared.items()})
        return replace(one, shared=shared, writes=nodes * one.writes)

    def command(self, target: Target) -> Sequence[str]:
        """The command of the first node when all servers are joined, but for where the sockets are."""
        names, runs = (node.id for node in target.nodes), " ".join(self.runs(target.options))
        return ["sh", "-c", _CLIENT, "benchconsole-fio-clients", *self.words(target), runs, _NOWHERE, *names]

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        """Start every node's server, join the sockets, wait for the round, and drive all of them from the first node.

        RemoteError names the node that refuses, lacks fio, or whose server ends before the test is over.
        """
        argv, allowed = list(self.command(target)), 2.0 * self.estimate(target.options) + 60.0
        begin, token = self._server(target), secrets.token_hex(4)
        starting = [
            _serving(remote, [*begin, f"{token}.{number}"], allowed + 2 * _STARTING)
            for number, remote in enumerate(contact.everyone, 1)
        ]
        async with _all(starting) as servers:
            _refuse_other_versions(servers)
            base = servers[0].path.removesuffix(".1")
            joining = [
                joined(contact.here, f"{base}.{number}", server.remote, server.path)
                for number, server in enumerate(servers[1:], 2)
            ]
            async with _all(joining):
                argv[argv.index(_NOWHERE)] = base
                await contact.together()
                said = await _unless_one_ends(contact.here, argv, servers, allowed)
        return (scratch.heed(said, contact.here.node),)

    def _server(self, target: Target) -> Sequence[str]:
        """The command of every node, but for the name of its socket."""
        given = self.given(target.options)
        # on what all share every node asks for room for all of them
        size = self.space(target.options) * (len(target.nodes) if given.text("shared") else 1)
        files = given.whole("jobs", 1, 256) + 16
        return ["sh", "-c", _SERVER, "benchconsole-fio-server", given.text("scratch"), f"{size:.0f}", str(files)]

    def parse(self, output: Output) -> Sequence[Reading]:
        """ProbeOutputError when fio failed, and where a run has not exactly the clients that were started."""
        names = _read_names(output.text)
        if gone := _GONE.search(output.text):
            why = json_reader.find_complaint(output.text)
            raise ProbeOutputError(f"the fio of {_name(gone[1], names)} ended early: {why}", "every client to its end")
        refuse_failed(output, self.name)
        found = [_named(one, names) for one in json_reader.readings(output.text, output.error_text)]
        _refuse_absent(found, names)
        return tuple(replace(one, metric=rename_metric(one.metric, self.name)) for one in found)


@asynccontextmanager
async def _all(contexts: Sequence[AbstractAsyncContextManager[_T]]) -> AsyncIterator[Sequence[_T]]:
    """Enter and leave all of them at once. The first failure is raised when those that were entered have been left."""
    asyncio.get_running_loop()  # a plan tries options without one: then nothing is begun that cannot go on
    stacks = [AsyncExitStack() for _ in contexts]
    try:
        entering = (stack.enter_async_context(context) for stack, context in zip(stacks, contexts, strict=True))
        yield _successes(await asyncio.gather(*entering, return_exceptions=True))
    finally:
        _successes(await asyncio.gather(*(stack.aclose() for stack in stacks), return_exceptions=True))


def _successes(done: Sequence[_T | BaseException]) -> list[_T]:
    found: list[_T] = []
    for one in done:
        if isinstance(one, BaseException):
            raise one
        found.append(one)
    return found


@asynccontextmanager
async def _serving(remote: Remote, argv: Sequence[str], allowed: float) -> AsyncIterator[_Server]:
    """The server ``argv`` of one node, listening, and where; RemoteError says why not."""
    async with remote.start(argv, timeout=allowed) as running:
        try:
            await running.says(READY, timeout=_STARTING)
        except RemoteError as error:
            if error.output is not None:
                scratch.heed(error.output, remote.node)
            raise
        told = await remote.run(["sh", "-c", _WHERE, "benchconsole-fio-where", argv[-1]], timeout=_STARTING)
        version, _, path = told.text.strip().partition("\n")
        if told.exit_status != 0 or not path.startswith("/"):
            detail = f"does not say where its fio listens: {shorten(told.text or told.error_text)}"
            raise RemoteError(Failure(FailedAt.OUTPUT, detail, remote.node), told)
        yield _Server(remote, running, shorten(version, 40), path)


def _refuse_other_versions(servers: Sequence[_Server]) -> None:
    """The protocol of fio changes with its version, and a client of another one does not get far enough to say so."""
    for server in servers:
        if server.version != servers[0].version:
            other = f"{servers[0].remote.node} has {servers[0].version}"
            detail = f"has {server.version}, {other}: fio needs the same on all"
            raise RemoteError(Failure(FailedAt.REFUSED, detail, server.remote.node))


async def _unless_one_ends(here: Remote, argv: Sequence[str], servers: Sequence[_Server], allowed: float) -> Output:
    """The output of ``argv`` on ``here``; RemoteError with the node of a server that ends before."""
    driving = asyncio.create_task(here.run(argv, timeout=allowed))
    endings = {asyncio.create_task(server.running.output()): server for server in servers}
    try:
        await asyncio.wait((driving, *endings), return_when=asyncio.FIRST_COMPLETED)
        if driving.done():
            return driving.result()
        ended = next(task for task in endings if task.done())
        output = ended.result()
        why = shorten(output.error_text) or f"exit status {output.exit_status}"
        detail = f"its fio server ended in mid-run: {why}"
        raise RemoteError(Failure(FailedAt.TOOL, detail, endings[ended].remote.node), output)
    finally:
        for task in (driving, *endings):
            task.cancel()
        await asyncio.gather(driving, *endings, return_exceptions=True)


def _read_names(text: str) -> Sequence[str]:
    """The nodes in the order of their sockets, as our script printed them; ProbeOutputError where it did not."""
    found = {match[1] for match in _CLIENTS.finditer(text)}
    if len(found) != 1:
        raise ProbeOutputError(f"{len(found)} lists of clients", "one line benchconsole: clients NODE...")
    return found.pop().split()


def _name(number: str, names: Sequence[str]) -> str:
    if not 1 <= int(number) <= len(names):
        raise ProbeOutputError(f"client {number}", f"one of the {len(names)} that were started")
    return names[int(number) - 1]


def _named(reading: Reading, names: Sequence[str]) -> Reading:
    """``reading`` with the node in the place of its socket."""
    marks = dict(reading.labels)
    if "size" in marks:
        marks[FioClients.file] = marks.pop("size")  # the size of a set is its number of nodes
    client = marks.get("client", "")
    if client != "all":
        socket = _SOCKET.fullmatch(client)
        if socket is None:
            raise ProbeOutputError(f"a job of {client or 'no client'}", "jobs of clients on Unix sockets")
        marks["client"] = _name(socket[1], names)
    return replace(reading, labels=labels(**marks))


def _refuse_absent(found: Sequence[Reading], names: Sequence[str]) -> None:
    """Raise ProbeOutputError where a run lacks a client: what the others did then was done without it."""
    runs = defaultdict(set)
    for reading in found:
        marks = dict(reading.labels)
        client = marks.pop("client")
        if client != "all":
            runs[marks.get("pattern"), marks.get("mix"), reading.metric].add(client)
    for (pattern, _, metric), clients in runs.items():
        if absent := [name for name in names if name not in clients]:
            raise ProbeOutputError(f"no {pattern} {metric} of {', '.join(absent[:4])}", f"{len(names)} clients")
