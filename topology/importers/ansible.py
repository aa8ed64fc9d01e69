"""Reads Ansible inventories, INI and YAML: hosts become nodes; there are no cables in them.

Templates are data here: a value that holds one is left out. ``group_vars`` and ``host_vars`` are not read. Source:
Ansible, "How to build your inventory"; plugins ``ini`` and ``yaml``.
"""

import re
import shlex
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from benchconsole.topology.description.document import Document, Location, read_text
from benchconsole.topology.errors import Position, refuse
from benchconsole.topology.importers.draft import Draft, DraftDevice
from benchconsole.topology.importers.roles import find_node_role, find_switch_role, is_switch, split_words
from benchconsole.topology.selection import MAX_NODES, NAME, fold

_SECTION = re.compile(r"\s*\[([^:\]\s]+)(?::([^\]\s]+))?\]\s*(?:[#;].*)?")
_YAML = re.compile(r"(?m)^(?:---|[A-Za-z_][A-Za-z0-9_-]*\s*:\s*(?:#.*)?$)")
_RANGE = re.compile(r"\[([A-Za-z]|\d{1,12}):([A-Za-z]|\d{1,12})(?::(\d{1,9}))?\]")
_PORT = re.compile(r"(.*):(\d{1,5})", re.DOTALL)
_GROUP_KEYS = ("hosts", "vars", "children")
_SWITCHES = {"sw", "switch", "switches", "leaf", "leafs", "leaves", "spine", "spines", "router", "routers", "tor"}
_EVERY = ("all", "ungrouped")
_OLD = {"ansible_ssh_host": "ansible_host", "ansible_ssh_user": "ansible_user", "ansible_ssh_port": "ansible_port"}


def fill(draft: Draft) -> None:
    """Read one inventory of either kind. Raises TopologyError."""
    draft.remark_unended("]}")
    inventory = _HostGroups(draft)
    if _is_yaml(draft.text):
        _Yaml(read_text(draft.text, draft.file, merges=True, last_counts=True), inventory).whole()
    else:
        _Ini(inventory).whole()
    inventory.finish()


@dataclass(slots=True)
class _Host:
    where: Position
    groups: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)


