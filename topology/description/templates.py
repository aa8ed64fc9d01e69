"""Parameters, templates and ``use``: a file with repeated structure is written out in full.

Works on plain values before their shape is checked, and keeps the place in the template for everything that it writes.
"""

import itertools
import re
from collections.abc import Iterator, Mapping

from benchconsole.topology.copying import replace
from benchconsole.topology.description.arithmetic import ExpressionError, Value, fill
from benchconsole.topology.description.document import MAX_VALUES, Document, Location, ProblemReport, describe_value
from benchconsole.topology.errors import Problem, find_near, refuse
from benchconsole.topology.model.sweep import VALUE

SECTIONS = (
    "switches", "nodes", "links", "mlag", "vlans", "chassis", "racks", "pods", "sites", "storage", "use",
)  # fmt: skip
MAX_INSTANCES = 50_000
_RANGES = re.compile(r"\d{1,9}(?:-\d{1,9}(?:/\d{1,9})?)?(?:,\d{1,9}(?:-\d{1,9}(?:/\d{1,9})?)?)*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,40}")
_OWN = ("parameters", "templates", "use")


def unfold(document: Document, parameters: Mapping[str, int] | None = None) -> Document:
    """``document`` with its templates written out; ``parameters`` replace those of the file.

    Problems are collected in the result. Raises TopologyError for a parameter that the file
    does not have, and when the templates would never end.
    """
    data = document.data
    if not isinstance(data, dict) or not (parameters or any(key in data for key in _OWN)):
        return document
    return _Unfolding(document, data, parameters or {}).document


