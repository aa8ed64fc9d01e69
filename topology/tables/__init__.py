"""A fabric as flat arrays, and the algorithms that work on them."""
