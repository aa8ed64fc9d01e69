"""Hosts in groups that inherit variables, as inventories have them, on their way to nodes.

A host's own variables go before those of its groups, a child's before its parent's (Ansible, "How variables are
merged"). Raises TopologyError for groups that are below themselves.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from benchconsole.topology.errors import Position
from benchconsole.topology.importers.draft import Draft, DraftDevice
from benchconsole.topology.importers.roles import find_node_role, split_words
from benchconsole.topology.importers.source_text import refuse
from benchconsole.topology.selection import MAX_NODES, NAME, fold

_SWITCHES = {"switch", "switches", "leaf", "leafs", "leaves", "spine", "spines", "router", "routers", "tor"}
_EVERY = ("all", "ungrouped")
_OLD = {"ansible_ssh_host": "ansible_host", "ansible_ssh_user": "ansible_user", "ansible_ssh_port": "ansible_port"}


@dataclass(slots=True)
class _Host:
    where: Position
    groups: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)


class HostGroups:
    """Fills up while a source is read; ``finish`` puts the hosts into the draft."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._hosts: dict[str, _Host] = {}
        self._told = 0
        self._parents: dict[str, list[str]] = {}
        self._variables: dict[str, dict[str, str]] = {}
        self._known_above: dict[tuple[str, ...], list[str]] = {}

    def group(self, name: str) -> None:
        """Note that there is a group."""
        self._parents.setdefault(name, [])

    def child(self, group: str, name: str, where: Position) -> None:
        """Note that the group ``name`` is below ``group``."""
        self.group(group)
        self.group(name)
        if name == group or name in self._above([group]):
            self.draft.problem(where, f"the group {name} below itself", "groups without a loop")
        elif group not in self._parents[name]:
            self._parents[name].append(group)

    def variables(self, group: str, told: Mapping[str, str]) -> None:
        """Note variables of a group."""
        self._variables.setdefault(group, {}).update(told)

    def host(self, group: str, name: str, told: Mapping[str, str], where: Position) -> None:
        """Note that a host is in a group, and variables of its own."""
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
        self.draft.remark("an inventory does not say how nodes are cabled: describe switches and links by hand")

    def _device(self, name: str, host: _Host, told: Mapping[str, str]) -> DraftDevice:
        groups = [group for group in [*host.groups, *self._all_above(host)] if group not in _EVERY]
        switches = [group for group in groups if _SWITCHES.intersection(split_words(group))]
        if switches:
            self.draft.remark(f"hosts of groups called after switches are taken for switches: those of {switches[0]}")
            return DraftDevice(name, host.where, switch=True)
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
        """User and port where all nodes share them; a remark on who is told what where they differ."""
        if len(reached) > 1:
            each = [f"{user or '-'} {port or '-'}: {fold(names)}" for (user, port), names in reached.items()]
            self.draft.remark(f"users and ports differ, keep them in your ssh_config: {'; '.join(each[:6])}")
            return
        for user, port in reached:
            if user is not None and "{{" not in user:
                self.draft.section("ssh", "user", user, Position(self.draft.file, 1, 1))
            if port is not None and port.isdecimal() and port.isascii():
                self.draft.section("ssh", "port", int(port[:6]), Position(self.draft.file, 1, 1))

    def _merged(self, host: _Host) -> dict[str, str]:
        """The variables that hold for a host, under their present names."""
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
