"""The simulated cluster: a machine that exists nowhere and answers real SSH on loopback."""
