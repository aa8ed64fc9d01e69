"""Questions that the screens ask of a view. Pure functions."""
