"""The page and everything that it refers to: nothing of it is elsewhere, and nothing of it is markup of others."""

import re
from urllib.parse import urljoin, urlsplit

import pytest

from benchconsole.console.exits import BadInput
from benchconsole.console.web import page_files
from benchconsole.console.web.page_files import load_page, make_headers
from tests.console.web.serving import Served, serving

REFERENCE = re.compile(r"""(?:src|href)=["']([^"']+)|url\(["']?([^"')]+)|@import\s+["']([^"']+)""")
ELSEWHERE = re.compile(r"""(?:[a-z]+:)?//(?:[\w-]+\.)+[a-z]{2,}|["'`]//[\w-]""", re.IGNORECASE)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


async def fetch_all(served: Served) -> dict[str, str]:
    """The text of the page and of everything that it, and what it loads, refers to; fonts are no text and empty."""
    found, waiting = dict[str, str](), [served.page]
    while waiting:
        address = waiting.pop()
        assert urlsplit(address).netloc == served.host, address
        async with served.client.get(address) as answer:
            assert answer.status == 200, address
            is_font = answer.content_type == "font/ttf"
            found[address] = "" if is_font else await answer.text()
        if answer.content_type in ("text/html", "text/css"):
            references = ("".join(each) for each in REFERENCE.findall(found[address]))
            named = {urljoin(address, each) for each in references if not each.startswith("data:")}
            waiting += named - set(found) - set(waiting)
    return found


async def test_the_page_and_all_that_it_refers_to_names_no_other_host() -> None:
    async with serving() as served:
        found = await fetch_all(served)
    names = {address.rpartition("/")[2] for address in found}
    assert {"page.js", "page.css", "textual.js", "xterm.css", "RobotoMono-VariableFont_wght.ttf"} <= names
    named = {
        address: ELSEWHERE.findall(COMMENT.sub("", text) if address.endswith(".css") else text)  # licences name authors
        for address, text in found.items()
    }
    assert {address: hosts for address, hosts in named.items() if hosts} == {}


@pytest.mark.parametrize("text", ["https://fonts.example/css", "'//cdn.example/x.js'", "a = `wss://x.example/`"])
def test_the_search_finds_a_host(text: str) -> None:
    assert ELSEWHERE.search(text)


async def test_a_browser_is_forbidden_to_load_or_open_anything_else() -> None:
    async with serving() as served:
        for name in ("", "static/page.js", "static/textual.js"):
            async with served.client.get(served.page + name) as answer:
                policy = dict(
                    each.strip().partition(" ")[::2] for each in answer.headers["Content-Security-Policy"].split(";")
                )
                assert policy["default-src"] == "'none'"
                assert policy["connect-src"] == f"'self' ws://{served.host}"
                assert policy["script-src"] == "'self'"
                assert policy["frame-ancestors"] == "'none'"
                assert "allow-popups" not in policy["sandbox"]
                assert answer.headers["Referrer-Policy"] == "no-referrer"
                assert answer.headers["Cache-Control"] == "no-store"


def test_every_part_of_the_policy_stands_in_one_header() -> None:
    assert "\n" not in make_headers("127.0.0.1:1")["Content-Security-Policy"]


def test_a_name_is_text_on_the_page_and_no_markup() -> None:
    text = load_page('</title><script src="//evil.example"> $terminal \x1b').text
    assert "<title>&lt;/title&gt;&lt;script src=&quot;//evil.example&quot;&gt; $terminal ␛</title>" in text


def test_a_textual_serve_that_is_missing_is_named_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_files, "find_spec", lambda _: None)
    with pytest.raises(BadInput, match=r"not installed: pip install 'benchconsole\[web\]'"):
        load_page("title")


def test_a_textual_serve_with_other_files_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_files, "_FROM_TEXTUAL_SERVE", ("js/other.js",))
    with pytest.raises(BadInput, match=r"has no other\.js"):
        load_page("title")


@pytest.mark.parametrize("name", ["index.html", "server.py", "..%2Fserver.py", "%2Fetc%2Fpasswd", ""])
async def test_no_other_file_is_served(name: str) -> None:
    async with serving() as served, served.client.get(f"{served.page}static/{name}") as answer:
        assert answer.status == 404