class _HostGroups:
    """Hosts with their variables: a host's own go before those of its groups, a child's before its parent's."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._hosts: dict[str, _Host] = {}
        self._told = 0
        self._parents: dict[str, list[str]] = {}
        self._variables: dict[str, dict[str, str]] = {}
        self._known_above: dict[tuple[str, ...], list[str]] = {}

    def group(self, name: str) -> None:
        self._parents.setdefault(name, [])

    def child(self, group: str, name: str, where: Position) -> None:
        self.group(group)
        self.group(name)
        if name == group or name in self._above([group]):
            self.draft.problem(where, f"the group {name} below itself", "groups without a loop")
        elif group not in self._parents[name]:
            self._parents[name].append(group)

    def variables(self, group: str, told: Mapping[str, str]) -> None:
        self._variables.setdefault(group, {}).update(told)

    def host(self, group: str, name: str, told: Mapping[str, str], where: Position) -> None:
        self._told += 1
        if len(self._hosts) > MAX_NODES or self._told > 10 * MAX_NODES:
            raise refuse(where, f"more than {MAX_NODES:,} hosts", "a smaller inventory")
        host = self._hosts.setdefault(name, _Host(where))
        if group not in host.groups:
            host.groups.append(group)
        host.variables.update(told)

    def finish(self) -> None:
        """Every host as a device of the draft, and how they are reached."""
        reached: dict[tuple[str | None, str | None], list[str]] = {}
        for name, host in self._hosts.items():
            told = self._merged(host)
            device = self._device(name, host, told)
            self.draft.device(device)
            if not device.switch and name in self.draft.devices:
                reached.setdefault((told.get("ansible_user"), told.get("ansible_port")), []).append(name)
        self._access(reached)
        self.draft.node_hint = "hosts of groups that are not called after switches are nodes, or add some by hand"
        self.draft.remark("an inventory does not say how nodes are cabled: describe switches and links by hand")

    def _device(self, name: str, host: _Host, told: Mapping[str, str]) -> DraftDevice:
        groups = [group for group in [*host.groups, *self._all_above(host)] if group not in _EVERY]
        switches = [group for group in groups if _SWITCHES.intersection(split_words(group))]
        network_os = told.get("ansible_network_os")
        if not switches and any(is_switch(group) is False for group in groups):
            network_os = None
        elif not switches and _SWITCHES.intersection(split_words(name)):
            return DraftDevice(name, host.where, switch=True, taken="taken for a switch by its name")
        if not switches and network_os:
            return DraftDevice(name, host.where, switch=True, taken=f"taken for a switch, it runs {network_os}")
        if switches:
            self.draft.remark(f"hosts of groups called after switches are taken for switches: those of {switches[0]}")
            taken = f"taken for a switch by its group {switches[0]}"
            named = next((found for group in switches if (found := find_switch_role(group)) is not None), None)
            why = "role inferred from its group" if named is not None else ""
            return DraftDevice(name, host.where, True, None if named is None else named.value, why, taken=taken)
        roles = {group: role for group in groups if (role := find_node_role(group)) is not None}
        group, role = next(iter(roles.items()), ("", None))
        why = f"role inferred from its group {group}" if role else ""
        return DraftDevice(name, host.where, switch=False, role=role, why=why, fields=dict(self._address(name, told)))

    def _address(self, name: str, told: Mapping[str, str]) -> Iterator[tuple[str, object]]:
        address = told.get("ansible_host", name)
        if not NAME.fullmatch(address):
            self.draft.remark(f"addresses that our file cannot hold are left out: {address!r} of {name}, and so on")
        elif address != name:
            yield "address", address

    def _access(self, reached: Mapping[tuple[str | None, str | None], list[str]]) -> None:
        if len(reached) > 1:
            each = [f"{user or '-'} {port or '-'}: {fold(names)}" for (user, port), names in reached.items()]
            self.draft.remark(f"users and ports differ, keep them in your ssh_config: {'; '.join(each[:6])}")
            return
        for user, port in reached:
            if user is not None and "{{" not in user:
                self.draft.section("ssh", "user", user, self.draft.start)
            if port is not None and port.isdecimal() and port.isascii():
                self.draft.section("ssh", "port", int(port[:6]), self.draft.start)

    def _merged(self, host: _Host) -> dict[str, str]:
        found: dict[str, str] = {}
        for told in (
            host.variables,
            *(self._variables.get(group, {}) for group in [*host.groups, *self._all_above(host), "all"]),
        ):
            for key, value in told.items():
                found.setdefault(_OLD.get(key, key), value)
        return found

    def _all_above(self, host: _Host) -> list[str]:
        """The groups above those of a host, found once for hosts of the same groups."""
        groups = tuple(host.groups)
        if groups not in self._known_above:
            self._known_above[groups] = self._above(host.groups)
        return self._known_above[groups]

    def _above(self, groups: list[str]) -> list[str]:
        """The groups above ``groups``, the nearest first; of equally near ones the last by name."""
        found: dict[str, None] = {}
        level = list(groups)
        while level:
            parents = {parent for group in level for parent in self._parents.get(group, ())}
            level = sorted((parent for parent in parents if parent not in found), reverse=True)
            found.update(dict.fromkeys(level))
        return list(found)


def _is_yaml(text: str) -> bool:
    """Whether the first line that says anything is one of YAML: INI has no ``key:`` at a line's end."""
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith(("#", ";")):
            return _YAML.match(line) is not None or line.startswith("{")
    return False


class _Ini:
    def __init__(self, inventory: _HostGroups) -> None:
        self.inventory = inventory
        self.draft = inventory.draft

    def whole(self) -> None:
        group, kind = "ungrouped", "hosts"
        offset = 0
        for line in self.draft.text.split("\n"):
            where = self.draft.lines.at(offset + len(line) - len(line.lstrip()))
            section = _SECTION.fullmatch(line)
            if section is not None:
                group, kind = section[1], section[2] or "hosts"
                self.inventory.group(group)
                if kind not in _GROUP_KEYS:
                    self.draft.problem(where, f"the section [{group}:{kind}]", "[GROUP], :children or :vars")
            elif line.strip() and not line.lstrip().startswith(("#", ";")):
                self.line(line.strip(), where, group, kind)
            offset += len(line) + 1

    def line(self, line: str, where: Position, group: str, kind: str) -> None:
        if kind == "vars":
            key, equals, value = line.partition("=")
            if not equals:
                self.draft.problem(where, repr(line[:60]), "name=value")
            self.inventory.variables(group, {key.strip(): _unquote(value.strip())})
            return
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            self.draft.problem(where, repr(line[:60]), "quotes that close")
            return
        if not words:
            return
        if kind == "children":
            self.inventory.child(group, words[0], where)
            return
        pairs = [word.partition("=") for word in words[1:]]
        if any(not equals for _, equals, _ in pairs):
            self.draft.problem(where, repr(line[:60]), "a host and name=value pairs")
        for host, port in _expand_range(words[0], where, self.draft):
            told = {key: value for key, _, value in pairs} | port
            self.inventory.host(group, host, told, where)


