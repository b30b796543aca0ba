"""What the service has and does, a file for each kind of thing; routes are how it is called."""
