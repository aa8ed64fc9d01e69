"""Text for a terminal or file that takes ASCII only."""

ASCII_OF = str.maketrans(
    {
        "━": "=", "╾": "=", "╼": "=", "─": "-", "┄": ".", "×": "x", "┼": "+", "┿": "+", "◆": "*", "│": "|",
        "▮": "#", "▯": "_", "◧": "%", "▌": ">", "›": ">", "→": ">", "◂": "<", "▾": "v", "·": ".", "…": ".",
        "✗": "X", "∅": "U", "▲": "!", "▵": "~", "▸": ">", "○": "o", "−": "-", "–": "-", "≥": ">", "≤": "<",
        "±": "~", "¹": "1", "²": "2", "³": "3", "µ": "u", "┌": ",", "├": "|", "└": "`", "▁": ".", "▂": ":",
        "▃": "-", "▄": "=", "▅": "+", "▆": "*", "▇": "#", "█": "@",
    }
)  # fmt: skip
"""Every sign that the screens draw, as one ASCII character of the same width."""


def to_ascii(text: str) -> str:
    """``text`` for a terminal or file that takes ASCII only: our signs by their likes, anything else as ``?``."""
    return "".join(letter if letter.isascii() else "?" for letter in text.translate(ASCII_OF))
