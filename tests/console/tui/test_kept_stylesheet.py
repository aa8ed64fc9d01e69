"""The style sheet of the console: each source is parsed once for its colours, and has the rules that Textual makes."""

from collections import Counter

import pytest
from textual.css import stylesheet as textual_stylesheet
from textual.css.stylesheet import Stylesheet, StylesheetParseError

from benchconsole.console.tui.app import kept_stylesheet
from benchconsole.console.tui.app.kept_stylesheet import KeptStylesheet
from benchconsole.console.tui.rows.themes import THEMES
from tests.console.tui.fabrics import mini
from tests.console.tui.looking import looking
from tests.console.tui.story import tell

STORY = tell(mini())
PLACE = ("widgets.py", "Widget.DEFAULT_CSS")


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Counter[object]:
    """How often each source was parsed, from a process that has parsed none."""
    count: Counter[object] = Counter()
    parse = vars(textual_stylesheet)["parse"]

    def parse_counted(scope: str, css: str, read_from: object, **more: object) -> object:
        variables = more["variable_tokens"]
        assert isinstance(variables, dict)
        colours = str([token.value for token in variables["background"]])
        count[(colours, scope, css, read_from, more["tie_breaker"])] += 1
        return parse(scope, css, read_from, **more)

    monkeypatch.setattr(textual_stylesheet, "parse", parse_counted)
    monkeypatch.setattr(kept_stylesheet, "_KNOWN", {})
    return count


async def test_no_source_is_parsed_twice_whatever_pages_are_opened(parsed: Counter[object]) -> None:
    async with looking(STORY) as look:
        for key in ("2", "3", "4", "1", "question_mark", "escape", "colon", *"pairs", "enter", "escape", "R", "escape"):
            await look.press(key)
    assert len(parsed) > 30, "its own widgets are among them"
    assert set(parsed.values()) == {1}
    assert len({source[0] for source in parsed if isinstance(source, tuple)}) == 1, "one theme alone was asked for"


async def test_a_second_console_of_the_process_parses_nothing(parsed: Counter[object]) -> None:
    async with looking(STORY):
        pass
    before = sum(parsed.values())
    assert before
    async with looking(STORY):
        pass
    assert sum(parsed.values()) == before


async def test_another_theme_is_parsed_with_its_colours_and_the_first_one_is_known_still(
    parsed: Counter[object],
) -> None:
    first, other = list(THEMES)[:2]
    async with looking(STORY) as look:
        grounds = [look.app.screen.styles.background]
        before = sum(parsed.values())
        for name in (other, first):
            assert look.app.use_theme(name) == ""
            await look.settle()
            grounds.append(look.app.screen.styles.background)
        assert grounds[0] == grounds[2] != grounds[1]
        assert sum(parsed.values()) <= 2 * before


def test_its_rules_are_those_of_textual() -> None:
    for colours in ({"ground": "#112233"}, {"ground": "#445566"}):
        kept, plain = KeptStylesheet(variables={"ground": "red"}), Stylesheet(variables={"ground": "red"})
        for sheet in (kept, plain):
            sheet.add_source("Label { background: $ground; }", PLACE, is_default_css=True)
            sheet.parse()
            sheet.set_variables(colours)
            sheet.reparse()
        assert kept.css == plain.css
        assert colours["ground"] in kept.css.lower()


def test_a_source_with_a_mistake_is_refused_by_every_sheet() -> None:
    for _ in range(2):
        sheet = KeptStylesheet(variables={})
        sheet.add_source("Label { no-such-property: 1; }", PLACE)
        with pytest.raises(StylesheetParseError):
            sheet.parse()
