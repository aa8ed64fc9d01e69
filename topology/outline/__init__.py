"""A fabric folded into boxes with multiplicities, for pictures and diagrams."""
