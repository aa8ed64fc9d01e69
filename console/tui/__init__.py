"""The screen: what an operator sees and presses. Nothing outside this package imports Textual."""
