"""Files that a page consists of: ours, and the terminal and its font from textual-serve. No other file is served.

The page of textual-serve itself is not used: it loads a font from another host.
"""

import html
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from string import Template

from benchconsole.console.exits import BadInput
from benchconsole.console.text.sanitize import sanitize

_OURS = Path(__file__).parent / "page"
_FROM_TEXTUAL_SERVE = (
    "js/textual.js",
    "css/xterm.css",
    "fonts/RobotoMono-VariableFont_wght.ttf",
    "fonts/RobotoMono-Italic-VariableFont_wght.ttf",
)
_TYPES = {".js": "text/javascript", ".css": "text/css", ".ttf": "font/ttf"}
INSTALL = "pip install 'benchconsole[web]'"


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file of the page, and its media type."""

    path: Path
    media_type: str


@dataclass(frozen=True, slots=True)
class Page:
    """The page as HTML, and the files of it by the name that it asks for."""

    text: str
    files: Mapping[str, PageFile]


def load_page(title: str) -> Page:
    """The page with its title, which is text, never markup; BadInput where what ``[web]`` brings is not installed."""
    package = find_spec("textual_serve")
    if package is None or not package.submodule_search_locations or find_spec("aiohttp") is None:
        raise BadInput(f"benchconsole: web needs textual-serve, which is not installed: {INSTALL}")
    static = Path(package.submodule_search_locations[0]) / "static"
    paths = [_OURS / "page.js", _OURS / "page.css", *(static / name for name in _FROM_TEXTUAL_SERVE)]
    missing = [path.name for path in paths if not path.is_file()]
    if missing:
        raise BadInput(f"benchconsole: this textual-serve has no {', '.join(missing)}: {INSTALL}")
    text = Template((_OURS / "index.html").read_text()).substitute(title=html.escape(sanitize(title)))
    return Page(text, {path.name: PageFile(path, _TYPES[path.suffix]) for path in paths})


def make_headers(host: str) -> Mapping[str, str]:
    """Headers that let a page load, call and open nothing but what ``host``, this server, has, and keep its address.

    ``sandbox`` without ``allow-popups`` lets no text on the screen that looks like an address open a page.
    """
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src data:",
        f"connect-src 'self' ws://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "sandbox allow-scripts allow-same-origin",
    )
    return {
        "Content-Security-Policy": "; ".join(policy),
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    }
