"""What was seen, kept. The only package that knows SQLite."""
