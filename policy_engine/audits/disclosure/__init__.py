"""What an intruder can still do to a released table: attacks on single records."""
