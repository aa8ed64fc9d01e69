"""The paths that flows take."""
