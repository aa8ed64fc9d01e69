"""The simulated clusters of ``benchconsole demo``: real SSH, answers in the shapes of the real tools."""
