"""The map of a fabric: its shape, and the drawings of it for each size of terminal."""
