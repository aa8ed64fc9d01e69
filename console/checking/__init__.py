"""What a description alone says about a fabric, as text and as JSON: the pages of ``benchconsole check``."""
