"""Lines that join, lines that cross, text over lines, and the same in ASCII."""

from benchconsole.console.text.picture.canvas import Canvas


def _drawn(canvas: Canvas) -> str:
    return "\n".join(canvas.lines())


def test_lines_of_one_net_join() -> None:
    canvas = Canvas()
    canvas.upright("a", 2, (0, 2))
    canvas.level("a", 1, (0, 4))
    canvas.upright("a", 0, (1, 2))
    canvas.upright("a", 4, (0, 1))
    assert _drawn(canvas) == "  │ │\n┌─┼─┘\n│ │"


def test_an_upright_line_of_another_net_goes_over() -> None:
    canvas = Canvas()
    canvas.level("a", 1, (0, 4))
    canvas.upright("b", 2, (0, 2))
    assert _drawn(canvas) == "  │\n──│──\n  │"


def test_a_net_may_end_at_its_own_line() -> None:
    canvas = Canvas()
    canvas.level("a", 0, (0, 2))
    canvas.upright("a", 1, (0, 1))
    canvas.upright("a", 2, (0, 0))
    assert _drawn(canvas) == "─┬─\n │"


def test_text_covers_lines_and_wide_characters_take_two_columns() -> None:
    canvas = Canvas()
    canvas.level("a", 0, (0, 7))
    canvas.write(0, 1, "名e\u0301x")
    canvas.write(1, 1, "y")
    assert _drawn(canvas) == "─名e\u0301x───\n y"


def test_ascii_has_a_sign_for_every_joint_and_none_for_other_letters() -> None:
    canvas = Canvas()
    canvas.level("a", 0, (0, 4))
    canvas.upright("a", 2, (0, 1))
    canvas.write(2, 0, "┏━┷┓┃╞═╡×é名◂")
    assert canvas.lines(ascii_only=True) == ["--+--", "  |", "#=+##+=+x??<"]


def test_nothing_is_no_line() -> None:
    assert Canvas().lines() == []
