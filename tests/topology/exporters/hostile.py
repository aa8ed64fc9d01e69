"""A fabric whose every free text tries to leave its quotes in some language, and one that is too large to draw whole."""

from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric

TEXTS = (
    'a"b',
    "x;y",
    "end",
    "</b><script>alert(1)</script>",
    "`**md**`",
    "${HOME} $x",
    "back\\slash \\n \\",
    '"]; b0 --> b1',
    '" {shape: circle}',
    "%%{init: {}}%% ]| |md x|",
    "#quot; &lt; &amp;",
    "1. list",
    "- list",
    "new\nline\r\x1b[31m\x07\u202e",
    "名前 é",
)
NAMES = (
    "end",
    "graph",
    "subgraph",
    "null",
    "node",
    "class",
    "style",
    "direction",
    "label",
    "default",
    "true",
    "x.y",
    "a--b",
)


def hostile() -> Fabric:
    """Models, classes, vendors, groups and the fabric itself carry ``TEXTS``; devices are named like keywords."""
    quoted = [_quoted(text) for text in TEXTS]
    lines = ["schema: 1", f"fabric: {_quoted('; '.join(TEXTS))}", "classes:"]
    lines += [f"  {text}: {{}}" for text in quoted]
    lines += ["switches:", *(f"  sw{i}: {{role: leaf, model: {text}}}" for i, text in enumerate(quoted))]
    lines += ["nodes:", *(f"  {_quoted(name)}: {{class: {quoted[i]}}}" for i, name in enumerate(NAMES))]
    lines += ["links:", *(f"  - {{from: {_quoted(name)}, to: sw{i}, speed: 10 Gb/s}}" for i, name in enumerate(NAMES))]
    lines += ["storage:", *(f"  {text}: {{servers: end, vendor: {text}}}" for text in quoted if "\\n" not in text)]
    lines += ["racks:", "  end: {members: 'end,sw0'}", "  class: {members: 'graph,sw1'}"]
    return load_text("\n".join(lines) + "\n", "hostile.yaml")


def large() -> Fabric:
    """Three sites' worth of nodes on one fabric: 240 links."""
    return load_text(
        """\
schema: 1
fabric: large
switches: {spine: {role: spine}, "leaf[1-2]": {role: leaf}}
nodes: {"a[001-120]": {}, "b[001-118]": {}}
links:
  - {from: "a[001-120]", to: leaf1, speed: 10 Gb/s}
  - {from: "b[001-118]", to: leaf2, speed: 10 Gb/s}
  - {from: "leaf[1-2]", to: spine, speed: 40 Gb/s, count: 4}
sites: {west: {members: "a[001-120],leaf1"}, east: {members: "b[001-118],leaf2"}}
""",
        "large.yaml",
    )


def _quoted(text: str) -> str:
    """A double-quoted scalar of YAML."""
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\u{ord(c):04x}" for c in text) + '"'
