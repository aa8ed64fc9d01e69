"""The spool: what is finished while the database refuses, and its way back."""
