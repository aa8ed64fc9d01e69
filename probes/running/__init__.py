"""Running a round: start barrier, tests side by side, and guards that stop them."""
