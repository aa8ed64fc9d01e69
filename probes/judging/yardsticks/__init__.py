"""One file for each kind of yardstick: a closed round in, verdicts out. Registered in ``judge``."""