class _Yaml:
    def __init__(self, source: Document, inventory: _HostGroups) -> None:
        self.source = source
        self.inventory = inventory
        inventory.draft.problems.extend(source.problems)
        if source.repeated:
            line = source.repeated[0].line
            inventory.draft.remark(f"of keys that stand twice the last one counts: line {line}, and so on")

    def whole(self) -> None:
        if not isinstance(self.source.data, dict) or "plugin" in self.source.data:
            raise refuse(self.source.at(()), "no inventory of hosts", "groups with hosts, vars and children")
        for name, body in self.source.data.items():
            self.group(name, body, (name,))

    def mapping(self, data: object, here: Location) -> Mapping[str, object]:
        if data is not None and not isinstance(data, dict):
            self.inventory.draft.problem(self.source.at(here), "no mapping", "a mapping (key: value)")
        return data if isinstance(data, dict) else {}

    def group(self, name: str, data: object, here: Location) -> None:
        body = self.mapping(data, here)
        self.inventory.group(name)
        for key in body:
            if key not in _GROUP_KEYS:
                where = self.source.key_at((*here, key))
                self.inventory.draft.problem(where, f"unknown key {key!r}", f"one of {', '.join(_GROUP_KEYS)}")
        self.inventory.variables(name, _list_texts(self.mapping(body.get("vars"), (*here, "vars"))))
        for pattern, written in self.mapping(body.get("hosts"), (*here, "hosts")).items():
            at: Location = (*here, "hosts", pattern)
            told = _list_texts(self.mapping(written, at))
            for host, port in _expand_range(pattern, self.source.key_at(at), self.inventory.draft):
                self.inventory.host(name, host, told | port, self.source.key_at(at))
        for child, inner in self.mapping(body.get("children"), (*here, "children")).items():
            at = (*here, "children", child)
            self.inventory.child(name, child, self.source.key_at(at))
            self.group(child, inner, at)


def _list_texts(variables: Mapping[str, object]) -> dict[str, str]:
    return {key: str(value) for key, value in variables.items() if isinstance(value, str | int)}


def _unquote(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else text


def _expand_range(pattern: str, where: Position, draft: Draft) -> Iterator[tuple[str, dict[str, str]]]:
    """The hosts that ``node[01:16]`` stands for, each with the port that ``host:port`` gives it."""
    ranges = _RANGE.sub("", pattern)
    port = _PORT.fullmatch(pattern) if ":" in ranges else None
    names = port[1] if port is not None else pattern
    parts = [""]
    end = 0
    for match in _RANGE.finditer(names):
        members = _list_members(match[1], match[2], int(match[3] or 1), MAX_NODES // len(parts))
        if not members:
            expected = f"a range that runs forward, of at most {MAX_NODES:,} hosts"
            draft.problem(where, f"the range {match[0]}", expected)
            return
        parts = [part + names[end : match.start()] + member for part in parts for member in members]
        end = match.end()
    for part in parts:
        yield part + names[end:], {"ansible_port": port[2]} if port is not None else {}


def _list_members(first: str, last: str, step: int, most: int) -> list[str]:
    """The members of a range; none where it has none or more than ``most``, or is no range."""
    if first.isdigit() != last.isdigit() or step == 0:
        return []
    padded = first.isdigit() and first.startswith("0") and len(first) > 1
    if padded and len(first) != len(last):
        return []
    low, high = (int(first), int(last)) if first.isdigit() else map(string.ascii_letters.index, (first, last))
    numbers = range(low, high + 1, step)
    if len(numbers) > most:
        return []
    if first.isdigit():
        return [str(number).zfill(len(first) if first.startswith("0") else 0) for number in numbers]
    return [string.ascii_letters[number] for number in numbers]
