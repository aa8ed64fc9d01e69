"""Where people meet it: commands, screens and reports over one session."""
