"""What the fabric is and what it can carry. Pure: no network, no database, no clock, no screen."""