class _Unfolding:
    """Writes one document out: ``document`` is the result."""

    def __init__(self, source: Document, data: Mapping[str, object], given: Mapping[str, int]) -> None:
        self.source = source
        self.instances = 0
        self.document = replace(source, keys=dict(source.keys), values=dict(source.values), data={})
        self.report = ProblemReport(source, source.problems)
        self.document.problems = self.report.problems
        self.known = self._parameters(data.get("parameters"), given)
        self.templates = self._templates(data.get("templates"))
        self.out: dict[str, object] = {}
        for key, value in data.items():
            if key not in _OWN:
                self.out[key] = self.filled(value, (key,), (key,), self.known) if self.known else value
        self.out["parameters"] = {name: value for name, value in self.known.items() if isinstance(value, int)}
        self.use(data.get("use"), ("use",), self.known, ())
        self.document.data = self.out

    def _parameters(self, written: object, given: Mapping[str, int]) -> dict[str, Value]:
        known: dict[str, Value] = {}
        if written is not None and not isinstance(written, dict):
            self.report.add(("parameters",), describe_value(written), "a mapping of names to whole numbers")
            written = None
        for name, value in (written or {}).items():
            known[name] = 1
            if isinstance(value, bool) or not isinstance(value, int) or not _NAME.fullmatch(name):
                self.report.add(("parameters", name), f"{name}: {value!r}", "a name and a whole number")
            else:
                known[name] = value
        for name, value in given.items():
            if name not in known:
                expected = f"one of {', '.join(known)}" if known else "a file with parameters"
                where = self.source.at(("parameters",))
                raise refuse(where, f"unknown parameter {name!r}", expected, find_near(name, known))
            known[name] = value
        return known

    def _templates(self, written: object) -> dict[str, Mapping[str, object]]:
        found: dict[str, Mapping[str, object]] = {}
        if written is not None and not isinstance(written, dict):
            self.report.add(("templates",), describe_value(written), "a mapping of names to templates")
            return found
        for name, template in (written or {}).items():
            if not isinstance(template, dict):
                self.report.add(("templates", name), describe_value(template), f"a mapping with {', '.join(SECTIONS)}")
                continue
            for section in template:
                if section not in SECTIONS:
                    found_key = f"unknown key {section!r} in a template"
                    expected = f"one of {', '.join(SECTIONS)}"
                    self.report.add_key(("templates", name, section), found_key, expected, find_near(section, SECTIONS))
            found[name] = {section: body for section, body in template.items() if section in SECTIONS}
        return found

    def use(self, written: object, here: Location, known: Mapping[str, Value], chain: tuple[str, ...]) -> None:
        """Write out every item of one ``use`` list; ``chain`` are the templates that led here."""
        if written is None:
            return
        if not isinstance(written, list):
            self.report.add(here, describe_value(written), "a list of {template: NAME, ...}")
            return
        for index, item in enumerate(written):
            self._use_one(item, (*here, index), known, chain)

    def _use_one(self, item: object, here: Location, known: Mapping[str, Value], chain: tuple[str, ...]) -> None:
        if not isinstance(item, dict) or not isinstance(item.get("template"), str):
            self.report.add(
                here, describe_value(item) if not isinstance(item, dict) else "no template", "template: NAME"
            )
            return
        name = item["template"]
        if name not in self.templates:
            expected = f"one of {', '.join(self.templates)}" if self.templates else "a section templates"
            self.report.add(
                (*here, "template"), f"unknown template {name!r}", expected, find_near(name, self.templates)
            )
            return
        if name in chain:
            loop = " uses ".join((*chain[chain.index(name) :], name))
            self.report.add((*here, "template"), f"a loop: {loop}", "templates that do not use themselves")
            return
        axes = {key: self._axis(value, (*here, key), known) for key, value in item.items() if key != "template"}
        for values in itertools.product(*axes.values()):
            self._instance(name, {**self.known, **dict(zip(axes, values, strict=True))}, (*chain, name))

    def _axis(self, written: object, here: Location, known: Mapping[str, Value]) -> list[Value]:
        if isinstance(written, list):
            return [value for index, each in enumerate(written) for value in self._axis(each, (*here, index), known)]
        if isinstance(written, bool) or not isinstance(written, str | int):
            self.report.add(here, describe_value(written), "a number, a range such as 1-20, a word, or a list of words")
            return []
        try:
            value = fill(written, known) if isinstance(written, str) else written
            return list(_list_values(value))
        except ExpressionError as error:
            self.report.add(here, error.found, error.expected, error.near)
            return []

    def _instance(self, name: str, known: Mapping[str, Value], chain: tuple[str, ...]) -> None:
        self.instances += 1
        if self.instances > MAX_INSTANCES or len(self.document.values) > MAX_VALUES:
            where = self.source.key_at(("templates", name))
            raise refuse(where, "templates that write without end", f"at most {MAX_INSTANCES:,} uses")
        for section, body in self.templates[name].items():
            here: Location = ("templates", name, section)
            if section == "use":
                self.use(body, here, known, chain)
            elif isinstance(body, dict):
                self._merge(section, body, here, known)
            elif isinstance(body, list):
                self._append(section, body, here, known)
            else:
                self.report.add(here, describe_value(body), "a mapping, or a list of links")

    def _merge(self, section: str, body: Mapping[str, object], here: Location, known: Mapping[str, Value]) -> None:
        target = self.out.setdefault(section, {})
        for written, value in body.items():
            key = str(self._text(written, (*here, written), known))
            there: Location = (section, key)
            if not isinstance(target, dict):
                self.report.add(here, "a mapping", f"a list, as {section} is elsewhere in this file")
                return
            if key in target:
                line = self.document.key_at(there).line
                found = f"{section} {key!r} a second time (first in line {line})"
                self.report.add((*here, written), found, "each name once (is a variable missing in it?)")
                continue
            target[key] = self._entry(value, (*here, written), there, known)

    def _append(self, section: str, body: list[object], here: Location, known: Mapping[str, Value]) -> None:
        target = self.out.setdefault(section, [])
        if not isinstance(target, list):
            self.report.add(here, "a list", f"a mapping, as {section} is elsewhere in this file")
            return
        for index, value in enumerate(body):
            target.append(self.filled(value, (*here, index), (section, len(target)), known))

    def filled(self, value: object, here: Location, there: Location, known: Mapping[str, Value]) -> object:
        """``value`` with its expressions replaced; what stands at ``here`` is noted to stand at ``there``."""
        if there != here:
            self.document.values[there] = self.source.at(here)
        if isinstance(value, str):
            return self._text(value, here, known)
        if isinstance(value, list):
            return [self.filled(each, (*here, i), (*there, i), known) for i, each in enumerate(value)]
        if isinstance(value, dict):
            return {
                (name := str(self._text(key, (*here, key), known))): self._entry(
                    each, (*here, key), (*there, name), known
                )
                for key, each in value.items()
            }
        return value

    def _entry(self, value: object, here: Location, there: Location, known: Mapping[str, Value]) -> object:
        if there != here:
            self.document.keys[there] = self.source.key_at(here)
        return self.filled(value, here, there, known)

    def _text(self, text: str, here: Location, known: Mapping[str, Value]) -> Value:
        if here[0] == "suites" and here[3:4] == ("steps",):
            known = {**known, VALUE.strip("{}"): VALUE}  # the value of the axis, whatever a parameter is called
        try:
            return fill(text, known)
        except ExpressionError as error:
            self.report.add(here, error.found, error.expected, error.near)
            return text


def _list_values(value: Value) -> Iterator[Value]:
    if isinstance(value, int) or not _RANGES.fullmatch(value):
        yield value
        return
    for part in value.split(","):
        span, _, step = part.partition("/")
        low, _, high = span.partition("-")
        first, last, stride = int(low), int(high or low), int(step or 1)
        if last < first or stride < 1 or (last - first) // stride > MAX_INSTANCES:
            raise ExpressionError(f"the range {part}", f"a range that runs upward, of at most {MAX_INSTANCES:,} values")
        yield from range(first, last + 1, stride)


def fold_problems(problems: list[Problem]) -> list[Problem]:
    """One problem for each place and expectation: what a template repeats is said once, with a count."""
    first: dict[tuple[object, str], Problem] = {}
    more: dict[tuple[object, str], int] = {}
    for problem in problems:
        key = (problem.where, problem.expected)
        if key in first and problem.found != first[key].found:
            more[key] = more.get(key, 0) + 1
        first.setdefault(key, problem)
    return [
        replace(problem, found=f"{problem.found} (and {more[key]} more of this place)") if key in more else problem
        for key, problem in first.items()
    ]
