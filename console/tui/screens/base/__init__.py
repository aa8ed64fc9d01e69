"""Base classes that screens share: frame, sheet, filtered list, table."""
