"""Reads a page as a browser would see its structure: tags, attributes, text and tables."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset(("meta", "br", "rect", "path"))


@dataclass
class Page(HTMLParser):
    """Everything of a page that matters to a test."""

    tags: list[str] = field(default_factory=list)
    attributes: list[tuple[str, str, str]] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)
    unbalanced: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    @property
    def text(self) -> str:
        """The text of the page without its style sheet, blanks joined."""
        return " ".join(" ".join(data for tag, data in self.texts if tag != "style").split())


def parsed(page: str) -> Page:
    """A page read to its end."""
    found = Page()
    found.feed(page)
    found.close()
    return found
