"""Text for terminals and files: made safe, fitted to a width, written whole."""
