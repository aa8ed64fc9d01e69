"""A fabric as a picture of characters."""
