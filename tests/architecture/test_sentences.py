"""No sentence of a docstring, a comment or a Markdown document begins with "What": it names the thing that it tells of.

Not held against it: code, texts that the console prints (also those in ``golden``), and words of others in quotes.
"""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACES = ("console", "probes", "store", "topology", "tests", "benchmarks", "docs")
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")

_WORD = re.compile(r"\bWhat\b")
_MARKS = r"(?:(?:[-*+#>]+|\d+[.)]?|\[.\])[ \t]+)*"  # of headings, lists and quotations
_BEGIN = re.compile(rf"(?:^[ \t]*{_MARKS}|\|\s*|[.!?:][\"')\]*_]*\s+)[(\[*_]*What\b", re.MULTILINE)
_FENCED = re.compile(r"^[ \t>]*(?P<fence>`{3,}|~{3,}).*?^[ \t>]*(?P=fence)[`~]*[ \t]*$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<!`)(?P<tick>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=tick)(?!`)", re.DOTALL)
_BLANK = (tokenize.NL, tokenize.COMMENT)
_LINE_ENDS = (tokenize.ENCODING, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def find_sentences(text: str) -> list[int]:
    """The lines, from 0, in which a sentence begins so."""
    text = _FENCED.sub(lambda code: "\n" * code[0].count("\n"), text)
    text = _INLINE.sub(lambda code: re.sub(r"[^\n]", "x", code[0]), text)
    return [text.count("\n", 0, found.end()) for found in _BEGIN.finditer(text)]


def list_texts(source: str) -> Iterator[tuple[int, str]]:
    """Every docstring and every line of a comment in a module, with the line, from 1, where it begins."""
    before = tokenize.ENCODING
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("#!:")
        elif token.type == tokenize.STRING and before in _LINE_ENDS:
            quotes = re.match(r"\w*(\"{3}|'{3}|\"|')", token.string)
            assert quotes
            yield token.start[0], token.string[quotes.end() : -len(quotes[1])]
        if token.type not in _BLANK:
            before = token.type


def find_lines(text: str, suffix: str) -> list[int]:
    """The lines of a file, from 1, in which a sentence begins so."""
    if not _WORD.search(text):
        return []
    texts = list_texts(text) if suffix == ".py" else [(1, text)]
    return sorted(first + line for first, each in texts for line in find_sentences(each))


def list_files() -> Iterator[Path]:
    for place in PLACES:
        yield from (path for path in sorted((ROOT / place).rglob("*.*")) if "golden" not in path.parts)
    yield from (ROOT / page for page in PAGES)


def test_no_sentence_begins_with_what() -> None:
    files = [path for path in list_files() if path.suffix in (".py", ".md")]
    assert len(files) > len(PLACES) + len(PAGES)
    found = [f"{path.relative_to(ROOT)}:{line}" for path in files for line in find_lines(path.read_text(), path.suffix)]
    assert found == [], "\n".join(found)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("What it is.", [1]),
        ("It is so.\nWhat it is.", [2]),
        ("It is so. What\nit is.", [1]),
        ("It is so (here.) What it is.", [1]),
        ("One reason: What it is.", [1]),
        ("# What it costs\n\n## [What it is](#what)\n# 017 What it is", [1, 3, 4]),
        ("- so\n- What it is\n  1. What it is\n- [ ] **What** it is", [2, 3, 4]),
        ("> What it is", [1]),
        ("| a | What it is |\n|---|---|\n|What|`a`|", [1, 3]),
        ("```text\nWhat it prints.\n```\nWhat it is.", [4]),
        ("It is `a`. What it is.", [1]),
        ("This is what it is. Whatever it is. whats: Whatnot", []),
        ("The page What and the words \"What is it\" stand in a sentence, 'What' too.", []),
        ("~~~\nWhat it prints.\n~~~\n\n- ```\n  What\n  ```\n", []),
        ("`What` is a word, ``so. What `a` is``, and `a.\nWhat` is none.", []),
    ],
)
def test_it_is_found_in_markdown(text: str, lines: list[int]) -> None:
    assert find_lines(text, ".md") == lines


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ('"""What it is."""', [1]),
        ('def f():\n    """So.\n\n    It is. What\n    it is.\n    """\n', [4]),
        ('class A:\n    # A comment.\n    r"""It is so.\n    What it is."""\n', [4]),
        ('A = 1\n"""What it is."""\n', [2]),
        ("A = 1  # What it is\n# What it is\n\n# It is so.\n# What it is.\n", [1, 2, 5]),
        ("A = 1  # so\nB = 2  # What it is\nC = [\n    1,  # so\n    # What it is\n]\n", [2, 5]),
        ("# It is so\n#\n# -- What it is", [3]),
        ('A = """\nWhat it is."""\nf("What", [\n    "What it is.",\n])\n', []),
        ('def f():\n    """``What`` is a word; what it is."""\n    return "What it is."\n', []),
        ("# It is what `What` is; whatever.\n", []),
    ],
)
def test_it_is_found_in_modules(source: str, lines: list[int]) -> None:
    assert find_lines(source, ".py") == lines
