"""The described cabling compared with what nodes saw of the wire."""
