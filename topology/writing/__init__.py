"""Writing our own file: text that reads back as the same values, sets that read back as the same names."""
